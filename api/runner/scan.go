package runner

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

// view is what one scan knows of a namespace.
type view struct {
	ns      uint64
	now     time.Time
	queues  []uint64
	open    int64
	running int64
}

// scan looks for everything that is due in one namespace. quick looks only for delays that are over.
func (r *Runner) scan(ctx context.Context, ns uint64, quick bool) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	v, err := r.look(ctx, ns)
	if err != nil {
		r.complain(ctx, "list queues", err)
		return
	}
	for _, scan := range r.plan(v, quick) {
		if err := scan.run(ctx, v); err != nil {
			r.complain(ctx, scan.name, err)
		}
	}
}

type scanStep struct {
	name string
	run  func(context.Context, view) error
}

// plan lists the scans of this tick: none for what cannot exist, the rare ones rarely.
func (r *Runner) plan(v view, quick bool) []scanStep {
	var steps []scanStep
	add := func(when bool, name string, run func(context.Context, view) error) {
		if when {
			steps = append(steps, scanStep{name, run})
		}
	}
	add(v.open > v.running, "delays", r.delays)
	add(!quick && v.running > 0, "lost leases", r.lost)
	add(!quick && v.open > v.running, "deadlines", r.deadlines)
	add(!quick && v.open > 0 && r.ticks%3 == 0, "free resource keys", r.freeKeys)
	add(!quick, "workflow results", r.inbox)
	add(!quick, "workflow checkpoints", r.advances)
	add(!quick && r.ticks%5 == 0, "workflow signals", r.signals)
	add(true, "schedules", r.schedules)
	add(!quick && r.ticks%60 == 0, "transaction commands", r.commands)
	return steps
}

func (r *Runner) look(ctx context.Context, ns uint64) (view, error) {
	v := view{ns: ns, now: time.Now().Add(r.offset)}
	rows, err := r.q.ListQueueIDs(ctx, db.ListQueueIDsParams{NamespaceID: ns, Limit: 10_000})
	for _, row := range rows {
		v.queues = append(v.queues, row.QueueID)
		v.open, v.running = v.open+row.OpenTasks, v.running+row.RunningAttempts
	}
	return v, err
}

func (r *Runner) delays(ctx context.Context, v view) error {
	return r.due(ctx, v, pulse.Delayed, pulse.DueDelayed, v.now)
}

func (r *Runner) lost(ctx context.Context, v view) error {
	return r.due(ctx, v, pulse.Running, pulse.DueLost, v.now.Add(-engine.LeaseGrace))
}

