package tx

import (
	"context"

	"github.com/orbitrun/orbit/gen/db"
)

// RungSchedule is a schedule's head: beside definitions, after the quota, before the queue of its tasks.
const RungSchedule = RungDefinition

// LockSchedule locks a schedule's head; two that decide its slots meet here. Without a row: sql.ErrNoRows.
func (q AfterQuota) LockSchedule(ctx context.Context, schedule uint64) (db.Schedule, AfterDefinition, error) {
	if err := q.descend(RungSchedule); err != nil {
		return db.Schedule{}, q.AfterDefinition, err
	}
	row, err := q.q.LockSchedule(ctx, db.LockScheduleParams{NamespaceID: q.namespace, ScheduleID: schedule})
	return row, q.AfterDefinition, err
}

// LockSchedules locks the heads that one transaction decides, in id order.
func (q AfterQuota) LockSchedules(ctx context.Context, schedules []uint64) ([]db.Schedule, AfterDefinition, error) {
	if err := q.descend(RungSchedule); err != nil || len(schedules) == 0 {
		return nil, q.AfterDefinition, err
	}
	rows, err := q.q.LockSchedules(ctx, db.LockSchedulesParams{NamespaceID: q.namespace, ScheduleIds: sorted(schedules)})
	return rows, q.AfterDefinition, err
}
