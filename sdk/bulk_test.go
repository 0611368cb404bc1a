package orbit_test

import (
	"errors"
	"strings"
	"testing"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/internal/fake"
)

// A bulk operation is asked again with the same key and the same bytes when the answer is lost; its results are walked page
// by page; an abort says why.
func TestBulk(t *testing.T) {
	s, c := pair(t)
	const path = "/v1/bulk-operations"
	s.Misfortune(
		fake.Fault{Path: path, Before: true, Status: 503, Body: `{"code":"outcome_unknown","status":503,"retry_after_ms":1}`},
		fake.Fault{Path: path, Before: true, Status: 201, Body: `{"operation_id":"bulk_1","kind":"RETRY","queue":"mail","dry_run":false,"created_before":"2031-07-01T08:30:00.000000Z","accepted_at":"2031-07-01T08:30:00.000000Z"}`},
		fake.Fault{Path: path, Before: true, Status: 403, Body: `{"code":"scope_missing","status":403}`},
		fake.Fault{Path: path + "/bulk_1/items", Before: true, Status: 200, Body: `{"items":[{"task_id":"task_1","result":"DONE","code":"retried","successor":"task_2"}],"next_cursor":"more"}`},
		fake.Fault{Path: path + "/bulk_1/items", Before: true, Status: 200, Body: `{"items":[{"task_id":"task_3","result":"SKIPPED","code":"retry_exists"}]}`},
		fake.Fault{Path: path + "/bulk_1/abort", Before: true, Status: 200, Body: `{"operation_id":"bulk_1","state":"ABORTED","matched":2,"done":1,"skipped":1,"refused":0}`})
	r := orbit.BulkRequest{Kind: orbit.BulkRetry, Queue: "mail", Filter: orbit.BulkFilter{FailureCode: "down", Attribute: &orbit.Attribute{Name: "region", Value: "north "}}, Reason: "it is back"}
	receipt, err := c.Bulk(t.Context(), r)
	if err != nil || receipt.OperationID != "bulk_1" || receipt.CreatedBefore.IsZero() {
		t.Fatalf("%+v %v", receipt, err)
	}
	sent := s.Requests(path)
	if len(sent) != 2 || string(sent[0].Body) != string(sent[1].Body) || !strings.Contains(string(sent[0].Body), `"filter":{"failure_code":"down","attribute":{"name":"region","value":"north "}}`) {
		t.Errorf("%d requests, %s", len(sent), sent[0].Body)
	}
	if _, err = c.Bulk(t.Context(), r); err == nil {
		t.Error("a missing scope is no error")
	} else if refusal, ok := errors.AsType[*orbit.Error](err); !ok || refusal.Code != "scope_missing" {
		t.Errorf("%v", err)
	}
	if sent = s.Requests(path); string(sent[2].Body) == string(sent[0].Body) {
		t.Error("two operations have one key")
	}
	var items []orbit.BulkItem
	for item, err := range c.BulkItems(t.Context(), "bulk_1", "") {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	if len(items) != 2 || items[0].Successor != "task_2" || items[1].Code != "retry_exists" {
		t.Errorf("%+v", items)
	}
	op, err := c.AbortBulk(t.Context(), "bulk_1", "wrong filter")
	if err != nil || op.State != "ABORTED" || op.Matched != 2 || string(s.Requests(path + "/bulk_1/abort")[0].Body) != `{"reason":"wrong filter"}` {
		t.Errorf("%+v %v", op, err)
	}
}

// A queue is held with a reason, and its rate and holds are read; failures come with what may be done next.
func TestQueueOperations(t *testing.T) {
	s, c := pair(t)
	s.Misfortune(
		fake.Fault{Path: "/v1/queues/mail", Before: true, Status: 200, Body: `{"name":"mail","rate":{"tokens":100,"period_ms":60000,"burst":10,"available":3}}`},
		fake.Fault{Path: "/v1/queues/mail/pause", Before: true, Status: 200, Body: `{"name":"mail","paused":true,"holds":[{"kind":"PAUSED","reason":"down","by":"cred_1","at":"2031-07-01T08:30:00.000000Z"}]}`},
		fake.Fault{Path: "/v1/queues/mail/failures", Before: true, Status: 200, Body: `{"items":[{"task_id":"task_1","state":"FAILED","code":"down","actions":["RETRY"]}]}`},
		fake.Fault{Path: "/v1/queues/mail/failure-groups", Before: true, Status: 200, Body: `{"state":"FAILED","counted":2,"complete":true,"items":[{"code":"down","handler":"send","handler_version":"1","tasks":2}]}`})
	q, err := c.PutQueue(t.Context(), "mail", orbit.QueueSettings{OpenTasksMax: 1, RunningAttemptsMax: 2, Rate: &orbit.QueueRate{Tokens: 100, PeriodMS: 60000, Burst: 10}})
	if err != nil || q.Rate == nil || q.Rate.Available != 3 || q.Rate.Tokens != 100 {
		t.Errorf("%+v %v", q, err)
	}
	if got := string(s.Requests("/v1/queues/mail")[0].Body); got != `{"open_tasks_max":1,"running_attempts_max":2,"rate":{"tokens":100,"period_ms":60000,"burst":10}}` {
		t.Errorf("sent %s", got)
	}
	if q, err = c.PauseQueue(t.Context(), "mail", "down"); err != nil || len(q.Holds) != 1 || q.Holds[0].Reason != "down" {
		t.Errorf("%+v %v", q, err)
	}
	for f, err := range c.Failures(t.Context(), "mail", orbit.FailureFilter{State: orbit.TaskFailed}) {
		if err != nil || f.Code != "down" || f.Actions[0] != "RETRY" {
			t.Errorf("%+v %v", f, err)
		}
	}
	groups, err := c.FailureGroups(t.Context(), "mail", orbit.FailureFilter{})
	if err != nil || !groups.Complete || groups.Items[0].Tasks != 2 {
		t.Errorf("%+v %v", groups, err)
	}
}
