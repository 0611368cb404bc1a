package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// scheduleRetry is how long a slot waits for room before it is tried again.
const scheduleRetry = 5 * time.Second

// ScheduleFired is what one transaction made of a schedule.
type ScheduleFired struct {
	Slots  int       // decided
	Queues []uint64  // of its tasks, to wake their claims
	More   bool      // there is more to decide at once
	DueAt  time.Time // when to look again; zero: never
}

// FireSchedule decides the slots of one schedule that have come by the database's clock, in one transaction: triggers,
// tasks, counters and the next slot stand or fall together. Any number of nodes may call it for the same schedule; all
// but one find nothing to decide (T3, T13).
//
// lock: 1 identity S, 2 quota X, 4 schedule X, 5 queues X.
func FireSchedule(ctx context.Context, d *tx.DB, namespace, application, schedule uint64) (ScheduleFired, error) {
	f := &fire{application: application, schedule: schedule}
	err := d.Run(ctx, namespace, "fire_schedule", func(ctx context.Context, b tx.Begun) error {
		f.out, f.firing = ScheduleFired{}, firing{ctx: ctx, t: b.Tx}
		return f.run(b)
	})
	if err != nil {
		return ScheduleFired{}, err
	}
	f.out.Queues = f.queues
	return f.out, nil
}

type fire struct {
	firing
	application, schedule uint64
	disabled              string // code of what keeps the application from starting anything
	out                   ScheduleFired
	spec                  *ScheduleSpec
	waiting               *ScheduleSpec
	timing                cron.Timing
	following             *db.ScheduleVersion // the version after the planned one; nil: there is none
}

