package orbit_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/internal/fake"
)

// A decision goes out byte for byte, again with the same key when the answer is lost, and who came second learns who
// was first.
func TestReview(t *testing.T) {
	s, c := pair(t)
	const path = "/v1/tasks/task_1/review"
	s.Misfortune(
		fake.Fault{Path: path, Before: true, Status: 503, Body: `{"code":"busy","status":503,"retry_after_ms":1}`},
		fake.Fault{Path: path, Before: true, Status: 200, Body: `{"task_id":"task_1","state":"SUCCEEDED","state_version":4,"decided_by":"cred_1","at":"2031-07-01T08:30:00.000000Z"}`},
		fake.Fault{Path: path, Before: true, Status: 409, Body: `{"code":"review_decided","status":409,"subject":"cred_1"}`})
	r := orbit.Review{Decision: orbit.TaskSucceeded, ExpectedVersion: 3, Reason: "seen", Evidence: json.RawMessage(`{ "at": 1.10}`), AllExecutionsEnded: true, Output: json.RawMessage(`[1.0]`)}
	receipt, err := c.Review(t.Context(), "task_1", r)
	if err != nil || receipt.State != orbit.TaskSucceeded || receipt.StateVersion != 4 || receipt.DecidedBy != "cred_1" {
		t.Fatalf("%+v %v", receipt, err)
	}
	sent := s.Requests(path)
	want := `{"decision":"SUCCEEDED","expected_version":3,"reason":"seen","all_executions_ended":true,"evidence":{ "at": 1.10},"output":[1.0]}`
	if len(sent) != 2 || string(sent[0].Body) != want || string(sent[1].Body) != want {
		t.Errorf("%d requests, %s", len(sent), sent[0].Body)
	}
	_, err = c.Review(t.Context(), "task_1", r)
	if refusal, ok := errors.AsType[*orbit.Error](err); !ok || refusal.Code != "review_decided" || refusal.Subject != "cred_1" {
		t.Errorf("%v", err)
	}
	r.Decision, r.Output, r.Failure = orbit.TaskFailed, nil, &orbit.Failure{Code: "lost", Details: json.RawMessage(`{"n":1.0}`)}
	s.Misfortune(fake.Fault{Path: path, Before: true, Status: 200, Body: `{}`})
	_, err = c.Review(t.Context(), "task_1", r)
	sent = s.Requests(path)
	if want := `{"decision":"FAILED","expected_version":3,"reason":"seen","all_executions_ended":true,"evidence":{ "at": 1.10},"failure":{"code":"lost","details":{"n":1.0}}}`; err != nil || string(sent[len(sent)-1].Body) != want {
		t.Errorf("%v %s", err, sent[len(sent)-1].Body)
	}
}

func TestRetryAndBlockers(t *testing.T) {
	s, c := pair(t)
	s.Misfortune(
		fake.Fault{Path: "/v1/tasks/task_1/retry", Before: true, Status: 201, Body: `{"task_id":"task_2","queue":"q","state":"QUEUED","retry_of":"task_1"}`},
		fake.Fault{Path: "/v1/tasks/task_2/blockers", Before: true, Status: 200, Body: `{"task_id":"task_2","state":"QUEUED","items":[{"kind":"RESOURCE_KEY","holder":"task_3","holder_state":"NEEDS_REVIEW"}]}`})
	receipt, err := c.Retry(t.Context(), "task_1", orbit.Retry{SubmitKey: "again", ExpectedVersion: 2, Reason: "back", Deadline: time.Minute})
	if err != nil || receipt.TaskID != "task_2" || receipt.RetryOf != "task_1" {
		t.Fatalf("%+v %v", receipt, err)
	}
	if got := string(s.Requests("/v1/tasks/task_1/retry")[0].Body); got != `{"submit_key":"again","expected_version":2,"reason":"back","deadline_ms":60000}` {
		t.Errorf("sent %s", got)
	}
	blockers, err := c.Blockers(t.Context(), "task_2")
	if err != nil || len(blockers.Items) != 1 || blockers.Items[0].Holder != "task_3" || blockers.Items[0].HolderState != orbit.TaskNeedsReview {
		t.Errorf("%+v %v", blockers, err)
	}
}
