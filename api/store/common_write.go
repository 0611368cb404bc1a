package store

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// UpdateCounters writes back the counters of quotas and queues whose rows are held.
func UpdateCounters(ctx context.Context, t *tx.Tx, quotas []pulse.Quota, queues []pulse.Queue) error {
	err := tx.Many(ctx, t, (*db.Queries).UpdateQuotaCounters, mapped(quotas, func(q *pulse.Quota) db.UpdateQuotaCountersParams {
		return db.UpdateQuotaCountersParams{
			NamespaceID: t.Namespace(), ApplicationID: q.Application, OpenTasks: q.OpenTasks, RunningAttempts: q.RunningAttempts,
			OpenInstances: q.OpenInstances, OpenPayloadBytes: q.OpenPayloadBytes,
		}
	}))
	if err != nil {
		return err
	}
	return tx.Many(ctx, t, (*db.Queries).UpdateQueueCounters, mapped(queues, func(q *pulse.Queue) db.UpdateQueueCountersParams {
		return db.UpdateQueueCountersParams{
			NamespaceID: t.Namespace(), QueueID: q.ID, ApplicationID: q.Application, Name: []byte(q.Name), OpenTasks: q.OpenTasks,
			RunningAttempts: q.RunningAttempts, CreatedAt: q.CreatedAt,
		}
	}))
}

// InsertAudits writes audit records; each is an operation of its own unless the record says otherwise.
func InsertAudits(ctx context.Context, t *tx.Tx, now time.Time, audits []pulse.AuditWrite) error {
	return tx.Many(ctx, t, tx.Rows((*db.Queries).InsertAudit), mapped(audits, func(a *pulse.AuditWrite) db.InsertAuditParams {
		id, operation := a.ID, NewID()
		if id.Zero() {
			id = NewID()
		}
		return db.InsertAuditParams{
			NamespaceID: t.Namespace(), AuditID: id[:], ApplicationID: a.Application, OperationID: operation[:], Actor: []byte(a.Actor),
			Action: []byte(a.Action), Subject: []byte(a.Subject), At: now, Reason: Text(a.Reason), Detail: []byte(a.Detail),
		}
	}))
}
