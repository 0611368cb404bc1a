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
	put := queuePut{queueChange{auth.CallerOf(ctx), r.Queue}, r.Body, rateOf(r.Body.Rate), auth.NewID()}
	if put.rate.Limited() {
		if refusal := put.rate.Check(); refusal != nil {
			return nil, refusal
		}
	}
	model, err := s.changeQueue(ctx, put.queueChange, "put_queue", put.run)
	return httpapi.PutQueue200JSONResponse(model), err
}

// changeQueue runs a change and shows what the queue is after it; claims that wait on it look again.
func (s *Server) changeQueue(ctx context.Context, c queueChange, name string, run func(context.Context, tx.Begun) error) (httpapi.Queue, error) {
	if err := s.Writer.Run(ctx, c.caller.Namespace, name, run); err != nil {
		return httpapi.Queue{}, err
	}
	model, err := s.readQueue(ctx, c.caller, c.name)
	if err == nil && s.QueueChanged != nil {
		id, _ := s.Queues.ID(ctx, c.caller, c.name)
		s.QueueChanged(c.caller.Namespace, id)
	}
	return model, err
}

// queueChange is who changes which queue.
type queueChange struct {
	caller auth.Caller
	name   string
}

// heldQueue is a queue that may not exist yet, under the lock of its quota and its own.
type heldQueue struct {
	*tx.Tx
	now    time.Time
	row    db.LockQueuesRow
	exists bool
}

