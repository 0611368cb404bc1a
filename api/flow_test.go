package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

const submission = `{"submit_key":%q,"queue":"work","handler":"h","handler_version":"1","input":%s,"deadline_ms":3600000,` +
	`"attempt_timeout_ms":60000,"retry_policy":{"kind":"FIXED","max_attempts":3,"delay_ms":0}}`

const claim = `{"worker":"w","queues":["work"],"handlers":[{"handler":"h","handler_version":"1"}],"max_tasks":8,"lease_ms":30000}`

// The life of one task, as a submitter, a worker and an operator see it; payload bytes stay what they were (O13, T10).
func TestOneTaskThroughTheWholeSurface(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	input := `{ "amount" : 1.10, "big":123456789012345678901234567890123456789,"s":"<é>" }`
	first := n.post("/v1/tasks", fmt.Sprintf(submission, "k1", input)).is(201)
	again := n.post("/v1/tasks", fmt.Sprintf(submission, "k1", ` {"s":"<é>", "amount":1.10, "big":123456789012345678901234567890123456789}`)).is(201)
	if !bytes.Equal(first.body, again.body) || first.header.Get("Orbit-Replayed") != "" || again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a replay differs: %s %s", first.body, again.body)
	}
	if p := n.post("/v1/tasks", fmt.Sprintf(submission, "k1", `2`)).is(409).problem(); p.Code != "submission_conflict" || p.Subject == nil {
		t.Errorf("other content under one key: %+v", p)
	}
	var receipt httpapi.TaskReceipt
	first.into(&receipt)
	task := "/v1/tasks/" + receipt.TaskId
	if got := n.get(task).is(200); !bytes.Contains(got.body, []byte(`"input":`+input)) {
		t.Errorf("the input changed: %s", got.body)
	}
	n.get(task + "/result").is(409)

	var claimed httpapi.ClaimResult
	if got := n.post("/v1/claims", claim).is(200).into(&claimed); len(claimed.Tasks) != 1 || !bytes.Contains(got.body, []byte(`"input":`+input)) {
		t.Fatalf("claimed %s", got.body)
	}
	at := claimed.Tasks[0]
	item := fmt.Sprintf(`"task_id":%q,"attempt_no":%d,"token":%q`, at.TaskId, at.AttemptNo, at.Token)
	var renewed httpapi.RenewalOutcomes
	n.post("/v1/lease-renewals", `{"items":[{`+item+`,"extend_ms":40000},{"task_id":"inst_x"}]}`).is(200).into(&renewed)
	if renewed.Items[0].Outcome != "CONTINUE" || renewed.Items[1].Outcome != "REFUSED" {
		t.Errorf("renewal: %+v", renewed.Items)
	}
	var done httpapi.CompletionOutcomes
	report := `{"worker":"w","items":[{` + item + `,"outcome":"SUCCEEDED","output":[ 1.0 ]}],"claim":` + claim + `}`
	n.post("/v1/completions", report).is(200).into(&done)
	if done.Items[0].Outcome != "ACCEPTED" || *done.Items[0].State != "SUCCEEDED" || len(done.Tasks) != 0 {
		t.Errorf("completion: %+v", done)
	}
	n.post("/v1/completions", report).is(200).into(&done)
	if done.Items[0].Outcome != "REPLAYED" {
		t.Errorf("the same report again: %+v", done.Items[0])
	}
	if got := n.get(task + "/result").is(200); !bytes.Contains(got.body, []byte(`"output":[ 1.0 ]`)) {
		t.Errorf("result: %s", got.body)
	}
	var attempts httpapi.AttemptList
	n.get(task + "/attempts").is(200).into(&attempts)
	if len(attempts.Items) != 1 || attempts.Items[0].Outcome != "SUCCEEDED" {
		t.Errorf("attempts: %+v", attempts)
	}
	var events httpapi.TaskEventList
	n.get(task + "/events?limit=2").is(200).into(&events)
	second := "/events?limit=2&cursor=" + events.NextCursor
	events = httpapi.TaskEventList{}
	n.get(task + second).is(200).into(&events)
	if len(events.Items) != 1 || events.Items[0].Kind != "SUCCEEDED" || events.NextCursor != "" {
		t.Errorf("events: %+v", events)
	}
	var source httpapi.TaskSource
	n.get(task + "/source").is(200).into(&source)
	if source.Kind != "DIRECT" {
		t.Errorf("source: %+v", source)
	}
	n.get(task + "/late-evidence").is(200)
	for _, path := range []string{"/v1/queues", "/v1/queues/work", "/v1/whoami", "/v1/admin/audit", "/v1/admin/applications"} {
		n.get(path).is(200)
	}
}

// A batch answers index by index; a wrong item costs the others nothing (T11).
func TestBatchItemsStandForThemselves(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	good := func(key, input string) string { return fmt.Sprintf(submission, key, input) }
	items := []string{
		good("a", `{"x": 1}`), `"not even an object"`, strings.Replace(good("c", "1"), `"h"`, `"h/h"`, 1), good("d", `[ 1, {"]":"}"} ]`),
		strings.Replace(good("e", "1"), `"work"`, `"nowhere"`, 1), good("a", `{"x":1}`), good("a", `2`),
		strings.Replace(good("h", "1"), `"attempt_timeout_ms":60000`, `"attempt_timeout_ms":7200000`, 1),
	}
	var out httpapi.TaskBatchOutcomes
	n.post("/v1/task-batches", `{"items":[`+strings.Join(items, " ,\n")+`]}`).is(200).into(&out)
	want := []string{"", "field_type", "field_pattern", "", "queue_unknown", "replayed", "submission_conflict", "request_invalid"}
	for i, w := range want {
		var p httpapi.Problem
		if len(out.Items[i].Problem) > 0 {
			answer{TB: t, body: out.Items[i].Problem}.into(&p)
		}
		if out.Items[i].Replayed {
			p.Code = "replayed"
		}
		if p.Code != w {
			t.Errorf("item %d: %q, want %q: %s", i, p.Code, w, out.Items[i].Problem)
		}
	}
	if !bytes.Equal(out.Items[0].Receipt, out.Items[5].Receipt) {
		t.Errorf("one key, two receipts: %s %s", out.Items[0].Receipt, out.Items[5].Receipt)
	}
	var list httpapi.TaskList
	n.get("/v1/tasks?queue=work&state=QUEUED").is(200).into(&list)
	if len(list.Items) != 2 {
		t.Errorf("%d tasks were accepted, want 2", len(list.Items))
	}
}

