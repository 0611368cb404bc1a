package tx_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/chaos/proxy"
)

var auditInsert = regexp.MustCompile(`INTO audit `)

// After a deadlock the server has already rolled back, and whatever is sent next commits itself or into the next
// transaction. So nothing is sent: not by a closure that looks away, not by a row read, not by a savepoint.
func TestAfterADeadlockNothingMoreIsSent(t *testing.T) {
	s := newStand(t, 4, "")
	for name, ignore := range map[string]func(context.Context, tx.Begun) error{
		"exec": func(ctx context.Context, b tx.Begun) error { _ = s.write(ctx, b.Tx, effect()); return nil },
		"rows": func(ctx context.Context, b tx.Begun) error {
			_, _, _, _ = b.LockIdentity(ctx, []uint64{s.key}, nil)
			return nil
		},
		"row": func(ctx context.Context, b tx.Begun) error { _, _ = b.Queries().GetStreamHead(ctx, s.ns); return nil },
		"row seen": func(ctx context.Context, b tx.Begun) error {
			_, err := b.Queries().GetStreamHead(ctx, s.ns)
			return err
		},
		"savepoint": func(ctx context.Context, b tx.Begun) error {
			return b.Savepoint(ctx, func() error { return s.write(ctx, b.Tx, effect()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.forget()
			rule := s.proxy.SetRule(proxy.Deadlock(auditInsert))
			id := effect()
			err := s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
				if err := s.climbAndWrite(ctx, b, id); err != nil {
					return ignore(ctx, b) // looks away
				}
				return nil
			})
			if err != nil || s.effects(id) != 1 || rule.Fired() != 1 {
				t.Errorf("%v, %d effects, fired %d", err, s.effects(id), rule.Fired())
			}
			if sent := s.after(auditInsert, 1); len(sent) == 0 || sent[0] != "ROLLBACK" {
				t.Errorf("after the deadlock the same connection was sent %q", sent)
			}
		})
	}
}

// A deadlock inside a savepoint ends the transaction; a duplicate inside one is taken back alone.
func TestSavepoints(t *testing.T) {
	s := newStand(t, 4, "")
	outside, inside := effect(), effect()
	attempt := func(ctx context.Context, b tx.Begun) error {
		if err := s.climbAndWrite(ctx, b, outside); err != nil {
			return err
		}
		err := b.Savepoint(ctx, func() error {
			if err := s.write(ctx, b.Tx, inside); err != nil {
				return err
			}
			return s.write(ctx, b.Tx, outside) // exists: duplicate
		})
		if tx.ClassOf(err) == tx.Duplicate {
			return nil
		}
		return err
	}
	must(t, s.Run(t.Context(), s.ns, "test", attempt))
	if s.effects(outside) != 1 || s.effects(inside) != 0 {
		t.Errorf("outside %d, inside %d; want 1 and 0", s.effects(outside), s.effects(inside))
	}
	own := errors.New("changed its mind")
	kept, left := effect(), effect()
	must(t, s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
		must(t, s.climbAndWrite(ctx, b, kept))
		if err := b.Savepoint(ctx, func() error { return errors.Join(s.write(ctx, b.Tx, left), own) }); !errors.Is(err, own) {
			t.Errorf("savepoint said %v", err)
		}
		return b.Savepoint(ctx, func() error { return nil })
	}))
	if s.effects(kept) != 1 || s.effects(left) != 0 {
		t.Errorf("kept %d, left %d; want 1 and 0", s.effects(kept), s.effects(left))
	}
	for _, code := range []uint16{1213, 1205} {
		s.forget()
		all := effect()
		var runs atomic.Int32
		s.proxy.SetRule(proxy.Rule{Match: auditInsert, After: 1, Times: 1, Do: proxy.Fail, Code: code, Rollback: code == 1213})
		must(t, s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
			runs.Add(1)
			if err := s.climbAndWrite(ctx, b, all); err != nil {
				return err
			}
			return b.Savepoint(ctx, func() error { return s.write(ctx, b.Tx, effect()) })
		}))
		sent := s.after(auditInsert, 2)
		back := len(sent) > 0 && sent[0] == "ROLLBACK TO SAVEPOINT orbit_1"
		if runs.Load() != 2 || s.effects(all) != 1 || back != (code == 1205) {
			t.Errorf("%d inside a savepoint: %d runs, %d effects, then %q", code, runs.Load(), s.effects(all), sent)
		}
	}
}

// A real deadlock of two transactions, made by writes whose order the ladder does not know: one is retried, both end.
func TestARealDeadlockIsRetriedWhole(t *testing.T) {
	s := newStand(t, 4, "")
	second := s.app + 1
	_, err := s.direct.Exec("INSERT INTO quota SELECT namespace_id, ?, 1, 1, 1, 1, 0, 0, 0, 0 FROM quota WHERE application_id = ?", second, s.app)
	must(t, err)
	both := make(chan struct{}, 2)
	cross := func(first, then uint64, id []byte) error {
		runs := 0
		return s.Run(context.Background(), s.ns, "cross", func(ctx context.Context, b tx.Begun) error {
			if err := s.touch(ctx, b, first); err != nil {
				return err
			}
			if runs++; runs == 1 {
				both <- struct{}{}
				for len(both) < 2 {
					time.Sleep(time.Millisecond)
				}
			}
			if err := s.touch(ctx, b, then); err != nil {
				return err
			}
			return s.write(ctx, b.Tx, id)
		})
	}
	a, c := effect(), effect()
	done := make(chan error, 1)
	go func() { done <- cross(s.app, second, a) }()
	must(t, cross(second, s.app, c))
	must(t, <-done)
	if s.effects(a, c) != 2 || s.count("retry") != 1 {
		t.Errorf("%d effects, %d retries", s.effects(a, c), s.count("retry"))
	}
}

