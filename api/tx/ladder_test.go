package tx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/tx"
)

// The types cannot forbid that a value is used twice; the transaction remembers its rung and refuses before it asks
// the server.
func TestALockAboveTheLastOneIsRefusedBeforeItIsSent(t *testing.T) {
	s := newStand(t, 2, "")
	ids := [][]byte{effect()}
	for name, climb := range map[string]func(context.Context, tx.Begun) error{
		"identity after quota": func(ctx context.Context, b tx.Begun) error {
			s.toQuota(ctx, b)
			s.proxy.ResetCounters()
			_, _, _, err := b.LockIdentity(ctx, []uint64{s.key}, nil)
			return err
		},
		"quota after queue": func(ctx context.Context, b tx.Begun) error {
			identified, q := s.toQuota(ctx, b)
			_, _, err := q.LockQueues(ctx, []uint64{1})
			must(t, err)
			s.proxy.ResetCounters()
			_, _, err = identified.LockQuotas(ctx, []uint64{s.app})
			return err
		},
		"queue after tasks": func(ctx context.Context, b tx.Begun) error {
			_, q := s.toQuota(ctx, b)
			_, err := q.LockOpenTasks(ctx, ids)
			must(t, err)
			s.proxy.ResetCounters()
			_, _, err = q.LockQueues(ctx, []uint64{1})
			return err
		},
		"instance after gate": func(ctx context.Context, b tx.Begun) error {
			_, q := s.toQuota(ctx, b)
			_, _, err := q.LockGates(ctx, ids)
			must(t, err)
			s.proxy.ResetCounters()
			_, _, err = q.LockInstances(ctx, ids)
			return err
		},
		"task after stream": func(ctx context.Context, b tx.Begun) error {
			_, q := s.toQuota(ctx, b)
			_, _, err := q.LockStream(ctx)
			must(t, err)
			s.proxy.ResetCounters()
			_, err = q.LockOpenTasks(ctx, ids)
			return err
		},
		"definition after queue": func(ctx context.Context, b tx.Begun) error {
			_, q := s.toQuota(ctx, b)
			_, _, err := q.LockQueues(ctx, []uint64{1})
			must(t, err)
			s.proxy.ResetCounters()
			_, _, err = q.LockDefinition(ctx, s.app, "d", time.Now())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var refused error
			_ = s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
				refused = climb(ctx, b)
				if n := s.proxy.Count(nil); n != 0 {
					t.Errorf("%d statements were sent", n)
				}
				return refused
			})
			if !errors.Is(refused, tx.ErrLadder) {
				t.Errorf("answered %v", refused)
			}
		})
	}
}

func (s *stand) toQuota(ctx context.Context, b tx.Begun) (tx.Identified, tx.AfterQuota) {
	s.Helper()
	_, _, identified, err := b.LockIdentity(ctx, []uint64{s.key}, nil)
	must(s, err)
	_, q, err := identified.LockQuotas(ctx, []uint64{s.app})
	must(s, err)
	return identified, q
}

// One time for the whole transaction, read after the last wait, in microseconds.
func TestATransactionHasOneClock(t *testing.T) {
	s := newStand(t, 2, "")
	must(t, s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
		first, err := b.Clock(ctx)
		must(t, err)
		time.Sleep(3 * time.Millisecond)
		second, err := b.Clock(ctx)
		if err != nil || !first.Equal(second) || !first.Equal(b.Now()) || first.Location() != time.UTC || first.Nanosecond()%1000 != 0 {
			t.Errorf("%v, then %v (%v)", first, second, err)
		}
		return nil
	}))
}

// A transaction that wrote nothing costs no COMMIT and no row of its own.
func TestATransactionThatWroteNothingLeavesNoRow(t *testing.T) {
	s := newStand(t, 2, "")
	must(t, s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
		s.toQuota(ctx, b)
		return nil
	}))
	var n int
	must(t, s.direct.QueryRow("SELECT COUNT(*) FROM tx_command WHERE namespace_id = ?", s.ns).Scan(&n))
	before := n
	must(t, s.run(t.Context(), effect()))
	must(t, s.direct.QueryRow("SELECT COUNT(*) FROM tx_command WHERE namespace_id = ?", s.ns).Scan(&n))
	if n != before+1 || s.count("commit") != 1 {
		t.Errorf("%d rows before, %d after one write; %d commits", before, n, s.count("commit"))
	}
}
