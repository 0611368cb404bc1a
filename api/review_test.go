package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

// keyedSubmission is a task of a queue under a resource key.
func keyedSubmission(key, queue, resource string) string {
	s := strings.Replace(fmt.Sprintf(submission, key, `{"n": 1.10}`), `"queue":"work"`, fmt.Sprintf(`"queue":%q`, queue), 1)
	return strings.Replace(s, `"input"`, fmt.Sprintf(`"resource_key":%q,"input"`, resource), 1)
}

func (n *node) submit(body string) (path string) {
	n.Helper()
	var receipt httpapi.TaskReceipt
	n.post("/v1/tasks", body).is(201).into(&receipt)
	return "/v1/tasks/" + receipt.TaskId
}

// run claims from a queue and reports each task; it returns how many there were.
func (n *node) run(queue, outcome string) int {
	n.Helper()
	var claimed httpapi.ClaimResult
	n.post("/v1/claims", strings.Replace(claim, `"work"`, fmt.Sprintf("%q", queue), 1)).is(200).into(&claimed)
	for _, t := range claimed.Tasks {
		got := n.post("/v1/completions", fmt.Sprintf(`{"worker":"w","items":[{"task_id":%q,"attempt_no":%d,"token":%q,%s}]}`, t.TaskId, t.AttemptNo, t.Token, outcome)).is(200)
		if !bytes.Contains(got.body, []byte(`"ACCEPTED"`)) {
			n.Fatalf("the report was answered %s", got.body)
		}
	}
	return len(claimed.Tasks)
}

const review = `{"decision":"SUCCEEDED","expected_version":3,"reason":"seen","evidence":{ "at": 1.10 },"all_executions_ended":true,"output":{ "ok" : 1.0 }}`

// A task nobody knows about, from the list of those that need a review to its reviewed result (T16).
func TestAReviewThroughTheSurface(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	task := n.submit(keyedSubmission("k", "work", "r"))
	n.run("work", `"outcome":"UNKNOWN"`)
	if got := n.get("/v1/tasks?queue=work&state=NEEDS_REVIEW").is(200); !bytes.Contains(got.body, []byte(task[len("/v1/tasks/"):])) {
		t.Errorf("listed: %s", got.body)
	}
	decide := func(key, body string) answer {
		return n.do(call{method: "POST", path: task + "/review", body: body, header: map[string]string{"Idempotency-Key": key}})
	}
	if p := n.get(task + "/review").is(404).problem(); p.Code != "review_not_found" {
		t.Error(p.Code)
	}
	for spoiled, pointer := range map[string]string{
		strings.Replace(review, "true", "false", 1):                                        "/all_executions_ended",
		strings.Replace(review, `,"all_executions_ended":true`, "", 1):                     "/all_executions_ended",
		strings.Replace(review, `"reason":"seen",`, "", 1):                                 "/reason",
		strings.Replace(review, `"evidence":{ "at": 1.10 },`, "", 1):                       "/evidence",
		strings.Replace(review, `{ "at": 1.10 }`, `"`+strings.Repeat("x", 64<<10)+`"`, 1):  "/evidence",
		strings.Replace(review, `"SUCCEEDED"`, `"CANCELLED"`, 1):                           "/decision",
		strings.Replace(review, `"SUCCEEDED"`, `"FAILED"`, 1):                              "/output",
		strings.Replace(review, `"output":{ "ok" : 1.0 }`, `"failure":{"code":"lost"}`, 1): "/failure",
	} {
		got := decide("spoiled", spoiled)
		if p := got.problem(); got.status/100 != 4 || p.Errors == nil || (*p.Errors)[0].Pointer != pointer {
			t.Errorf("%s: %s", pointer, got.body)
		}
	}
	first, again := decide("once", review).is(200), decide("once", review).is(200)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a replay differs: %s %s", first.body, again.body)
	}
	if p := decide("other", review).is(409).problem(); p.Code != "review_decided" || !strings.HasPrefix(*p.Subject, "cred_") {
		t.Errorf("a second reviewer is told %+v", p)
	}
	if got := n.get(task + "/result").is(200); !bytes.Contains(got.body, []byte(`"output":{ "ok" : 1.0 }`)) || !bytes.Contains(got.body, []byte(`"decided_by":"cred_`)) {
		t.Errorf("result: %s", got.body)
	}
	if got := n.get(task + "/review").is(200); !bytes.Contains(got.body, []byte(`"evidence":{ "at": 1.10 }`)) {
		t.Errorf("review: %s", got.body)
	}
	if got := n.get(task + "/events").is(200); !bytes.Contains(got.body, []byte(`"REVIEWED"`)) {
		t.Errorf("events: %s", got.body)
	}
	if got := n.get(task + "/attempts").is(200); !bytes.Contains(got.body, []byte(`"UNKNOWN"`)) {
		t.Errorf("attempts: %s", got.body)
	}
	n.subscribe("results", `{"queues":["work"],"start":"FIRST","window":4}`)
	if got := n.pull("results", "c", 0, 4, 0); len(got.Items) != 2 || got.Items[0].State != "NEEDS_REVIEW" || got.Items[1].State != "SUCCEEDED" ||
		string(got.Items[1].Output) != `{ "ok" : 1.0 }` || got.Items[1].AttemptNo != nil {
		t.Errorf("a subscriber is handed %+v", got.Items)
	}
	without := n.key("tasks:read", "tasks:submit", "tasks:cancel", "tasks:retry", "tasks:audit:read")
	if p := n.do(call{method: "POST", path: task + "/review", key: without.Key.Text(), body: review, header: map[string]string{"Idempotency-Key": "once"}}).is(403).problem(); p.Code != "scope_missing" {
		t.Error(p.Code)
	}
}

