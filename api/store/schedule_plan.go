package store

import (
	"errors"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// scheduleRetry is how long a slot waits for room before it is tried again.
const scheduleRetry = 5 * time.Second

// schedulePlan is one due schedule in the hands of a transaction.
type schedulePlan struct {
	head      *db.Schedule
	spec      *ScheduleSpec // of the version that Next belongs to
	timing    cron.Timing
	waiting   *ScheduleSpec       // of the version of the waiting slot
	following *db.ScheduleVersion // the version after the planned one; nil: there is none
	open      bool                // the last task has not ended
}

// others are the versions it needs beside the planned one.
func (p *schedulePlan) others() (versions []uint32) {
	if p.head.PlanVersion < p.head.Version {
		versions = append(versions, p.head.PlanVersion+1)
	}
	if w := p.head.WaitingVersion; w != 0 && w != p.head.PlanVersion {
		versions = append(versions, w)
	}
	return versions
}

// read finds the plan's versions among the rows of its schedule.
func (p *schedulePlan) read(rows []*db.ScheduleVersion) (err error) {
	for _, row := range rows {
		if row.Version == p.head.PlanVersion {
			if p.spec, p.timing, err = ReadSchedule(row, p.head.ApplicationID); err != nil {
				return err
			}
		}
		if row.Version == p.head.PlanVersion+1 {
			p.following = row
		}
		if row.Version == p.head.WaitingVersion && row.Version != p.head.PlanVersion {
			if p.waiting, _, err = ReadSchedule(row, p.head.ApplicationID); err != nil {
				return err
			}
		}
	}
	if p.spec == nil || p.waiting == nil && p.head.WaitingVersion != 0 && p.head.WaitingVersion != p.head.PlanVersion {
		return errors.New("a version of the schedule is missing")
	}
	if p.waiting == nil {
		p.waiting = p.spec
	}
	return nil
}

// asksForTask reports whether the decision depends on the last task.
func (p *schedulePlan) asksForTask() bool {
	return len(p.head.LastTaskID) > 0 && (p.spec.Policy.Overlap != cron.OverlapAllow || p.head.WaitingAt != nil)
}

func (p *schedulePlan) of(waited bool) *ScheduleSpec {
	if waited {
		return p.waiting
	}
	return p.spec
}

// decide judges the schedules one after the other and writes what they made. Those that do not fit any more stay due.
func (f *fire) decide() error {
	var heads []db.UpdateSchedulePlanParams
	for _, p := range f.plans {
		if len(f.triggers) >= cron.SlotsPerDecision || f.bytes() >= cron.BytesPerDecision {
			f.more = append(f.more, p.head.ScheduleID)
			continue
		}
		d := cron.Decide(f.plan(p))
		row, err := f.moved(p, &d, f.record(p, d.Slots))
		if err != nil {
			return err
		}
		heads = append(heads, row)
	}
	if err := f.write(); err != nil {
		return err
	}
	return tx.Many(f.ctx, f.t, (*db.Queries).UpdateSchedulePlan, heads)
}

func (f *fire) bytes() int {
	n := 0
	for i := range f.tasks {
		n += len(f.tasks[i].Submission.Input)
	}
	return n
}

func (f *fire) plan(p *schedulePlan) cron.Plan {
	out := cron.Plan{
		Timing: p.timing, Policy: p.spec.Policy, Now: f.now, Last: p.head.LastAt, Next: Time(p.head.NextAt), Paused: p.head.Paused == 1,
		SkipBefore: p.head.SkipBefore, Waiting: Time(p.head.WaitingAt), Open: p.open, InputBytes: len(p.spec.Task.Input),
		Admit: func(waited bool) (string, bool) { return f.room(p.of(waited)) },
	}
	if p.following != nil {
		out.Until = p.following.EffectiveFrom
	}
	return out
}

// room counts one more task, or names what is in the way.
func (f *fire) room(spec *ScheduleSpec) (string, bool) {
	if f.disabled != "" {
		return f.disabled, false
	}
	if refusal := f.admit(spec); refusal != nil {
		return refusal.Code, false
	}
	return "", true
}

// record makes the triggers of decided slots, and returns the last task.
func (f *fire) record(p *schedulePlan, slots []cron.Slot) []byte {
	last := p.head.LastTaskID
	for _, slot := range slots {
		g := trigger{schedule: p.head.ScheduleID, version: p.head.PlanVersion, at: slot.At, origin: OriginSlot, outcome: slot.Outcome, into: slot.Into, reason: slot.Reason}
		if slot.Clock {
			g.origin = OriginClock
		}
		if slot.Waited {
			g.version = p.head.WaitingVersion
		}
		if slot.Outcome == cron.Fired {
			g.task = p.of(slot.Waited)
		}
		if _, task := f.add(g); task != (engine.ID{}) {
			last = append([]byte{}, task[:]...)
		}
	}
	return last
}

// moved is where planning stands after a decision.
func (f *fire) moved(p *schedulePlan, d *cron.Decision, lastTask []byte) (db.UpdateSchedulePlanParams, error) {
	h := p.head
	row := db.UpdateSchedulePlanParams{
		NamespaceID: h.NamespaceID, ScheduleID: h.ScheduleID, ApplicationID: h.ApplicationID, Name: h.Name, PlanVersion: h.PlanVersion, SkipBefore: h.SkipBefore,
		LastAt: d.Last, NextAt: timeOrNull(d.Next), WaitingAt: timeOrNull(d.Waiting), WaitingVersion: p.waitingVersion(d), LastTaskID: lastTask,
		CreatedAt: h.CreatedAt, ChangedAt: h.ChangedAt,
	}
	if d.Ended {
		_, timing, err := ReadSchedule(p.following, h.ApplicationID)
		if err != nil {
			return row, err
		}
		row.PlanVersion, row.LastAt = p.following.Version, p.following.EffectiveFrom
		next, _ := timing.Next(row.LastAt.Add(-time.Microsecond))
		row.NextAt = timeOrNull(next)
	}
	row.DueAt = timeOrNull(dueAt(f.now, row.NextAt, d))
	if d.More || d.Ended && row.DueAt != nil && !row.DueAt.After(f.now) {
		f.more = append(f.more, h.ScheduleID)
	}
	return row, nil
}

func (p *schedulePlan) waitingVersion(d *cron.Decision) uint32 {
	switch {
	case d.Waiting.IsZero():
		return 0
	case d.Waiting.Equal(Time(p.head.WaitingAt)):
		return p.head.WaitingVersion
	}
	return p.head.PlanVersion
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
