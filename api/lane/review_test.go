package lane_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

// inReview brings a task under a key into NEEDS_REVIEW by the silence of its worker, with another one waiting for the
// key, and returns both. The first is at version 3.
func (w *world) inReview(key string) (lost, waiting pulse.Submission) {
	w.Helper()
	lost, waiting = w.submission(named("lost "+key), keyed(key)), w.submission(named("waiting "+key), keyed(key))
	w.submit(lost, waiting)
	if got := names(w.claimNow(1)); got != lost.BusinessKey {
		w.Fatalf("claimed %s", got)
	}
	_, err := w.db.Exec("UPDATE open_task SET lease_until = NOW(6) - INTERVAL 1 MINUTE WHERE task_id = ?", lost.TaskID[:])
	must(w, err)
	must(w, w.Due(context.Background(), w.ns, []pulse.Due{{Kind: pulse.DueLost, Application: lost.Application, Queue: lost.Queue, Task: lost.TaskID}}))
	return lost, waiting
}

func (w *world) reviewOf(s pulse.Submission, decision pulse.Public, version uint32) pulse.ReviewRequest {
	return pulse.ReviewRequest{
		Credential: w.key.ID, Application: w.key.Application, Queue: s.Queue, Task: s.TaskID, Key: "review " + s.Key, Decision: decision, ExpectedVersion: version,
		AllExecutionsEnded: true, Reason: "the bank confirmed it", Evidence: []byte(`{"statement": 17.10}`),
	}
}

func (w *world) decide(r pulse.ReviewRequest) pulse.ReviewOutcome {
	w.Helper()
	out, err := w.Review(context.Background(), w.ns, r)
	must(w, err)
	return out
}

func code(r *engine.Refusal) string {
	if r == nil {
		return "accepted"
	}
	return strings.TrimSpace(r.Code + " " + r.Subject)
}

// T16: 64 reviewers of one task at once, on two nodes, each with a key of their own for the command: one decides, 63 are told who. The
// permit and the key are given back, who waited for the key is woken, and nothing of the past is rewritten.
func TestManyReviewersDecideOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	nodes := []*lane.Set{w.Set, w.node(w.db.DSN(), lane.Options{})}
	lost, waiting := w.inReview("r")
	w.exact()
	before := w.spell("SELECT CONCAT(attempt_no, outcome, HEX(token), HEX(report_digest)) FROM attempt")
	const reviewers = 64
	out := make([]pulse.ReviewOutcome, reviewers)
	release := w.holdQuota()
	var all sync.WaitGroup
	for i := range reviewers {
		r := w.reviewOf(lost, []pulse.Public{pulse.PublicSucceeded, pulse.PublicFailed}[i%2], 3)
		r.Key, r.Reason = fmt.Sprint("reviewer ", i), fmt.Sprint("seen by ", i)
		all.Go(func() {
			var err error
			if out[i], err = nodes[i%2].Review(context.Background(), w.ns, r); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	release()
	all.Wait()
	won := 0
	for _, o := range out {
		switch {
		case o.Refusal == nil && !o.Replayed:
			won++
		case code(o.Refusal) != "review_decided "+auth.CredentialText(w.key.ID):
			t.Errorf("answered %s", code(o.Refusal))
		}
	}
	if won != 1 || w.rows("task_review") != 1 || w.rows("stream_entry") != 2 {
		t.Errorf("%d decided, %d decisions, %d results", won, w.rows("task_review"), w.rows("stream_entry"))
	}
	w.exact()
	if after := w.spell("SELECT CONCAT(attempt_no, outcome, HEX(token), HEX(report_digest)) FROM attempt"); after != before {
		t.Errorf("the attempt was %s, is %s", before, after)
	}
	if got := w.spell("SELECT CONCAT(action, ' ', reason IS NOT NULL, ' ', LOCATE('\"evidence\":{\"statement\": 17.10}', detail) > 0) FROM audit WHERE action = 'task.reviewed'"); got != "task.reviewed 1 1" {
		t.Errorf("audit: %s", got)
	}
	if got := names(w.claimNow(5)); got != waiting.BusinessKey {
		t.Errorf("woken and claimed: %q", got)
	}
	if codes := w.retries(); codes[1213] > 0 {
		t.Errorf("deadlocks: %v", codes)
	}
	w.exact()
}

// A claim that waits is woken by the review that frees the key it needs.
func TestAReviewWakesTheClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{Probe: time.Hour})
	lost, waiting := w.inReview("r")
	got := make(chan string)
	go func() {
		granted, _, _ := w.Claim(context.Background(), w.ns, w.claim(1), 20*time.Second)
		got <- names(granted)
	}()
	time.Sleep(200 * time.Millisecond)
	if out := w.decide(w.reviewOf(lost, pulse.PublicFailed, 3)); out.Refusal != nil {
		t.Fatal(out.Refusal)
	}
	if name := <-got; name != waiting.BusinessKey {
		t.Errorf("claimed %q", name)
	}
	w.exact()
}