// A cancelled task is repeated; both know of each other, and the source says so.
func TestARetryThroughTheSurface(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	task := n.submit(keyedSubmission("k", "work", "r"))
	n.do(call{method: "POST", path: task + "/cancel", body: `{"reason":"r"}`, header: map[string]string{"Idempotency-Key": "c"}}).is(200)
	body := `{"submit_key":"again","expected_version":2,"reason":"the server is back"}`
	first, again := n.post(task+"/retry", body).is(201), n.post(task+"/retry", body).is(201)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a replay differs: %s %s", first.body, again.body)
	}
	var receipt httpapi.RetryReceipt
	first.into(&receipt)
	var original, successor httpapi.Task
	n.get(task).is(200).into(&original)
	n.get("/v1/tasks/" + receipt.TaskId).is(200).into(&successor)
	if *original.RetriedBy != receipt.TaskId || *successor.RetryOf != original.TaskId || successor.Source != "MANUAL_RETRY" || string(successor.Input) != `{"n": 1.10}` {
		t.Errorf("original %+v, successor %+v", original, successor)
	}
	var source httpapi.TaskSource
	n.get("/v1/tasks/" + receipt.TaskId + "/source").is(200).into(&source)
	if source.Kind != "MANUAL_RETRY" || *source.RetryOf != original.TaskId {
		t.Errorf("source %+v", source)
	}
	if p := n.post(task+"/retry", strings.Replace(body, "again", "more", 1)).is(409).problem(); p.Code != "retry_exists" || *p.Subject != receipt.TaskId {
		t.Errorf("a second retry: %+v", p)
	}
	if n.run("work", `"outcome":"SUCCEEDED","output":1`) != 1 {
		t.Error("the successor does not run")
	}
}

// "Why is it not running?" names every cause, and clearing the named ones starts the task.
func TestBlockersClearedOneByOne(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.queue("other")
	setting := func(settings string) {
		n.do(call{method: "PUT", path: "/v1/queues/work", body: `{"open_tasks_max":9,` + settings + `}`}).is(200)
	}
	holder := n.submit(keyedSubmission("holder", "other", "r"))
	n.run("other", `"outcome":"UNKNOWN"`)
	setting(`"running_attempts_max":0,"paused":true`)
	task := n.submit(keyedSubmission("k", "work", "r"))
	second := n.submit(fmt.Sprintf(submission, "second", "1"))
	says := func(path, want string) {
		t.Helper()
		var list httpapi.TaskBlockers
		n.get(path + "/blockers").is(200).into(&list)
		var got []string
		for _, b := range list.Items {
			text := string(b.Kind)
			if b.Holder != nil {
				text += " " + *b.Holder + " " + string(*b.HolderState)
			}
			if b.Limit != nil {
				text += fmt.Sprintf(" %d/%d", *b.Current, *b.Limit)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	held := "RESOURCE_KEY " + holder[len("/v1/tasks/"):] + " NEEDS_REVIEW"
	says(task, held+", QUEUE_PAUSED, QUEUE_LIMIT 0/0")
	says(holder, "REVIEW")
	setting(`"running_attempts_max":0`)
	says(task, held+", QUEUE_LIMIT 0/0")
	setting(`"running_attempts_max":5`)
	says(task, held)
	says(second, "READY")
	n.do(call{method: "POST", path: holder + "/review", body: review, header: map[string]string{"Idempotency-Key": "x"}}).is(200)
	says(task, "READY")
	says(second, "TASKS_AHEAD 1/1000")
	if got := n.run("work", `"outcome":"SUCCEEDED","output":1`); got != 2 {
		t.Errorf("%d started once nothing was in the way", got)
	}
	says(task, "")
}