func (f *fire) run(b tx.Begun) error {
	quotas, place, err := f.lockHead(b)
	if err != nil || place == nil {
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
	open, err := taskOpen(f.ctx, f.t, f.head.LastTaskID)
	if err != nil {
		return err
	}
	return f.apply(cron.Decide(f.plan(open)))
}

// lockHead descends to the schedule and looks at the clock. No place means that nothing is due any more: another node
// was here, or this node's clock is ahead.
func (f *fire) lockHead(b tx.Begun) ([]db.LockQuotasRow, *tx.AfterDefinition, error) {
	_, apps, identified, err := b.LockIdentity(f.ctx, nil, []uint64{f.application})
	if err != nil {
		return nil, nil, err
	}
	f.disabled = disabled(apps)
	quotas, quota, err := identified.LockQuotas(f.ctx, []uint64{f.application})
	if err != nil {
		return nil, nil, err
	}
	head, place, err := quota.LockSchedule(f.ctx, f.schedule)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	now, err := b.Clock(f.ctx)
	if err != nil || head.ApplicationID != f.application || head.DueAt == nil || head.DueAt.After(now) {
		return nil, nil, err
	}
	f.head = &head
	return quotas, &place, nil
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

// load reads the versions a decision may need: the planned one, the one after it, and that of the waiting slot.
func (f *fire) load() (err error) {
	if f.spec, f.timing, err = f.version(f.head.PlanVersion); err != nil {
		return err
	}
	f.waiting, f.following = f.spec, nil
	if v := f.head.WaitingVersion; v != 0 && v != f.head.PlanVersion {
		if f.waiting, _, err = f.version(v); err != nil {
			return err
		}
	}
	if f.head.PlanVersion < f.head.Version {
		row, err := f.row(f.head.PlanVersion + 1)
		f.following = &row
		return err
	}
	return nil
}

func (f *fire) row(version uint32) (db.ScheduleVersion, error) {
	return f.t.Queries().GetScheduleVersion(f.ctx, db.GetScheduleVersionParams{NamespaceID: f.t.Namespace(), ScheduleID: f.schedule, Version: version})
}

func (f *fire) version(version uint32) (*ScheduleSpec, cron.Timing, error) {
	row, err := f.row(version)
	if err != nil {
		return nil, nil, err
	}
	return ReadSchedule(&row, f.application)
}

func (f *fire) queueIDs() []uint64 { return []uint64{f.spec.Task.Queue, f.waiting.Task.Queue} }

// taskOpen reports whether a task has not ended. Only holders of the quota row open and end tasks, so under it the
// answer stands.
func taskOpen(ctx context.Context, t *tx.Tx, task []byte) (bool, error) {
	if len(task) == 0 {
		return false, nil
	}
	rows, err := t.Queries().ListOpenStates(ctx, db.ListOpenStatesParams{NamespaceID: t.Namespace(), TaskIds: [][]byte{task}})
	return len(rows) > 0, err
}

func (f *fire) plan(open bool) cron.Plan {
	p := cron.Plan{
		Timing: f.timing, Policy: f.spec.Policy, Now: f.now, Last: f.head.LastAt, Next: Time(f.head.NextAt), Paused: f.head.Paused == 1,
		SkipBefore: f.head.SkipBefore, Waiting: Time(f.head.WaitingAt), Open: open, InputBytes: len(f.spec.Task.Input), Admit: f.room,
	}
	if f.following != nil {
		p.Until = f.following.EffectiveFrom
	}
	return p
}

// room is Plan.Admit.
func (f *fire) room(waited bool) (string, bool) {
	if f.disabled != "" {
		return f.disabled, false
	}
	if refusal := f.admit(f.of(waited)); refusal != nil {
		return refusal.Code, false
	}
	return "", true
}

func (f *fire) of(waited bool) *ScheduleSpec {
	if waited {
		return f.waiting
	}
	return f.spec
}

// apply writes what was decided and where planning stands now.
func (f *fire) apply(d cron.Decision) error {
	last := f.head.LastTaskID
	for _, slot := range d.Slots {
		g := trigger{version: f.head.PlanVersion, at: slot.At, origin: OriginSlot, outcome: slot.Outcome, into: slot.Into, reason: slot.Reason}
		if slot.Clock {
			g.origin = OriginClock
		}
		if slot.Waited {
			g.version = f.head.WaitingVersion
		}
		if slot.Outcome == cron.Fired {
			g.task = f.of(slot.Waited)
		}
		if _, task := f.add(g); !task.Zero() {
			last = append([]byte{}, task[:]...)
		}
	}
	if err := f.write(); err != nil {
		return err
	}
	return f.moveHead(&d, last)
}

func (f *fire) moveHead(d *cron.Decision, lastTask []byte) error {
	p := db.UpdateSchedulePlanParams{
		PlanVersion: f.head.PlanVersion, LastAt: d.Last, NextAt: timeOrNull(d.Next), WaitingAt: timeOrNull(d.Waiting),
		WaitingVersion: f.waitingVersion(d), LastTaskID: lastTask, NamespaceID: f.t.Namespace(), ScheduleID: f.schedule,
	}
	if d.Ended {
		_, timing, err := ReadSchedule(f.following, f.application)
		if err != nil {
			return err
		}
		p.PlanVersion, p.LastAt = f.following.Version, f.following.EffectiveFrom
		next, _ := timing.Next(p.LastAt.Add(-time.Microsecond))
		p.NextAt = timeOrNull(next)
	}
	f.out.DueAt = dueAt(f.now, p.NextAt, d)
	p.DueAt = timeOrNull(f.out.DueAt)
	f.out.Slots, f.out.More = len(d.Slots), d.More || d.Ended && p.DueAt != nil && !p.DueAt.After(f.now)
	rows, err := f.t.Queries().UpdateSchedulePlan(f.ctx, p)
	return tx.Affected(rows, err)(1)
}

func (f *fire) waitingVersion(d *cron.Decision) uint32 {
	switch {
	case d.Waiting.IsZero():
		return 0
	case d.Waiting.Equal(Time(f.head.WaitingAt)):
		return f.head.WaitingVersion
	}
	return f.head.PlanVersion
}

// dueAt is when a runner must look again. A waiting slot is looked at in every scan: the end of the task before it
// gives no sign.
func dueAt(now time.Time, next *time.Time, d *cron.Decision) time.Time {
	switch {
	case d.Blocked != "":
		return now.Add(scheduleRetry)
	case d.More || !d.Waiting.IsZero():
		return now
	}
	return Time(next)
}