// hold descends to the queue's row and re-checks the caller.
//
// lock: 1 identity S, 2 quota X, 5 queue X.
func (p queueChange) hold(ctx context.Context, b tx.Begun) (*heldQueue, error) {
	callers, _, held, err := b.LockIdentity(ctx, []uint64{p.caller.Credential}, nil)
	if err != nil {
		return nil, err
	}
	_, quota, err := held.LockQuotas(ctx, []uint64{p.caller.Application})
	if err != nil {
		return nil, err
	}
	queue, err := b.Queries().GetQueueByName(ctx, db.GetQueueByNameParams{NamespaceID: p.caller.Namespace, ApplicationID: p.caller.Application, Name: []byte(p.name)})
	out := &heldQueue{Tx: b.Tx, exists: err == nil}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if out.exists {
		locked, _, err := quota.LockQueues(ctx, []uint64{queue.QueueID})
		if err != nil {
			return nil, err
		}
		out.row = locked[0]
	}
	if out.now, err = b.Clock(ctx); err != nil {
		return nil, err
	}
	return out, judge(callers, auth.ScopeQueuesManage, out.now)
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

func (p queueChange) audit(ctx context.Context, h *heldQueue, action, reason, detail string) error {
	return store.InsertAudits(ctx, h.Tx, h.now, []pulse.AuditWrite{{
		Application: p.caller.Application, Actor: p.caller.Actor(), Action: action, Subject: "queue:" + p.name, Reason: reason, Detail: detail,
	}})
}

type queuePut struct {
	queueChange
	want  *httpapi.QueueSettings
	rate  pulse.Rate
	fresh uint64 // id if the queue does not exist yet
}

func (p queuePut) run(ctx context.Context, b tx.Begun) error {
	h, err := p.hold(ctx, b)
	if err != nil {
		return err
	}
	if err := p.expected(h.row.Version); err != nil {
		return err
	}
	if h.exists {
		return p.change(ctx, h)
	}
	return p.create(ctx, h)
}

func (p queuePut) expected(version uint32) error {
	if e := p.want.ExpectedVersion; e != nil && *e != int64(version) {
		refusal := problem.FromFaults([]problem.Fault{{Code: "revision_conflict", In: "body", Pointer: "/expected_version", Detail: "the queue was changed meanwhile; read it again"}})
		refusal.Limit, refusal.Current = *e, int64(version)
		return refusal
	}
	return nil
}

func (p queuePut) create(ctx context.Context, h *heldQueue) error {
	rows, err := h.Queries().InsertQueue(ctx, db.InsertQueueParams{
		NamespaceID: p.caller.Namespace, QueueID: p.fresh, ApplicationID: p.caller.Application, Name: []byte(p.name),
		OpenTasksMax: p.want.OpenTasksMax, RunningAttemptsMax: p.want.RunningAttemptsMax,
		Paused: flag(p.want.Paused), Draining: flag(p.want.Draining), RateLimited: flag(p.rate.Limited()), CreatedAt: h.now,
	})
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	if err := p.putRate(ctx, h, p.fresh, pulse.Rate{}); err != nil {
		return err
	}
	return p.audit(ctx, h, "queue.created", "", p.detail())
}

func (p queuePut) change(ctx context.Context, h *heldQueue) error {
	rates, err := heldRates(ctx, h)
	if err != nil {
		return err
	}
	old := rates[h.row.QueueID]
	if h.row.OpenTasksMax == p.want.OpenTasksMax && h.row.RunningAttemptsMax == p.want.RunningAttemptsMax &&
		h.row.Paused == flag(p.want.Paused) && h.row.Draining == flag(p.want.Draining) && p.rate.Same(&old) {
		return nil
	}
	settings := settingsOf(&h.row)
	settings.OpenTasksMax, settings.RunningAttemptsMax, settings.RateLimited = p.want.OpenTasksMax, p.want.RunningAttemptsMax, flag(p.rate.Limited())
	settings.Paused, settings.Draining = flag(p.want.Paused), flag(p.want.Draining)
	if err := h.write(ctx, settings); err != nil {
		return err
	}
	if !p.rate.Same(&old) {
		if err := p.putRate(ctx, h, h.row.QueueID, old); err != nil {
			return err
		}
	}
	return p.audit(ctx, h, "queue.changed", "", p.detail())
}

// heldRates reads the rate of a held queue, if it has one.
func heldRates(ctx context.Context, h *heldQueue) (map[uint64]pulse.Rate, error) {
	if h.row.RateLimited == 0 {
		return nil, nil
	}
	return store.QueueRates(ctx, h.Queries(), h.Namespace(), []uint64{h.row.QueueID})
}

func (p queuePut) putRate(ctx context.Context, h *heldQueue, queue uint64, old pulse.Rate) error {
	switch {
	case p.rate.Limited():
		return store.PutQueueRates(ctx, h.Tx, []pulse.RateWrite{{Queue: queue, Rate: p.rate.Changed(old, h.now)}})
	case old.Limited():
		return h.Queries().DeleteQueueRate(ctx, db.DeleteQueueRateParams{NamespaceID: h.Namespace(), QueueID: queue})
	}
	return nil
}

func (p queuePut) detail() string {
	return exact.Object(
		exact.Field("open_tasks_max", exact.Int(p.want.OpenTasksMax)), exact.Field("running_attempts_max", exact.Int(p.want.RunningAttemptsMax)),
		exact.Field("paused", exact.Bool(p.want.Paused)), exact.Field("draining", exact.Bool(p.want.Draining)),
		exact.Field("rate_tokens", exact.Int(p.rate.Tokens)), exact.Field("rate_period_ms", exact.Int(p.rate.Period.Milliseconds())), exact.Field("rate_burst", exact.Int(p.rate.Burst)),
	).String()
}

// settingsOf is an update of the settings that changes nothing yet.
func settingsOf(row *db.LockQueuesRow) db.UpdateQueueSettingsParams {
	return db.UpdateQueueSettingsParams{
		OpenTasksMax: row.OpenTasksMax, RunningAttemptsMax: row.RunningAttemptsMax, Paused: row.Paused, Draining: row.Draining, RateLimited: row.RateLimited,
		QueueID: row.QueueID, Version: row.Version,
	}
}

// write changes the settings, and forgets why the queue was held where it is held no longer.
func (h *heldQueue) write(ctx context.Context, settings db.UpdateQueueSettingsParams) error {
	settings.NamespaceID = h.Namespace()
	rows, err := h.Queries().UpdateQueueSettings(ctx, settings)
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	for kind, ended := range map[uint8]bool{holdPause: settings.Paused == 0 && h.row.Paused == 1, holdDrain: settings.Draining == 0 && h.row.Draining == 1} {
		if ended {
			if err := h.Queries().DeleteQueueHold(ctx, db.DeleteQueueHoldParams{NamespaceID: h.Namespace(), QueueID: h.row.QueueID, Kind: kind}); err != nil {
				return err
			}
		}
	}
	return nil
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
