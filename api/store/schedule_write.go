package store

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// TriggerOrigin says where a trigger came from. The numbers are those of schedule_trigger.origin.
type TriggerOrigin uint8

// Origins of triggers, and the outcomes that only people cause; the outcomes of slots are those of package cron.
const (
	OriginSlot     TriggerOrigin = 1
	OriginManual   TriggerOrigin = 2
	OriginBackfill TriggerOrigin = 3
	OriginClock    TriggerOrigin = 4

	OutcomeManual   cron.Outcome = 7
	OutcomeBackfill cron.Outcome = 8
)

// trigger is one decided slot of a schedule.
type trigger struct {
	schedule uint64
	version  uint32
	at       time.Time
	origin   TriggerOrigin
	outcome  cron.Outcome
	into     time.Time
	reason   string
	task     *ScheduleSpec // template of the task it made; nil: none
}

// firing writes triggers and their tasks. The heads, the quota and the queues of the tasks are held.
type firing struct {
	ctx      context.Context
	t        *tx.Tx
	usage    *pulse.Usage
	now      time.Time
	triggers []db.InsertScheduleTriggerParams
	tasks    []pulse.NewTask
	open     []pulse.Task
	events   []db.InsertTaskEventParams
	queues   []uint64
}

// add records a trigger, with its task when it made one.
func (f *firing) add(g trigger) (triggerID, taskID engine.ID) {
	triggerID = NewID()
	row := db.InsertScheduleTriggerParams{
		NamespaceID: f.t.Namespace(), TriggerID: triggerID[:], ScheduleID: g.schedule, Version: g.version, PlannedAt: g.at,
		Origin: uint8(g.origin), Outcome: uint8(g.outcome), MergedInto: timeOrNull(g.into), Reason: Text(g.reason), DecidedAt: f.now,
	}
	if g.task != nil {
		taskID = f.accept(g.task, triggerID)
		row.TaskID = taskID[:]
	}
	f.triggers = append(f.triggers, row)
	return triggerID, taskID
}

// accept makes the task of a trigger. Its full row names the trigger; the open row names no owner, because no workflow
// waits for the result.
func (f *firing) accept(spec *ScheduleSpec, owner engine.ID) engine.ID {
	sub := spec.Task
	sub.TaskID, sub.Source, sub.Owner = NewID(), pulse.SourceSchedule, owner
	task := pulse.Accept(&sub, f.now)
	task.Owner = engine.ID{}
	f.tasks = append(f.tasks, pulse.NewTask{Task: task, Submission: sub, CreatedAt: f.now})
	f.open = append(f.open, task)
	f.events = append(f.events, db.InsertTaskEventParams{NamespaceID: f.t.Namespace(), TaskID: task.ID[:], EventNo: 1, Kind: uint8(pulse.EventSubmitted), At: f.now})
	f.queues = append(f.queues, sub.Queue)
	return task.ID
}

// late is how long after its time each slot with a task was decided.
func (f *firing) late() (late []time.Duration) {
	for i := range f.triggers {
		if len(f.triggers[i].TaskID) > 0 {
			late = append(late, f.now.Sub(f.triggers[i].PlannedAt))
		}
	}
	return late
}

// write is the last step of a transaction that fires: triggers first, so that a slot that was decided before ends it.
func (f *firing) write() error {
	if err := tx.Many(f.ctx, f.t, tx.Rows((*db.Queries).InsertScheduleTrigger), f.triggers); err != nil {
		return err
	}
	quotas, queues := f.usage.Dirty()
	if err := UpdateCounters(f.ctx, f.t, quotas, queues); err != nil {
		return err
	}
	if err := InsertTasks(f.ctx, f.t, f.tasks); err != nil {
		return err
	}
	if err := InsertOpenTasks(f.ctx, f.t, f.open); err != nil {
		return err
	}
	return tx.Many(f.ctx, f.t, tx.Rows((*db.Queries).InsertTaskEvent), f.events)
}

// admit counts one task of a template.
func (f *firing) admit(spec *ScheduleSpec) *engine.Refusal {
	return f.usage.OpenAll([]pulse.Submission{spec.Task})
}
