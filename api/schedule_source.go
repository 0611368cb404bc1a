package api

import (
	"bytes"
	"context"

	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// scheduleSource resolves trigger, schedule and fixed version of a task, each against the other (pulse.md Source).
func (s *Server) scheduleSource(ctx context.Context, task db.Task, out *httpapi.TaskSource) error {
	q, ns := s.q(), task.NamespaceID
	if len(task.GateID) != 0 {
		return broken("the task says SCHEDULE and names a gate")
	}
	trigger, err := q.GetScheduleTrigger(ctx, db.GetScheduleTriggerParams{NamespaceID: ns, TriggerID: task.OwnerID})
	if err != nil {
		return dangling(err, "a trigger")
	}
	head, err := q.GetSchedule(ctx, db.GetScheduleParams{NamespaceID: ns, ScheduleID: trigger.ScheduleID})
	if err != nil {
		return dangling(err, "a schedule")
	}
	version, err := q.GetScheduleVersion(ctx, db.GetScheduleVersionParams{NamespaceID: ns, ScheduleID: trigger.ScheduleID, Version: trigger.Version})
	switch {
	case err != nil:
		return dangling(err, "a schedule version")
	case head.ApplicationID != task.ApplicationID:
		return broken("the task names a schedule of another application")
	case !bytes.Equal(trigger.TaskID, task.TaskID):
		return broken("the trigger belongs to another task")
	case version.QueueID != task.QueueID:
		return broken("the schedule version belongs to another queue")
	}
	out.Schedule, out.Version = pointer(string(head.Name)), pointer(int32(trigger.Version))
	out.TriggerId, out.PlannedAt = pointer(idText(prefixTrigger, trigger.TriggerID)), &trigger.PlannedAt
	return nil
}