// Every list pages without loss, and a cursor serves only the list and the filters it was given with.
func TestListsAndCursors(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.queue("other")
	for i := range 7 {
		body := strings.Replace(fmt.Sprintf(submission, fmt.Sprint("k", i), "1"), `"queue"`, fmt.Sprintf(`"business_key":"b%d ","queue"`, i%2), 1)
		n.post("/v1/tasks", body).is(201)
	}
	n.post("/v1/claims", strings.Replace(claim, `"max_tasks":8`, `"max_tasks":2`, 1)).is(200)
	for filter, want := range map[string]int{
		"": 7, "&state=QUEUED": 5, "&state=RUNNING": 2, "&state=SUCCEEDED": 0, "&business_key=b0%20": 4, "&business_key=b0": 0, "&business_key=B0%20": 0,
		"&business_key=b1%20&state=QUEUED": 2, "&business_key=b1%20&state=RUNNING": 1, "&created_before=2001-01-01T00:00:00Z": 0, "&created_from=2001-01-01T00:00:00%2B02:00": 7,
	} {
		seen, cursor := map[string]bool{}, ""
		for pages := 0; ; pages++ {
			var list httpapi.TaskList
			n.get("/v1/tasks?queue=work&limit=2" + filter + cursor).is(200).into(&list)
			for _, task := range list.Items {
				if seen[task.TaskId] || pages > 5 {
					t.Fatalf("%s: repeated %s", filter, task.TaskId)
				}
				seen[task.TaskId] = true
			}
			if list.NextCursor == "" {
				break
			}
			cursor = "&cursor=" + list.NextCursor
			for _, other := range []string{"/v1/tasks?queue=other" + filter, "/v1/tasks?queue=work&state=FAILED", "/v1/queues?limit=1", "/v1/workflows?limit=1"} {
				if p := n.get(other + cursor).is(400).problem(); p.Code != "cursor_invalid" {
					t.Errorf("%s: %s", other, p.Code)
				}
			}
		}
		if len(seen) != want {
			t.Errorf("filter %q: %d tasks, want %d", filter, len(seen), want)
		}
	}
	var queues httpapi.QueueList
	n.get("/v1/queues?limit=1").is(200).into(&queues)
	first := queues.NextCursor
	queues = httpapi.QueueList{}
	n.get("/v1/queues?limit=1&cursor=" + first).is(200).into(&queues)
	if len(queues.Items) != 1 || queues.Items[0].Name != "work" || queues.NextCursor != "" || queues.Items[0].Depth.Ready != 5 || queues.Items[0].Depth.Running != 2 {
		t.Errorf("second page of queues: %+v", queues)
	}
}

func TestCancelKeepsItsAnswer(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	var receipt httpapi.TaskReceipt
	n.post("/v1/tasks", fmt.Sprintf(submission, "k", "1")).is(201).into(&receipt)
	cancel := call{method: "POST", path: "/v1/tasks/" + receipt.TaskId + "/cancel", body: `{"reason":"twice"}`, header: map[string]string{"Idempotency-Key": "c1"}}
	first, again := n.do(cancel).is(200), n.do(cancel).is(200)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a replay differs: %s %s", first.body, again.body)
	}
	var task httpapi.Task
	n.get("/v1/tasks/" + receipt.TaskId).is(200).into(&task)
	if task.State != "CANCELLED" || !bytes.Contains(first.body, []byte(`"state":"CANCELLED"`)) {
		t.Errorf("a waiting task is %s after %s", task.State, first.body)
	}
	cancel.body = `{"reason":"another"}`
	if p := n.do(cancel).is(409).problem(); p.Code != "idempotency_conflict" {
		t.Errorf("other content under one key: %s", p.Code)
	}
	cancel.header = nil
	if p := n.do(cancel).is(400).problem(); p.Code != "parameter_missing" || p.Errors == nil || (*p.Errors)[0].In != "header" {
		t.Errorf("no key: %+v", p)
	}
}

func TestQueueVersions(t *testing.T) {
	n := newNode(t)
	put := func(body string) answer { return n.do(call{method: "PUT", path: "/v1/queues/q", body: body}) }
	var q httpapi.Queue
	put(`{"open_tasks_max":10,"running_attempts_max":5,"expected_version":0}`).is(200).into(&q)
	put(`{"open_tasks_max":10,"running_attempts_max":5}`).is(200).into(&q)
	if q.Version != 1 {
		t.Errorf("the same settings made version %d", q.Version)
	}
	put(`{"open_tasks_max":10,"running_attempts_max":5,"paused":true,"expected_version":1}`).is(200).into(&q)
	if q.Version != 2 || !q.Paused {
		t.Errorf("changed: %+v", q)
	}
	if p := put(`{"open_tasks_max":1,"running_attempts_max":5,"expected_version":1}`).is(409).problem(); p.Code != "revision_conflict" {
		t.Errorf("a change made meanwhile was overwritten: %s", p.Code)
	}
}