func (s *stand) touch(ctx context.Context, b tx.Begun, application uint64) error {
	_, err := b.Queries().UpdateQuotaLimits(ctx, db.UpdateQuotaLimitsParams{OpenTasksMax: 9, RunningAttemptsMax: 9, OpenInstancesMax: 9, OpenPayloadBytesMax: 9, NamespaceID: s.ns, ApplicationID: application})
	return err
}

// A real lock wait: five seconds, an explicit ROLLBACK (the server has only undone the statement), another try.
func TestParallelARealLockTimeoutIsRolledBackExplicitly(t *testing.T) {
	t.Parallel()
	s := newStand(t, 4, "")
	holder, err := s.direct.Begin()
	must(t, err)
	var n int
	must(t, holder.QueryRow("SELECT open_tasks FROM quota WHERE namespace_id = ? AND application_id = ? FOR UPDATE", s.ns, s.app).Scan(&n))
	go func() {
		time.Sleep(8 * time.Second)
		_ = holder.Rollback()
	}()
	id := effect()
	must(t, s.run(t.Context(), id))
	codes := map[uint16]int{}
	for _, e := range s.events {
		if e.Kind == "retry" {
			codes[e.Code]++
		}
	}
	if s.effects(id) != 1 || fmt.Sprint(codes) != "map[1205:1]" {
		t.Errorf("%d effects, retries by code %v", s.effects(id), codes)
	}
	if sent := s.after(quotaLock, 1); len(sent) == 0 || sent[0] != "ROLLBACK" {
		t.Errorf("after the timeout the connection was sent %q", sent)
	}
}

// Locks that never come end as busy, not as a hang.
func TestLocksThatNeverComeEndAsBusy(t *testing.T) {
	s := newStand(t, 4, "")
	rule := s.proxy.SetRule(proxy.Rule{Match: quotaLock, Do: proxy.Fail, Code: 1205})
	began := time.Now()
	id := effect()
	if err := s.run(t.Context(), id); !errors.Is(err, tx.ErrBusy) {
		t.Errorf("answered %v", err)
	}
	if rule.Fired() != tx.Tries || s.effects(id) != 0 || time.Since(began) > 5*time.Second {
		t.Errorf("%d tries, %d effects, %v", rule.Fired(), s.effects(id), time.Since(began))
	}
	if n := s.proxy.Count(rollback); n != tx.Tries {
		t.Errorf("%d rollbacks of %d tries", n, tx.Tries)
	}
}

// No server, a server that closes, one that is silent, one that is full: unavailable, in bounded time, nothing written.
func TestADatabaseThatIsNotThereIsUnavailableSoon(t *testing.T) {
	s := newStand(t, 2, "&timeout=300ms&readTimeout=300ms")
	must(t, s.run(t.Context(), effect()))
	for name, trouble := range map[string]func(){
		"refused":   func() { s.proxy.SetLink(proxy.Link{Refuse: true}); s.proxy.CutAll() },
		"silent":    func() { s.proxy.SetLink(proxy.Link{DropToClient: true}) },
		"frozen":    func() { s.proxy.FreezeAll(); s.proxy.SetLink(proxy.Link{DropToServer: true}) },
		"full":      func() { s.proxy.SetRule(proxy.Rule{Do: proxy.Fail, Code: 1040}); s.proxy.CutAll() },
		"read-only": func() { s.proxy.SetRule(proxy.Rule{Match: auditInsert, Do: proxy.Fail, Code: 1290}) },
	} {
		t.Run(name, func(t *testing.T) {
			trouble()
			began := time.Now()
			id := effect()
			err := s.run(t.Context(), id)
			if !errors.Is(err, tx.ErrUnavailable) {
				t.Errorf("answered %v", err)
			}
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("took %v", took)
			}
			s.proxy.SetLink(proxy.Link{})
			s.proxy.CutAll()
			s.forget()
			if s.effects(id) != 0 {
				t.Error("something was written")
			}
			must(t, s.run(t.Context(), id))
		})
	}
}

// A caller's deadline that passes inside means: nothing was committed, come again.
func TestADeadlineThatPassesInsideIsUnavailable(t *testing.T) {
	s := newStand(t, 2, "")
	s.proxy.SetRule(proxy.Rule{Match: quotaLock, Do: proxy.Wait, Delay: 400 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	id := effect()
	if err := s.run(ctx, id); !errors.Is(err, tx.ErrUnavailable) || s.effects(id) != 0 {
		t.Errorf("answered %v, %d effects", err, s.effects(id))
	}
}

// What a panic leaves on a connection meets nobody: no lock, no half-written row in the next transaction.
func TestAPanicLeavesNothingOnTheConnection(t *testing.T) {
	s := newStand(t, 1, "")
	lost, kept := effect(), effect()
	func() {
		defer func() { _ = recover() }()
		_ = s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
			must(t, s.climbAndWrite(ctx, b, lost))
			panic("a bug")
		})
	}()
	must(t, s.run(t.Context(), kept))
	if s.effects(lost) != 0 || s.effects(kept) != 1 {
		t.Errorf("lost %d, kept %d; want 0 and 1", s.effects(lost), s.effects(kept))
	}
}