// A receipt is frozen byte for byte, also on another node, and is for those only who may review now: a key that was
// revoked, expired or has lost the scope reads no old receipt.
func TestReviewReceiptsAreFrozenAndGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	other := w.node(w.db.DSN(), lane.Options{})
	lost, _ := w.inReview("r")
	r := w.reviewOf(lost, pulse.PublicSucceeded, 3)
	r.Output = []byte(`{"amount": 1.10}`)
	first := w.decide(r)
	if first.Refusal != nil {
		t.Fatal(first.Refusal)
	}
	for _, set := range []*lane.Set{w.Set, other} {
		again, err := set.Review(t.Context(), w.ns, r)
		if must(t, err); !again.Replayed || !bytes.Equal(again.Receipt, first.Receipt) {
			t.Errorf("replayed %+v", again)
		}
	}
	changed := r
	changed.Reason = "another"
	if out := w.decide(changed); code(out.Refusal) != "idempotency_conflict" {
		t.Errorf("other content under the key: %s", code(out.Refusal))
	}
	if got := w.spell("SELECT CONCAT(decision, ' ', state_version, ' ', evidence, ' ', output) FROM task_review"); got != `2 4 {"statement": 17.10} {"amount": 1.10}` {
		t.Errorf("stored %s", got)
	}
	for _, c := range []struct{ spoil, restore, code string }{
		{"scopes = REPLACE(scopes, 'tasks:review ', '')", "scopes = CONCAT('tasks:review ', scopes)", "scope_missing"},
		{"expires_at = NOW(6) - INTERVAL 1 SECOND", "expires_at = NULL", "credential_expired"},
		{"revoked_at = NOW(6)", "revoked_at = NULL", "credential_revoked"},
	} {
		_, err := w.db.Exec("UPDATE credential SET " + c.spoil)
		must(t, err)
		if out := w.decide(r); code(out.Refusal) != c.code || len(out.Receipt) > 0 {
			t.Errorf("%s: %+v %s", c.spoil, out, code(out.Refusal))
		}
		_, err = w.db.Exec("UPDATE credential SET " + c.restore)
		must(t, err)
	}
	if again := w.decide(r); !bytes.Equal(again.Receipt, first.Receipt) {
		t.Errorf("afterwards %+v", again)
	}
	w.exact()
}

// What a review refuses, by name, and that a refusal leaves no trace.
func TestWhatAReviewRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	neighbour := w.application("neighbour")
	lost, waiting := w.inReview("r")
	broken := w.submission(named("broken"), func(s *pulse.Submission) { s.OutputContract = []byte(`{"type":"object","required":["id"]}`) })
	w.submit(broken)
	w.complete(w.claimNow(1)[0], pulse.Succeeded) // {"ok":true}
	rows := w.rows("receipt") + w.rows("audit") + w.rows("stream_entry") + w.rows("task_event")
	good := w.reviewOf(broken, pulse.PublicSucceeded, 3)
	good.Output = []byte(`{"id":1}`)
	stranger := w.reviewOf(lost, pulse.PublicFailed, 3)
	stranger.Credential, stranger.Application, stranger.Queue = neighbour.key.ID, neighbour.key.Application, neighbour.queue
	for _, c := range []struct {
		r    pulse.ReviewRequest
		code string
	}{
		{w.reviewOf(lost, pulse.PublicFailed, 2), "revision_conflict"},
		{w.reviewOf(waiting, pulse.PublicFailed, 1), "review_not_needed"},
		{w.reviewOf(broken, pulse.PublicSucceeded, 3), "output_contract_broken"},
		{stranger, "task_not_found"},
		{w.reviewOf(w.submission(), pulse.PublicFailed, 1), "task_not_found"},
	} {
		if out := w.decide(c.r); code(out.Refusal) != c.code {
			t.Errorf("%s instead of %s", code(out.Refusal), c.code)
		}
	}
	if n := w.rows("receipt") + w.rows("audit") + w.rows("stream_entry") + w.rows("task_event"); n != rows {
		t.Errorf("refusals wrote %d rows", n-rows)
	}
	if out := w.decide(good); out.Refusal != nil {
		t.Error(out.Refusal)
	}
	w.exact()
}

// A task of a workflow is refused by name, by review and by retry: its instance decides about the step as well.
func TestWorkflowTasksAreNotReviewedHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	s := w.submission(named("step"))
	w.submit(s)
	w.complete(w.claimNow(1)[0], pulse.Unknown)
	owner := store.NewID()
	_, err := w.db.Exec("UPDATE task SET source = 4, owner_id = ?, gate_id = ? WHERE task_id = ?", owner[:], owner[:], s.TaskID[:])
	must(t, err)
	if out := w.decide(w.reviewOf(s, pulse.PublicFailed, 3)); code(out.Refusal) != "task_owned_by_workflow" {
		t.Errorf("review: %s", code(out.Refusal))
	}
	if out := w.again(w.retryOf(s.TaskID, 3)); code(out.Refusal) != "task_owned_by_workflow" {
		t.Errorf("retry: %s", code(out.Refusal))
	}
	_, err = w.db.Exec("UPDATE task SET source = 3 WHERE task_id = ?", s.TaskID[:])
	must(t, err)
	if out := w.again(w.retryOf(s.TaskID, 3)); code(out.Refusal) != "task_owned_by_schedule" {
		t.Errorf("retry: %s", code(out.Refusal))
	}
	w.exact()
}

// Decisions meet every fault at every statement, as every other operation of a lane does.
func init() {
	operations = append(operations, operation{"review", func(w *world) (func() error, func() int) {
		for _, g := range w.claimNow(10) { // woken by the review before
			w.complete(g, pulse.Succeeded)
		}
		lost, _ := w.inReview(fmt.Sprint("v", w.seq))
		r := w.reviewOf(lost, pulse.PublicFailed, 3)
		return func() error {
			out, err := w.Review(context.Background(), w.ns, r)
			if out.Refusal != nil {
				return out.Refusal
			}
			return err
		}, func() int { return w.scalar("SELECT COUNT(*) FROM task_review WHERE task_id = ?", lost.TaskID[:]) }
	}}, operation{"manual retry", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		w.cancel(s)
		r := w.retryOf(s.TaskID, 2)
		return func() error {
			out, err := w.Retry(context.Background(), w.ns, r)
			if out.Refusal != nil {
				return out.Refusal
			}
			return err
		}, func() int { return w.scalar("SELECT COUNT(*) FROM task_retry WHERE task_id = ?", s.TaskID[:]) }
	}})
}
