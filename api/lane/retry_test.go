package lane_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

func (w *world) retryOf(task engine.ID, version uint32) pulse.ManualRetry {
	w.mu.Lock()
	w.seq++
	n := w.seq
	w.mu.Unlock()
	return pulse.ManualRetry{
		Credential: w.key.ID, Application: w.key.Application, Queue: w.queue, Task: task, Successor: store.NewID(), Key: fmt.Sprint("retry-", n),
		ExpectedVersion: version, Reason: "the server is back",
	}
}

func (w *world) again(r pulse.ManualRetry) pulse.SubmitOutcome {
	w.Helper()
	out, err := w.Retry(context.Background(), w.ns, r)
	must(w, err)
	return out
}

// The whole chain on a server: the successor repeats the frozen request and not the first delay; one direct successor,
// however many ask at once; a retry of the retry goes on from there.
func TestARetryChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	nodes := []*lane.Set{w.Set, w.node(w.db.DSN(), lane.Options{})}
	s := w.submission(named("job"), keyed("r"), func(s *pulse.Submission) {
		s.Priority, s.DelayMS, s.Retry.MaxAttempts, s.Lost = 4, 60_000, 1, pulse.LostRetry
		s.OutputContract, s.Input = []byte(`{"type":"object"}`), []byte(`{"n": 1.10}`)
	})
	w.submit(s)
	w.later(61 * time.Second)
	w.scan()
	w.complete(w.claimNow(1)[0], pulse.Permanent)
	const askers = 32
	out := make([]pulse.SubmitOutcome, askers)
	release := w.holdQuota()
	var all sync.WaitGroup
	for i := range askers {
		r := w.retryOf(s.TaskID, 3)
		all.Go(func() {
			var err error
			if out[i], err = nodes[i%2].Retry(context.Background(), w.ns, r); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	release()
	all.Wait()
	var successor engine.ID
	accepted := 0
	for _, o := range out {
		if o.Refusal == nil {
			successor, accepted = o.TaskID, accepted+1
		}
	}
	for _, o := range out {
		if o.Refusal != nil && code(o.Refusal) != "retry_exists "+successor.Text("task") {
			t.Errorf("answered %s", code(o.Refusal))
		}
	}
	if accepted != 1 || w.rows("task_retry") != 1 || w.rows("task") != 2 {
		t.Errorf("%d accepted, %d links, %d tasks", accepted, w.rows("task_retry"), w.rows("task"))
	}
	w.exact()
	if got := w.spell(`SELECT CONCAT(b.source, ' ', b.owner_id = a.task_id, ' ', a.handler = b.handler AND a.handler_version = b.handler_version AND a.input = b.input
		AND a.business_key = b.business_key AND a.resource_key = b.resource_key AND a.priority = b.priority AND a.retry_policy = b.retry_policy AND a.lost_policy = b.lost_policy
		AND a.output_contract = b.output_contract AND a.attempt_timeout_ms = b.attempt_timeout_ms, ' ', b.available_at = b.created_at, ' ', o.owner_id IS NULL)
		FROM task a JOIN task b ON b.source = 2 JOIN open_task o ON o.task_id = b.task_id WHERE a.source = 1`); got != "2 1 1 1 1" {
		t.Errorf("source, owner, frozen request, no delay, no inbox: %s", got)
	}
	w.complete(w.claimNow(1)[0], pulse.Permanent)
	if next := w.again(w.retryOf(s.TaskID, 3)); code(next.Refusal) != "retry_exists "+successor.Text("task") {
		t.Errorf("the first again: %s", code(next.Refusal))
	}
	third := w.again(w.retryOf(successor, 3))
	if third.Refusal != nil {
		t.Fatal(third.Refusal)
	}
	if got := names(w.claimNow(1)); got != "job" || w.rows("task") != 3 || w.rows("weave_inbox") != 0 {
		t.Errorf("claimed %q of %d tasks, %d for a workflow", got, w.rows("task"), w.rows("weave_inbox"))
	}
	w.exact()
}

// The receipt is frozen and guarded; today's limits apply after it; what may not be repeated is refused by name.
func TestWhatARetryRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	cancelled, unknown, done := w.submission(named("cancelled")), w.submission(named("unknown")), w.submission(named("done"))
	w.submit(cancelled)
	w.cancel(cancelled)
	w.submit(unknown, done)
	for _, g := range w.claimNow(2) {
		w.complete(g, map[string]pulse.Outcome{"unknown": pulse.Unknown, "done": pulse.Succeeded}[string(g.Payload.BusinessKey)])
	}
	if out := w.again(w.retryOf(unknown.TaskID, 3)); code(out.Refusal) != "task_not_retryable" {
		t.Errorf("in review: %s", code(out.Refusal))
	}
	if out := w.decide(w.reviewOf(unknown, pulse.PublicFailed, 3)); out.Refusal != nil {
		t.Fatal(out.Refusal)
	}
	short := w.retryOf(cancelled.TaskID, 2)
	short.DeadlineMS = 1000
	for _, c := range []struct {
		r    pulse.ManualRetry
		code string
	}{
		{w.retryOf(unknown.TaskID, 4), "retry_effect_unknown"}, {w.retryOf(done.TaskID, 3), "task_not_retryable"},
		{w.retryOf(cancelled.TaskID, 1), "revision_conflict"}, {w.retryOf(store.NewID(), 1), "task_not_found"}, {short, "request_invalid"},
	} {
		if out := w.again(c.r); code(out.Refusal) != c.code {
			t.Errorf("%s instead of %s", code(out.Refusal), c.code)
		}
	}
	limit := func(set string) {
		_, err := w.db.Exec("UPDATE queue SET " + set)
		must(t, err)
	}
	r := w.retryOf(cancelled.TaskID, 2)
	limit("open_tasks_max = 0")
	if out := w.again(r); code(out.Refusal) != "queue_full" {
		t.Errorf("a full queue: %s", code(out.Refusal))
	}
	limit("open_tasks_max = 10")
	first := w.again(r)
	if first.Refusal != nil {
		t.Fatal(first.Refusal)
	}
	limit("open_tasks_max = 0")
	if again := w.again(r); !again.Replayed || !bytes.Equal(again.Receipt, first.Receipt) || again.TaskID != first.TaskID {
		t.Errorf("replayed %+v", again)
	}
	taken := w.submission(func(s *pulse.Submission) { s.Key = r.Key })
	out, err := w.Submit(t.Context(), w.ns, []pulse.Submission{taken})
	if must(t, err); code(out[0].Refusal) != "submission_conflict "+first.TaskID.Text("task") {
		t.Errorf("its key for a submission: %s", code(out[0].Refusal))
	}
	_, err = w.db.Exec("UPDATE credential SET scopes = REPLACE(scopes, 'tasks:retry', '')")
	if must(t, err); code(w.again(r).Refusal) != "scope_missing" {
		t.Error("a key without the scope reads the old receipt")
	}
	w.exact()
}