// due settles every due row of one state, page by page until none is left or the call is over.
func (r *Runner) due(ctx context.Context, v view, state pulse.State, kind pulse.DueKind, until time.Time) error {
	for {
		rows, err := r.q.ListDueTasks(ctx, db.ListDueTasksParams{
			NamespaceID: v.ns, QueueIds: v.queues, State: uint8(state), DueAt: &until, Limit: engine.TransactionItemsMax,
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		dues := make([]pulse.Due, len(rows))
		for i := range rows {
			dues[i] = pulse.Due{Kind: kind, Application: rows[i].ApplicationID, Queue: rows[i].QueueID, Task: store.ID(rows[i].TaskID)}
		}
		if err := r.lanes.Due(ctx, v.ns, dues); err != nil || len(rows) < engine.TransactionItemsMax {
			return err
		}
	}
}

// deadlineOverlap is how far each scan for deadlines goes back behind the last one; everything older is looked at
// again once a minute, for a task that comes back from its worker after its deadline.
const deadlineOverlap = 10 * time.Second

// deadlines ends what waits past its deadline. It does not begin at the beginning every second: what waits for a person
// stays there for days, and would be read each time.
func (r *Runner) deadlines(ctx context.Context, v view) error {
	from := r.expired[v.ns]
	if from.IsZero() || r.ticks%60 == 0 {
		from = time.Unix(0, 0).UTC()
	}
	for {
		rows, err := r.q.ListExpiredTasks(ctx, db.ListExpiredTasksParams{NamespaceID: v.ns, FromDeadlineAt: from, DeadlineAt: v.now, Limit: engine.TransactionItemsMax})
		if err != nil {
			return err
		}
		if len(rows) < engine.TransactionItemsMax {
			r.expired[v.ns] = v.now.Add(-deadlineOverlap)
		}
		if len(rows) == 0 {
			return nil
		}
		dues := make([]pulse.Due, len(rows))
		for i := range rows {
			dues[i] = pulse.Due{Kind: pulse.DueExpired, Application: rows[i].ApplicationID, Queue: rows[i].QueueID, Task: store.ID(rows[i].TaskID)}
		}
		if err := r.lanes.Due(ctx, v.ns, dues); err != nil || len(rows) < engine.TransactionItemsMax {
			return err
		}
	}
}

// freeKeys wakes a waiter of every key that nobody holds: a release wakes one at once, and this finds those that the
// first one did not lead to.
func (r *Runner) freeKeys(ctx context.Context, v view) error {
	nobody := engine.ID{}
	rows, err := r.q.ListFreeResources(ctx, db.ListFreeResourcesParams{NamespaceID: v.ns, TaskID: nobody[:], Limit: candidatesMax})
	if err != nil || len(rows) == 0 {
		return err
	}
	apps, err := r.q.ListApplications(ctx, db.ListApplicationsParams{NamespaceID: v.ns, Limit: 1})
	if err != nil || len(apps) == 0 {
		return err
	}
	dues := make([]pulse.Due, len(rows))
	for i := range rows {
		dues[i] = pulse.Due{Kind: pulse.DueKey, Application: apps[0].ApplicationID, Key: string(rows[i].ResourceKey)}
	}
	return r.lanes.Due(ctx, v.ns, dues)
}

func (r *Runner) inbox(ctx context.Context, v view) error {
	rows, err := r.q.ListDueInbox(ctx, db.ListDueInboxParams{NamespaceID: v.ns, PendingAt: &v.now, Limit: candidatesMax})
	var instances []engine.ID
	for i := range rows {
		instances = append(instances, store.ID(rows[i].InstanceID))
	}
	if len(instances) > 0 {
		r.lanes.Advance(v.ns, instances)
	}
	return err
}

// advances hands on what is due, page by page, and sets the alarm for the first that is due before the next tick but
// one: a timer does not wait for a tick.
func (r *Runner) advances(ctx context.Context, v view) error {
	after := db.ListDueAdvancesParams{NamespaceID: v.ns, AfterAt: time.Unix(0, 0).UTC(), AfterID: []byte{}, UntilAt: v.now.Add(2 * r.tick), Limit: candidatesMax}
	for {
		rows, err := r.q.ListDueAdvances(ctx, after)
		if err != nil {
			return err
		}
		var instances []engine.ID
		for i := range rows {
			if rows[i].DueAt.After(v.now) {
				r.NoteClock(v.ns, rows[i].DueAt.Add(seenSlack))
				rows = nil
				break
			}
			instances = append(instances, store.ID(rows[i].InstanceID))
		}
		if len(instances) > 0 {
			r.lanes.Advance(v.ns, instances)
		}
		if len(rows) < candidatesMax {
			return nil
		}
		last := &rows[len(rows)-1]
		after.AfterAt, after.AfterID = last.DueAt, last.InstanceID
	}
}

// ring looks for the checkpoints of one namespace that have just become due, and for nothing else.
func (r *Runner) ring(ctx context.Context, ns uint64) {
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	if err := r.advances(ctx, view{ns: ns, now: time.Now().Add(r.offset)}); err != nil {
		r.complain(ctx, "workflow checkpoints", err)
	}
}

// signals hands on instances in which a signal has expired unread.
func (r *Runner) signals(ctx context.Context, v view) error {
	rows, err := r.q.ListDueSignals(ctx, db.ListDueSignalsParams{NamespaceID: v.ns, PendingAt: &v.now, Limit: candidatesMax})
	var instances []engine.ID
	for i := range rows {
		instances = append(instances, store.ID(rows[i].InstanceID))
	}
	if len(instances) > 0 {
		r.lanes.Advance(v.ns, instances)
	}
	return err
}
