package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

// Pause, drain and resume with their reasons: nothing starts after the commit of a pause, nothing is accepted after that
// of a drain, the same again changes nothing, and each change is one audit entry.
func TestQueuesAreHeldWithAReason(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.submit(fmt.Sprintf(submission, "k", "1"))
	var q httpapi.Queue
	say := func(what, reason string) httpapi.Queue {
		t.Helper()
		var q httpapi.Queue
		n.post("/v1/queues/work/"+what, `{"reason":"`+reason+`"}`).is(200).into(&q)
		return q
	}
	q = say("pause", "the provider is down")
	if !q.Paused || q.Version != 2 || len(q.Holds) != 1 || q.Holds[0].Kind != "PAUSED" || q.Holds[0].Reason != "the provider is down" || !strings.HasPrefix(q.Holds[0].By, "cred_") {
		t.Fatalf("%+v", q)
	}
	if n.run("work", `"outcome":"SUCCEEDED","output":1`) != 0 {
		t.Error("a paused queue gave a task out")
	}
	if again := say("pause", "another reason"); again.Version != 2 || again.Holds[0].Reason != "the provider is down" {
		t.Errorf("again: %+v", again)
	}
	if q = say("drain", "moves away"); !q.Paused || !q.Draining || len(q.Holds) != 2 || q.Version != 3 {
		t.Errorf("%+v", q)
	}
	if p := n.post("/v1/tasks", fmt.Sprintf(submission, "late", "1")).is(409).problem(); p.Code != "queue_draining" {
		t.Error(p.Code)
	}
	n.post("/v1/queues/work/resume", `{"reason":"r","expected_version":2}`).is(409)
	if q = say("resume", "it is back"); q.Paused || q.Draining || q.Holds != nil || q.Version != 4 {
		t.Errorf("%+v", q)
	}
	if n.run("work", `"outcome":"SUCCEEDED","output":1`) != 1 {
		t.Error("a resumed queue gives nothing out")
	}
	// Settings that end a pause forget its reason; those that begin one have none.
	say("pause", "once more")
	n.queue("work")
	q = httpapi.Queue{}
	n.do(call{method: "PUT", path: "/v1/queues/work", body: `{"open_tasks_max":1000,"running_attempts_max":1000,"paused":true}`}).is(200).into(&q)
	if !q.Paused || q.Holds != nil {
		t.Errorf("%+v", q)
	}
	var actions []string
	var list httpapi.AuditList
	n.get("/v1/admin/audit?subject=queue:work").is(200).into(&list)
	for _, a := range list.Items {
		actions = append(actions, a.Action)
	}
	if got := strings.Join(actions, " "); got != "queue.created queue.paused queue.draining queue.resumed queue.paused queue.changed queue.changed" {
		t.Error(got)
	}
	n.post("/v1/queues/nowhere/pause", `{"reason":"r"}`).is(404)
	n.post("/v1/queues/work/pause", `{}`).is(400)
	n.do(call{method: "POST", path: "/v1/queues/work/pause", key: n.key("tasks:cancel").Key.Text(), body: `{"reason":"r"}`}).is(403)
}

// A rate is a setting of the queue: shown with what it would pay, named by "why is it not running?", and a claim that
// waits is woken by the next token.
func TestARateIsSetShownAndNamed(t *testing.T) {
	n := newNode(t)
	put := func(rate string) answer {
		return n.do(call{method: "PUT", path: "/v1/queues/work", body: `{"open_tasks_max":1000,"running_attempts_max":1000` + rate + `}`})
	}
	for body, pointer := range map[string]string{
		`,"rate":{"tokens":0,"period_ms":1000,"burst":1}`: "/rate/tokens", `,"rate":{"tokens":1,"period_ms":99,"burst":1}`: "/rate/period_ms",
		`,"rate":{"tokens":1,"period_ms":1000,"burst":1000001}`: "/rate/burst", `,"rate":{"tokens":1,"period_ms":1000}`: "/rate/burst",
	} {
		if p := put(body).is(400).problem(); (*p.Errors)[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, *p.Errors)
		}
	}
	var q httpapi.Queue
	put(`,"rate":{"tokens":1,"period_ms":1500,"burst":2}`).is(200).into(&q)
	if q.Rate == nil || *q.Rate != (httpapi.QueueRateState{Tokens: 1, PeriodMs: 1500, Burst: 2, Available: 2}) {
		t.Fatalf("%+v", q.Rate)
	}
	var paths []string
	for i := range 4 {
		paths = append(paths, n.submit(fmt.Sprintf(submission, fmt.Sprint("k", i), "1")))
	}
	if got := n.run("work", `"outcome":"SUCCEEDED","output":1`); got != 2 {
		t.Errorf("%d started with two tokens", got)
	}
	var list httpapi.TaskBlockers
	n.get(paths[2] + "/blockers").is(200).into(&list)
	if len(list.Items) != 1 || list.Items[0].Kind != "QUEUE_RATE" || *list.Items[0].Limit != 1 || list.Items[0].At == nil || !list.Items[0].At.After(list.At) || list.Items[0].At.Sub(list.At) > 1500*time.Millisecond {
		t.Fatalf("%+v", list.Items)
	}
	token := *list.Items[0].At
	began := time.Now()
	var claimed struct {
		Tasks []struct {
			StartedAt time.Time `json:"started_at"`
			TaskID    string    `json:"task_id"`
		} `json:"tasks"`
	}
	n.post("/v1/claims", `{"worker":"w","queues":["work"],"handlers":[{"handler":"h","handler_version":"1"}],"max_tasks":5,"lease_ms":30000,"wait_ms":20000}`).is(200).into(&claimed)
	var started time.Time
	must(t, n.db.QueryRow("SELECT MAX(started_at) FROM open_task").Scan(&started))
	if len(claimed.Tasks) != 1 || started.Before(token) || started.Sub(token) > 300*time.Millisecond {
		t.Errorf("%d started %v after the token, %v after the question", len(claimed.Tasks), started.Sub(token), time.Since(began))
	}
	q = httpapi.Queue{}
	put("").is(200).into(&q)
	if q.Rate != nil {
		t.Errorf("%+v", q.Rate)
	}
	if got := n.run("work", `"outcome":"SUCCEEDED","output":1`); got != 1 {
		t.Errorf("without the rate %d started", got)
	}
	var rows int
	must(t, n.db.QueryRow("SELECT COUNT(*) FROM queue_rate").Scan(&rows))
	if rows != 0 {
		t.Error("the row of a rate that is gone stays")
	}
}
