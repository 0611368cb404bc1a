package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

func (n *node) failures(queue, query string) (all []httpapi.TaskFailure) {
	n.Helper()
	for cursor := ""; ; {
		var page httpapi.TaskFailureList
		n.get("/v1/queues/" + queue + "/failures?limit=2" + query + cursor).is(200).into(&page)
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// The operator's view of failures: everything that failed or waits, newest first, counted by code and handler; and every
// action it names is legal, every retry it does not name is refused.
func TestFailuresNameWhatMayBeDoneNext(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	fail := func(key, outcome string) string {
		path := n.submit(strings.Replace(fmt.Sprintf(submission, key, "1"), `"input"`, `"business_key":"`+key+`","input"`, 1))
		n.run("work", outcome)
		return strings.TrimPrefix(path, "/v1/tasks/")
	}
	const declined, down = `"outcome":"FAILED","failure":{"code":"card_declined","message":"the bank refused"},"retryable":false`, `"outcome":"FAILED","failure":{"code":"provider_down","message":"x"}`
	plain, repeated, unknown := fail("plain", declined), fail("repeated", declined), fail("unknown", `"outcome":"UNKNOWN"`)
	waiting := fail("waiting", `"outcome":"UNKNOWN"`)
	fail("down", down)
	fail("fine", `"outcome":"SUCCEEDED","output":1`)
	n.do(call{method: "POST", path: "/v1/tasks/" + unknown + "/review", body: `{"decision":"FAILED","expected_version":3,"reason":"r","evidence":1,"all_executions_ended":true}`, header: map[string]string{"Idempotency-Key": "x"}}).is(200)
	var successor httpapi.RetryReceipt
	n.post("/v1/tasks/"+repeated+"/retry", `{"submit_key":"again","expected_version":3,"reason":"r"}`).is(201).into(&successor)
	all := n.failures("work", "")
	var order []string
	for _, f := range all {
		order = append(order, *f.BusinessKey)
	}
	if got := strings.Join(order, " "); got != "down unknown repeated plain" {
		t.Errorf("in order %s", got)
	}
	byTask := map[string]httpapi.TaskFailure{}
	for _, f := range append(all, n.failures("work", "&state=NEEDS_REVIEW")...) {
		byTask[f.TaskId] = f
		retried := n.post("/v1/tasks/"+f.TaskId+"/retry", fmt.Sprintf(`{"submit_key":"try %s","expected_version":%d,"reason":"r"}`, f.TaskId, f.StateVersion))
		if legal := slices.Contains(f.Actions, "RETRY"); legal != (retried.status == 201) {
			t.Errorf("%s: next %v, but a retry answers %d %s", *f.BusinessKey, f.Actions, retried.status, retried.body)
		}
	}
	for task, want := range map[string]string{plain: "RETRY", repeated: "FOLLOW_SUCCESSOR", unknown: "SUBMIT_NEW", waiting: "REVIEW"} {
		if got := fmt.Sprint(byTask[task].Actions); got != "["+want+"]" {
			t.Errorf("%s: %s", want, got)
		}
	}
	if f := byTask[plain]; *f.Code != "card_declined" || *f.Message != "the bank refused" || *f.AttemptNo != 1 || f.EffectUnknown || f.State != "FAILED" || f.Source != "DIRECT" {
		t.Errorf("%+v", f)
	}
	if f := byTask[repeated]; f.RetriedBy == nil || *f.RetriedBy != successor.TaskId {
		t.Errorf("%+v", f)
	}
	if f := byTask[waiting]; f.State != "NEEDS_REVIEW" || !f.EffectUnknown {
		t.Errorf("%+v", f)
	}
	var groups httpapi.FailureGroups
	n.get("/v1/queues/work/failure-groups").is(200).into(&groups)
	if !groups.Complete || groups.Counted != 4 || len(groups.Items) != 3 || *groups.Items[0].Code != "card_declined" || groups.Items[0].Tasks != 2 || groups.Items[0].Handler != "h" || !groups.Items[0].OldestAt.Before(groups.Items[0].NewestAt) {
		t.Errorf("%+v", groups)
	}
	n.get("/v1/queues/work/failure-groups?state=NEEDS_REVIEW").is(200).into(&groups)
	if groups.Counted != 1 {
		t.Errorf("%+v", groups)
	}
	n.get("/v1/queues/nowhere/failures").is(404)
	n.get("/v1/queues/work/failures?state=SUCCEEDED").is(400)
	var page httpapi.TaskFailureList
	n.get("/v1/queues/work/failures?limit=1").is(200).into(&page)
	n.get("/v1/queues/work/failures?limit=1&state=NEEDS_REVIEW&cursor=" + page.NextCursor).is(400)
}
