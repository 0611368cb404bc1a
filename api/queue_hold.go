package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// The kinds of queue_hold.
const (
	holdPause uint8 = 1
	holdDrain uint8 = 2
)

var holdNames = map[uint8]httpapi.QueueHoldKind{holdPause: "PAUSED", holdDrain: "DRAINING"}

// PauseQueue stops claims; submissions are still taken. Pausing again changes nothing, the reason included.
func (s *Server) PauseQueue(ctx context.Context, r httpapi.PauseQueueRequestObject) (httpapi.PauseQueueResponseObject, error) {
	model, err := s.holdQueue(ctx, queueHold{queueChange{auth.CallerOf(ctx), r.Queue}, holdPause, r.Body.Reason, r.Body.ExpectedVersion})
	return httpapi.PauseQueue200JSONResponse(model), err
}

// DrainQueue stops submissions; what is there is still given out. Draining again changes nothing, the reason included.
func (s *Server) DrainQueue(ctx context.Context, r httpapi.DrainQueueRequestObject) (httpapi.DrainQueueResponseObject, error) {
	model, err := s.holdQueue(ctx, queueHold{queueChange{auth.CallerOf(ctx), r.Queue}, holdDrain, r.Body.Reason, r.Body.ExpectedVersion})
	return httpapi.DrainQueue200JSONResponse(model), err
}

// ResumeQueue ends a pause and a drain.
func (s *Server) ResumeQueue(ctx context.Context, r httpapi.ResumeQueueRequestObject) (httpapi.ResumeQueueResponseObject, error) {
	model, err := s.holdQueue(ctx, queueHold{queueChange{auth.CallerOf(ctx), r.Queue}, 0, r.Body.Reason, r.Body.ExpectedVersion})
	return httpapi.ResumeQueue200JSONResponse(model), err
}

func (s *Server) holdQueue(ctx context.Context, p queueHold) (httpapi.Queue, error) {
	return s.changeQueue(ctx, p.queueChange, "hold_queue", p.run)
}

// queueHold pauses, drains or, without a kind, resumes a queue.
type queueHold struct {
	queueChange
	kind     uint8
	reason   string
	expected *int64
}

var holdActions = map[uint8]string{holdPause: "queue.paused", holdDrain: "queue.draining", 0: "queue.resumed"}

// run writes switch, reason and audit in one transaction.
//
// lock: 1 identity S, 2 quota X, 5 queue X.
func (p queueHold) run(ctx context.Context, b tx.Begun) error {
	h, err := p.hold(ctx, b)
	if err != nil {
		return err
	}
	if !h.exists {
		return problem.Missing("queue")
	}
	if err := (queuePut{want: &httpapi.QueueSettings{ExpectedVersion: p.expected}}).expected(h.row.Version); err != nil {
		return err
	}
	settings := settingsOf(&h.row)
	switch p.kind {
	case holdPause:
		settings.Paused = 1
	case holdDrain:
		settings.Draining = 1
	default:
		settings.Paused, settings.Draining = 0, 0
	}
	if settings == settingsOf(&h.row) {
		return nil
	}
	if err := h.write(ctx, settings); err != nil {
		return err
	}
	if p.kind != 0 {
		err := h.Queries().PutQueueHold(ctx, db.PutQueueHoldParams{
			NamespaceID: h.Namespace(), QueueID: h.row.QueueID, Kind: p.kind, Reason: []byte(p.reason), HeldBy: []byte(p.caller.Actor()), HeldAt: h.now,
		})
		if err != nil {
			return err
		}
	}
	return p.audit(ctx, h, holdActions[p.kind], p.reason, "{}")
}
