package store

import (
	"context"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// BackfillSlotsMax bounds one call; the answer says where to go on. backfillChunk bounds one of its transactions.
const (
	BackfillSlotsMax = 1000
	backfillChunk    = 100
)

// BackfillOutcome is what a backfill did with one slot.
type BackfillOutcome string

// Outcomes of a backfill.
const (
	BackfillFired   BackfillOutcome = "FIRED"         // has a task now
	BackfillWould   BackfillOutcome = "WOULD_FIRE"    // a dry run would have made one
	BackfillAlready BackfillOutcome = "ALREADY_FIRED" // had a task before, by the schedule or by a backfill
	BackfillPending BackfillOutcome = "PENDING"       // the schedule itself has still to decide it
)

// BackfillSlot is one slot of a backfill. Task is zero when there is none.
type BackfillSlot struct {
	At      time.Time
	Outcome BackfillOutcome
	Task    engine.ID
}

// Backfill asks for the slots of [From, Until) by the newest version.
type Backfill struct {
	From, Until time.Time
	DryRun      bool
}

// Backfilled is the answer. Next is where to go on; zero: the range is done. Stopped is the limit that was met there.
type Backfilled struct {
	Version uint32
	Slots   []BackfillSlot
	Next    time.Time
	Stopped *engine.Refusal
	Queue   uint64 // of the tasks, to wake their claims
}

// BackfillSchedule makes a task for every slot of a past range that has none. It is repeated safely, and goes on where
// it ended: a slot with a task keeps it. One transaction holds at most a hundred slots; all of a call use one version.
//
// lock: 1 identity S, 2 quota X, 4 schedule X, 5 queue X.
func BackfillSchedule(ctx context.Context, d *tx.DB, c ScheduleCommand, ask Backfill) (Backfilled, error) {
	out := Backfilled{Next: ask.From}
	for len(out.Slots) < BackfillSlotsMax && !out.Next.IsZero() && out.Stopped == nil {
		part := &backfill{c: c, ask: ask, limit: min(backfillChunk, BackfillSlotsMax-len(out.Slots)), version: out.Version}
		part.ask.From = out.Next
		err := d.Run(ctx, c.Namespace, "backfill_schedule", func(ctx context.Context, b tx.Begun) error {
			part.out = Backfilled{}
			return part.run(ctx, b)
		})
		if err != nil && len(out.Slots) > 0 {
			return out, nil // what is committed is told; Next says where to go on
		}
		if err != nil {
			return out, err
		}
		part.out.Slots = append(out.Slots, part.out.Slots...)
		out = part.out
	}
	return out, nil
}

type backfill struct {
	c       ScheduleCommand
	ask     Backfill
	limit   int
	version uint32 // zero: the newest
	out     Backfilled
}

func (p *backfill) run(ctx context.Context, b tx.Begun) error {
	h, err := p.c.hold(ctx, b, nil)
	if err != nil {
		return err
	}
	if !h.exists {
		return errScheduleGone()
	}
	if p.ask.Until.After(h.now) {
		return unfit("/until", "only the past can be filled: until lies ahead of the database's clock")
	}
	if p.version == 0 {
		p.version = h.head.Version
	}
	row, err := h.version(p.version)
	if err != nil {
		return err
	}
	f, spec, err := h.firing(&row)
	if err != nil {
		return err
	}
	if size := len(spec.Task.Input); size > 0 {
		p.limit = min(p.limit, max(cron.BytesPerDecision/size, 1))
	}
	if err := p.slots(h, f, spec); err != nil || p.ask.DryRun || len(f.triggers) == 0 {
		return err
	}
	if err := f.write(); err != nil {
		return err
	}
	return h.audit("schedule.backfilled", fmt.Sprintf(`{"version":%d,"tasks":%d}`, p.version, len(f.tasks)))
}

// slots goes through the range until it is done, the part is full or a limit is met.
func (p *backfill) slots(h *scheduleHeld, f *firing, spec *ScheduleSpec) error {
	timing, refusal := spec.Timing()
	if refusal != nil {
		return refusal
	}
	p.out.Version, p.out.Queue = p.version, spec.Task.Queue
	list := cron.Slots(timing, p.ask.From, p.ask.Until, p.limit+1)
	if len(list) > p.limit {
		p.out.Next = list[p.limit]
		list = list[:p.limit]
	}
	if len(list) == 0 {
		return nil
	}
	done, err := p.done(h, list[0], list[len(list)-1])
	if err != nil {
		return err
	}
	for _, at := range list {
		slot := BackfillSlot{At: at}
		if task, ok := done[at.UnixMicro()]; ok {
			slot.Outcome, slot.Task = BackfillAlready, task
		} else if pending(&h.head, at) {
			slot.Outcome = BackfillPending
		} else if refusal := f.admit(spec); refusal != nil {
			p.out.Next, p.out.Stopped = at, refusal
			return nil
		} else {
			p.fire(h, f, spec, &slot)
		}
		p.out.Slots = append(p.out.Slots, slot)
	}
	return nil
}

func (p *backfill) fire(h *scheduleHeld, f *firing, spec *ScheduleSpec, slot *BackfillSlot) {
	slot.Outcome = BackfillWould
	if p.ask.DryRun {
		return
	}
	slot.Outcome = BackfillFired
	_, slot.Task = f.add(trigger{schedule: h.head.ScheduleID, version: p.version, at: slot.At, origin: OriginBackfill, outcome: OutcomeBackfill, reason: p.c.Reason, task: spec})
}

// pending: the schedule itself will fire or skip the slot.
func pending(head *db.Schedule, at time.Time) bool {
	return head.NextAt != nil && !at.Before(*head.NextAt) || at.Equal(Time(head.WaitingAt))
}

// done finds the slots of [first, last] that have a task.
func (p *backfill) done(h *scheduleHeld, first, last time.Time) (map[int64]engine.ID, error) {
	rows, err := h.t.Queries().ListScheduleTriggersBetween(h.ctx, db.ListScheduleTriggersBetweenParams{
		NamespaceID: p.c.Namespace, ScheduleID: h.head.ScheduleID, FromAt: first, UntilAt: last.Add(time.Microsecond),
	})
	out := map[int64]engine.ID{}
	for _, r := range rows {
		if len(r.TaskID) > 0 {
			out[r.PlannedAt.UnixMicro()] = ID(r.TaskID)
		}
	}
	return out, err
}
