package lane

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// runPulse runs one transaction of tasks, if anything waits, and returns how many callers it served.
func (l *Lane) runPulse() int {
	g := l.take()
	if len(g.items) == 0 {
		return 0
	}
	began := time.Now()
	changes, err := l.transact(g)
	l.set.opt.Observe(Observation{"pulse", len(g.items), l.depth(), len(l.waiting), time.Since(began), err, nil})
	if alone(err) && len(g.items) > 1 {
		l.oneByOne(g)
		return len(g.items)
	}
	l.settle(g, changes, err)
	return len(g.items)
}

// duplicatesMax bounds how often one group meets rows that others have just written.
const duplicatesMax = 4

// transact decides and writes one group. A repeated key shows as a duplicate row, and so does a resource key that
// another application has just taken; then the rows are there to be read.
func (l *Lane) transact(g *group) (*pulse.Changes, error) {
	ctx, cancel := l.context()
	defer cancel()
	hints := store.LoadHints{PoolFactor: l.widen}
	changes, out, err := l.pulse(ctx, g, hints)
	for try := 1; tx.ClassOf(err) == tx.Duplicate && try < duplicatesMax; try++ {
		hints.LookUpReceipts = true
		changes, out, err = l.pulse(ctx, g, hints)
	}
	if err == nil {
		g.split(out)
	}
	return changes, err
}

// pulse is the transaction of tasks: climb and load, decide, write, commit.
//
// lock: identity S, quotas X, queues X, gates S, open tasks X, resource locks X, key waits X, stream X.
func (l *Lane) pulse(ctx context.Context, g *group, hints store.LoadHints) (*pulse.Changes, pulse.Outcomes, error) {
	var out pulse.Outcomes
	var changes pulse.Changes
	g.batch.Secret = engine.ID(uuid.New())
	err := l.set.db.Run(ctx, l.namespace, "pulse", func(ctx context.Context, b tx.Begun) (err error) {
		defer recovered(&err) // a state that cannot be ends its own transaction and not the node
		snapshot, place, err := store.LoadPulse(ctx, b, &g.batch, hints)
		if err != nil {
			return err
		}
		out, changes = pulse.Decide(snapshot, &g.batch)
		if !hints.LookUpReceipts && refusedUnseen(out) {
			if err := store.LoadSubmitReceipts(ctx, b.Tx, &g.batch, snapshot); err != nil {
				return err
			}
			out, changes = pulse.Decide(snapshot, &g.batch)
		}
		if changes.Empty() {
			return nil
		}
		return store.ApplyPulse(ctx, place, snapshot, &changes)
	})
	return &changes, out, err
}

// refusedUnseen reports a submission that met a limit before anybody asked whether its key is known: a known key is
// answered first, whatever is full (pulse.md Task).
func refusedUnseen(out pulse.Outcomes) bool {
	return slices.ContainsFunc(out.Submissions, func(o pulse.SubmitOutcome) bool { return o.Refusal != nil && o.Refusal.Code != "submission_conflict" })
}

// alone reports an error that one item may have caused for all: then each runs by itself, so that no item can take
// another down.
func alone(err error) bool {
	return err != nil && !errors.Is(err, tx.ErrBusy) && !errors.Is(err, tx.ErrUnavailable) && !errors.Is(err, tx.ErrOutcomeUnknown)
}

func (l *Lane) oneByOne(g *group) {
	for _, it := range g.items {
		single := &group{}
		single.add(it)
		single.merge()
		changes, err := l.transact(single)
		l.settle(single, changes, err)
	}
}

// settle answers the items of a finished transaction and passes on what it made ready.
func (l *Lane) settle(g *group, changes *pulse.Changes, err error) {
	if err != nil {
		if alone(err) {
			l.set.opt.OnInternal(err)
		}
		for _, it := range g.items {
			it.err = err
			close(it.done)
		}
		return
	}
	var given []*item
	now := time.Now()
	for _, it := range g.items {
		switch {
		case len(it.started()) > 0:
			given = append(given, it)
		case it.onlyClaims() && !it.refused() && !it.replayed() && now.Before(it.until) && !it.left():
			l.waiting = append(l.waiting, it)
		default:
			close(it.done)
		}
	}
	l.follow(changes) // wakes also the claims that have just begun to wait
	if len(given) > 0 {
		l.delivery(1)
		l.set.wg.Go(func() {
			l.deliver(given)
			l.delivery(-1)
		})
	}
}

// delivery counts what is on its way to callers; the lane does not end before it.
func (l *Lane) delivery(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delivering += n
	l.signal()
}

// follow acts on what a commit made due.
func (l *Lane) follow(c *pulse.Changes) {
	if c.Widen {
		l.widen = min(4*max(l.widen, 1), engine.ParkPerPlanMax)
	} else {
		l.widen = 1
	}
	if len(c.Stream) > 0 {
		l.set.opt.OnStream(l.namespace)
	}
	for _, d := range c.DelayedUntil {
		l.set.opt.OnDelayed(l.namespace, d.At)
	}
	for _, w := range c.RateWaits {
		l.tokens[w.Queue] = time.Now().Add(w.In)
	}
	for _, q := range c.ReadyElsewhere {
		l.mark(q)
	}
	if c.MoreForClaims {
		l.readyAll()
	}
	var instances []engine.ID
	for i := range c.Inbox {
		instances = append(instances, c.Inbox[i].Instance)
	}
	if len(instances) > 0 {
		l.advance(instances)
	}
}

// readyAll lets every waiting claim look again.
func (l *Lane) readyAll() {
	for _, it := range l.waiting {
		for i := range it.batch.Claims {
			for _, q := range it.batch.Claims[i].Queues {
				l.mark(q)
			}
		}
	}
}
