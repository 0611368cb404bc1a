package api

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// PutQueue creates a queue or changes its settings; the same request again changes nothing.
//
// Locks: caller S → quota X → queue X. The quota row makes two creators of one application meet before either looks.
// Refuses: revision_conflict.
func (s *Server) PutQueue(ctx context.Context, r httpapi.PutQueueRequestObject) (httpapi.PutQueueResponseObject, error) {
	c := auth.CallerOf(ctx)
	put := queuePut{c, r.Queue, r.Body, auth.NewID()}
	if err := s.Writer.Run(ctx, c.Namespace, "put_queue", put.run); err != nil {
		return nil, err
	}
	model, err := s.readQueue(ctx, c, r.Queue)
	if err == nil && s.QueueChanged != nil {
		id, _ := s.Queues.ID(ctx, c, r.Queue)
		s.QueueChanged(c.Namespace, id)
	}
	return httpapi.PutQueue200JSONResponse(model), err
}

type queuePut struct {
	caller auth.Caller
	name   string
	want   *httpapi.QueueSettings
	fresh  uint64 // id if the queue does not exist yet
}

func (p queuePut) run(ctx context.Context, b tx.Begun) error {
	callers, _, held, err := b.LockIdentity(ctx, []uint64{p.caller.Credential}, nil)
	if err != nil {
		return err
	}
	_, quota, err := held.LockQuotas(ctx, []uint64{p.caller.Application})
	if err != nil {
		return err
	}
	queue, err := b.Queries().GetQueueByName(ctx, db.GetQueueByNameParams{NamespaceID: p.caller.Namespace, ApplicationID: p.caller.Application, Name: []byte(p.name)})
	exists := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var locked []db.LockQueuesRow
	if exists {
		if locked, _, err = quota.LockQueues(ctx, []uint64{queue.QueueID}); err != nil {
			return err
		}
	}
	now, err := b.Clock(ctx)
	if err != nil {
		return err
	}
	if err := judge(callers, auth.ScopeQueuesManage, now); err != nil {
		return err
	}
	if exists {
		return p.change(ctx, b.Tx, locked[0])
	}
	return p.create(ctx, b.Tx, now)
}

// judge re-checks the caller under its shared lock.
func judge(callers []db.LockCredentialsRow, scope string, now time.Time) error {
	if len(callers) != 1 {
		return problem.New("credential_invalid", "the key is gone")
	}
	caller := store.Caller(&callers[0])
	if refusal := caller.Judge(scope, now); refusal != nil {
		return refusal
	}
	return nil
}

func (p queuePut) expected(version uint32) error {
	if e := p.want.ExpectedVersion; e != nil && *e != int64(version) {
		refusal := problem.FromFaults([]problem.Fault{{Code: "revision_conflict", In: "body", Pointer: "/expected_version", Detail: "the queue was changed meanwhile; read it again"}})
		refusal.Limit, refusal.Current = *e, int64(version)
		return refusal
	}
	return nil
}

func (p queuePut) create(ctx context.Context, t *tx.Tx, now time.Time) error {
	if err := p.expected(0); err != nil {
		return err
	}
	rows, err := t.Queries().InsertQueue(ctx, db.InsertQueueParams{
		NamespaceID: p.caller.Namespace, QueueID: p.fresh, ApplicationID: p.caller.Application, Name: []byte(p.name),
		OpenTasksMax: p.want.OpenTasksMax, RunningAttemptsMax: p.want.RunningAttemptsMax,
		Paused: flag(p.want.Paused), Draining: flag(p.want.Draining), CreatedAt: now,
	})
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	return p.audit(ctx, t, "queue.created")
}

func (p queuePut) change(ctx context.Context, t *tx.Tx, row db.LockQueuesRow) error {
	if err := p.expected(row.Version); err != nil {
		return err
	}
	if row.OpenTasksMax == p.want.OpenTasksMax && row.RunningAttemptsMax == p.want.RunningAttemptsMax &&
		row.Paused == flag(p.want.Paused) && row.Draining == flag(p.want.Draining) {
		return nil
	}
	rows, err := t.Queries().UpdateQueueSettings(ctx, db.UpdateQueueSettingsParams{
		OpenTasksMax: p.want.OpenTasksMax, RunningAttemptsMax: p.want.RunningAttemptsMax, Paused: flag(p.want.Paused), Draining: flag(p.want.Draining),
		NamespaceID: p.caller.Namespace, QueueID: row.QueueID, Version: row.Version,
	})
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	return p.audit(ctx, t, "queue.changed")
}

func (p queuePut) audit(ctx context.Context, t *tx.Tx, action string) error {
	detail := exact.Object(
		exact.Field("open_tasks_max", exact.Int(p.want.OpenTasksMax)), exact.Field("running_attempts_max", exact.Int(p.want.RunningAttemptsMax)),
		exact.Field("paused", exact.Bool(p.want.Paused)), exact.Field("draining", exact.Bool(p.want.Draining)),
	)
	return store.InsertAudits(ctx, t, t.Now(), []pulse.AuditWrite{{
		Application: p.caller.Application, Actor: p.caller.Actor(), Action: action, Subject: "queue:" + p.name, Detail: detail.String(),
	}})
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
