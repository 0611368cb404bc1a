package tx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// C6: the link is cut exactly at COMMIT, on either side. The client sees the same error; the transaction's own row
// tells what happened, and the closure runs again exactly when it has to.
func TestACommitCutOnEitherSideIsResolved(t *testing.T) {
	s := newStand(t, 4, "")
	const each = 60
	var wrong int
	resolved := map[string]int{}
	began := time.Now()
	for i := range each * 3 {
		moment := []proxy.Moment{proxy.Before, proxy.Sent, proxy.Answered}[i%3]
		s.forget()
		rule := s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, When: moment, Do: proxy.Cut, Times: 1})
		id := effect()
		err := s.run(t.Context(), id)
		if rule.Fired() != 1 {
			t.Fatalf("round %d: the rule fired %d times", i, rule.Fired())
		}
		if err != nil || s.effects(id) != 1 {
			wrong++
			t.Errorf("round %d, cut at moment %d: %v, %d effects", i, moment, err, s.effects(id))
		}
		// Sent may fall on either side; the others may not.
		committed, rolledBack := s.count("unknown_committed"), s.count("unknown_rolled_back")
		if moment == proxy.Before && rolledBack != 1 || moment == proxy.Answered && committed != 1 || committed+rolledBack != 1 {
			wrong++
			t.Errorf("round %d, cut at moment %d: resolved as committed %d, as rolled back %d", i, moment, committed, rolledBack)
		}
		resolved["committed"] += committed
		resolved["rolled back"] += rolledBack
	}
	t.Logf("COMMIT cut %d before, %d on its way, %d after: resolved as committed %d, as rolled back %d, wrongly resolved %d, %v", each, each, each,
		resolved["committed"], resolved["rolled back"], wrong, time.Since(began).Round(time.Millisecond))
}

// The server refuses at COMMIT, or says so although it has committed.
func TestACommitAnsweredByAnErrorIsResolved(t *testing.T) {
	s := newStand(t, 4, "")
	for _, code := range []uint16{1180, 1213, 1290, 1317, 3101} {
		for _, moment := range []proxy.Moment{proxy.Before, proxy.Answered} {
			s.forget()
			rule := s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, When: moment, Do: proxy.Fail, Code: code, Rollback: moment == proxy.Before, Times: 1})
			id := effect()
			if err := s.run(t.Context(), id); err != nil || s.effects(id) != 1 || rule.Fired() != 1 {
				t.Errorf("%d at moment %d: %v, %d effects, fired %d", code, moment, err, s.effects(id), rule.Fired())
			}
			if want := []string{"unknown_rolled_back", "unknown_committed"}[moment/2]; s.count(want) != 1 {
				t.Errorf("%d at moment %d was not resolved as %s", code, moment, want)
			}
		}
	}
}

// The answer is lost and no server can be asked: the caller is told that the outcome is unknown, in bounded time, and
// asking again with the same identity finds the truth.
func TestParallelAnOutcomeNobodyCanTellIsSaidToBeUnknown(t *testing.T) {
	t.Parallel() // waits the whole 20 s that a resolution may take
	s := newStand(t, 2, "&timeout=500ms&readTimeout=500ms")
	s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, When: proxy.Answered, Do: proxy.Cut, Times: 1})
	id := effect()
	began := time.Now()
	err := s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
		defer s.proxy.SetLink(proxy.Link{Refuse: true})
		return s.climbAndWrite(ctx, b, id)
	})
	if !errors.Is(err, tx.ErrOutcomeUnknown) || s.count("unknown") != 1 {
		t.Errorf("answered %v", err)
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("took %v", took)
	}
	if s.effects(id) != 1 {
		t.Error("the COMMIT that was answered is gone")
	}
}

// While the old session still lives, the question waits behind it instead of guessing.
func TestParallelTheQuestionWaitsForASessionThatStillDecides(t *testing.T) {
	t.Parallel()
	s := newStand(t, 4, "&readTimeout=700ms")
	s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, When: proxy.Before, Do: proxy.Freeze, Times: 1})
	id := effect()
	done := make(chan error, 1)
	go func() { done <- s.run(context.Background(), id) }()
	select {
	case err := <-done:
		t.Fatalf("answered %v while the session lived with its locks", err)
	case <-time.After(2500 * time.Millisecond):
	}
	s.proxy.CutAll()
	if err := <-done; err != nil || s.effects(id) != 1 {
		t.Errorf("%v, %d effects", err, s.effects(id))
	}
}
