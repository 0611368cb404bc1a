package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// SchedulesPerTransaction bounds the schedules of one transaction. They share its ladder and its commit; more would
// only hold the quota row longer.
const SchedulesPerTransaction = 32

// ScheduleFired is what one transaction made.
type ScheduleFired struct {
	Queues []uint64        // of its tasks, to wake their claims
	More   []uint64        // schedules with more to decide at once
	Late   []time.Duration // how long after its time each slot was fired, by the database's clock
}

// FireSchedules decides the slots of schedules of one application that have come by the database's clock, in one
// transaction: triggers, tasks, counters and the next slots stand or fall together. Any number of nodes may call it for
// the same schedules; all but one find nothing to decide (T3, T13). If it fails for a reason of its contents, each
// schedule is decided alone, so that a broken one stops no other; its error is returned.
//
// lock: 1 identity S, 2 quota X, 4 schedules X, 5 queues X.
func FireSchedules(ctx context.Context, d *tx.DB, namespace, application uint64, schedules []uint64) (ScheduleFired, error) {
	out, err := fireOnce(ctx, d, namespace, application, schedules)
	if err == nil || len(schedules) == 1 || passing(ctx, err) {
		return out, err
	}
	var first error
	for _, id := range schedules {
		one, err := fireOnce(ctx, d, namespace, application, []uint64{id})
		if err != nil && first == nil {
			first = err
		}
		if passing(ctx, err) {
			break
		}
		out.Queues, out.More, out.Late = append(out.Queues, one.Queues...), append(out.More, one.More...), append(out.Late, one.Late...)
	}
	return out, first
}

// passing reports an error that says nothing about the schedules: the same call may succeed later.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, tx.ErrBusy) || errors.Is(err, tx.ErrUnavailable) || errors.Is(err, tx.ErrOutcomeUnknown)
}

func fireOnce(ctx context.Context, d *tx.DB, namespace, application uint64, schedules []uint64) (ScheduleFired, error) {
	f := &fire{application: application, schedules: schedules}
	err := d.Run(ctx, namespace, "fire_schedules", func(ctx context.Context, b tx.Begun) error {
		f.more, f.plans, f.firing = nil, nil, firing{ctx: ctx, t: b.Tx}
		return f.run(b)
	})
	if err != nil {
		return ScheduleFired{}, err
	}
	return ScheduleFired{Queues: f.queues, More: f.more, Late: f.late()}, nil
}

type fire struct {
	firing
	application uint64
	schedules   []uint64
	disabled    string // code of what keeps the application from starting anything
	plans       []*schedulePlan
	more        []uint64
}

func (f *fire) run(b tx.Begun) error {
	quotas, place, err := f.lockHeads(b)
	if err != nil || len(f.plans) == 0 {
		return err
	}
	if err := f.load(); err != nil {
		return err
	}
	queues, _, err := place.LockQueues(f.ctx, f.queueIDs())
	if err != nil {
		return err
	}
	f.now, f.usage = b.Now(), pulse.NewUsage(Quotas(quotas), Queues(queues))
	if err := f.lookAtTasks(); err != nil {
		return err
	}
	return f.decide()
}

// lockHeads descends to the schedules and looks at the clock. No plans mean that nothing is due any more: another node
// was here, or this node's clock is ahead.
func (f *fire) lockHeads(b tx.Begun) ([]db.LockQuotasRow, tx.AfterDefinition, error) {
	var none tx.AfterDefinition
	_, apps, identified, err := b.LockIdentity(f.ctx, nil, []uint64{f.application})
	if err != nil {
		return nil, none, err
	}
	f.disabled = disabled(apps)
	quotas, quota, err := identified.LockQuotas(f.ctx, []uint64{f.application})
	if err != nil {
		return nil, none, err
	}
	heads, place, err := quota.LockSchedules(f.ctx, f.schedules)
	if err != nil {
		return nil, none, err
	}
	now, err := b.Clock(f.ctx)
	for i := range heads {
		if h := &heads[i]; h.ApplicationID == f.application && h.DueAt != nil && !h.DueAt.After(now) {
			f.plans = append(f.plans, &schedulePlan{head: h})
		}
	}
	return quotas, place, err
}

func disabled(apps []db.LockApplicationsRow) string {
	switch {
	case len(apps) != 1 || apps[0].ApplicationStatus != 1:
		return "application_disabled"
	case apps[0].NamespaceStatus != 1:
		return "namespace_disabled"
	}
	return ""
}

// load reads the versions the decisions need: the planned ones in one statement, those after them and those of waiting
// slots where there are any.
func (f *fire) load() error {
	ids := make([]uint64, len(f.plans))
	for i, p := range f.plans {
		ids[i] = p.head.ScheduleID
	}
	rows, err := f.t.Queries().ListPlannedVersions(f.ctx, db.ListPlannedVersionsParams{NamespaceID: f.t.Namespace(), ScheduleIds: ids})
	if err != nil {
		return err
	}
	byID := map[uint64][]*db.ScheduleVersion{}
	for i := range rows {
		byID[rows[i].ScheduleID] = append(byID[rows[i].ScheduleID], &rows[i])
	}
	for _, p := range f.plans {
		known := byID[p.head.ScheduleID]
		for _, version := range p.others() {
			row, err := f.t.Queries().GetScheduleVersion(f.ctx, db.GetScheduleVersionParams{NamespaceID: f.t.Namespace(), ScheduleID: p.head.ScheduleID, Version: version})
			if err != nil {
				return err
			}
			known = append(known, &row)
		}
		if err := p.read(known); err != nil {
			return fmt.Errorf("schedule_%016x: %w", p.head.ScheduleID, err)
		}
	}
	return nil
}

func (f *fire) queueIDs() []uint64 {
	var ids []uint64
	for _, p := range f.plans {
		ids = append(ids, p.spec.Task.Queue, p.waiting.Task.Queue)
	}
	return ids
}

// lookAtTasks asks whether the last tasks have ended, where a decision depends on it. Only holders of the quota row open
// and end tasks, so under it the answer stands.
func (f *fire) lookAtTasks() error {
	var tasks []engine.ID
	for _, p := range f.plans {
		if p.asksForTask() {
			tasks = append(tasks, ID(p.head.LastTaskID))
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	rows, err := f.t.Queries().ListOpenStates(f.ctx, db.ListOpenStatesParams{NamespaceID: f.t.Namespace(), TaskIds: Bytes(tasks)})
	open := map[engine.ID]bool{}
	for i := range rows {
		open[ID(rows[i].TaskID)] = true
	}
	for _, p := range f.plans {
		p.open = p.asksForTask() && open[ID(p.head.LastTaskID)]
	}
	return err
}
