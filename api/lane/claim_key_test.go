package lane_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/lane"
)

func (w *world) keyedClaim(key string, tasks int, question uint32) pulse.Claim {
	c := w.claim(tasks)
	c.Key, c.Question = key, question
	return c
}

func (w *world) ask(c pulse.Claim) []lane.Granted {
	w.Helper()
	got, refusal, err := w.Claim(w.Context(), w.ns, c, 0)
	must(w, err)
	if refusal != nil {
		w.Fatal(refusal)
	}
	return got
}

// T5, T18: a claim whose answer was lost is asked again and gets the same attempts under new tokens. What still holds the
// old tokens, the node that gives undelivered attempts back among them, decides nothing any more.
func TestT18AClaimIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	w.submit(w.submission(named("a")), w.submission(named("b")), w.submission(named("c")))
	first := w.ask(w.keyedClaim("k", 2, 0))
	if names(first) != "a b" {
		t.Fatalf("first %s", names(first))
	}
	again := w.ask(w.keyedClaim("k", 2, 2))
	if names(again) != "a b" || again[0].Task.AttemptNo != 1 || again[0].Task.Token == first[0].Task.Token || string(again[0].Payload.Input) != `{"n":1}` {
		t.Fatalf("again %s %+v", names(again), again[0].Task)
	}
	out, err := w.CompleteOnly(w.report(&first[0].Task, pulse.Returned))
	must(t, err)
	if out.Refusal == nil || out.Refusal.Code != "lease_unknown" {
		t.Errorf("given back with the old token: %+v", out)
	}
	out, err = w.CompleteOnly(w.report(&again[0].Task, pulse.Succeeded))
	must(t, err)
	if out.Status != pulse.ReportAccepted || out.TaskState != pulse.PublicSucceeded {
		t.Errorf("reported with the new token: %+v", out)
	}
	for _, old := range []uint32{0, 1, 2} { // stuck somewhere while a newer one was answered
		if got := w.ask(w.keyedClaim("k", 2, old)); len(got) != 0 {
			t.Errorf("question %d after the second was answered: %s", old, names(got))
		}
	}
	if got := names(w.ask(w.keyedClaim("k", 2, 3))); got != "b" {
		t.Errorf("what still runs: %s", got)
	}
	if _, refusal, err := w.Claim(w.Context(), w.ns, w.keyedClaim("k", 3, 4), 0); err != nil || refusal == nil || refusal.Code != "idempotency_conflict" {
		t.Errorf("another claim under the key: %v %v", refusal, err)
	}
	// A claim asked again that had started nothing is a first one.
	if got := names(w.ask(w.keyedClaim("n", 1, 1))); got != "c" {
		t.Errorf("never answered before: %s", got)
	}
	if got := names(w.ask(w.keyedClaim("n", 1, 0))); got != "" {
		t.Errorf("nothing is left, and yet: %s", got)
	}
	w.exact()
}

// T10: the same claim from 16 callers at once starts each task once. No two of them are given an attempt under the same
// token: a caller that has gone gives its attempts back, and must not give back what another runs.
func TestT10OneClaimKeyManyCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	for range 8 {
		w.submit(w.submission())
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	tokens, busy := map[string]bool{}, 0
	for i := range 16 {
		all.Go(func() {
			got, refusal, err := w.Claim(context.Background(), w.ns, w.keyedClaim("one", 4, uint32(i)), 50*time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			if refusal != nil && refusal.Code == "busy" {
				busy++
				return
			}
			if err != nil || refusal != nil || len(got) != 4 && len(got) != 0 {
				t.Errorf("%d tasks, %v, %v", len(got), refusal, err)
			}
			for i := range got {
				if tokens[got[i].Token()] {
					t.Errorf("one token was given twice")
				}
				tokens[got[i].Token()] = true
			}
		})
	}
	all.Wait()
	if len(tokens) == 0 || len(tokens)%4 != 0 {
		t.Errorf("%d tokens, %d busy", len(tokens), busy)
	}
	if n := w.scalar("SELECT COUNT(*) FROM open_task WHERE state = 2 AND attempt_no = 1"); n != 4 {
		t.Errorf("%d run", n)
	}
	w.exact()
}

// CompleteOnly reports one attempt.
func (w *world) CompleteOnly(r pulse.Report) (pulse.ReportOutcome, error) {
	out, _, _, err := w.Complete(context.Background(), w.ns, []pulse.Report{r}, nil)
	if err != nil {
		return pulse.ReportOutcome{}, err
	}
	return out[0], nil
}
