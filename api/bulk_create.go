package api

import (
	"context"
	"net/http"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// CreateBulkOperation makes a bulk operation durable; nodes go on with it page by page. The same key gives the first
// receipt again, to those who may still begin one.
// Refuses: scope_missing (of what is done to the tasks), queue_not_found, idempotency_conflict, request_invalid.
func (s *Server) CreateBulkOperation(ctx context.Context, r httpapi.CreateBulkOperationRequestObject) (httpapi.CreateBulkOperationResponseObject, error) {
	c := auth.CallerOf(ctx)
	queue, err := s.Queues.ID(ctx, c, r.Body.Queue)
	if err == nil && queue == 0 {
		err = problem.Missing("queue")
	}
	if err != nil {
		return nil, err
	}
	request := pulse.BulkRequest{
		Credential: c.Credential, Application: c.Application, QueueName: r.Body.Queue, Queue: queue, Key: r.Body.OperationKey,
		Kind: numberOf(bulkKinds, r.Body.Kind), Filter: bulkFilter(&r.Body.Filter), Reason: r.Body.Reason, DryRun: r.Body.DryRun,
	}
	if refusal := request.Check(); refusal != nil {
		return nil, refusal
	}
	row, replayed, err := store.BeginBulk(ctx, s.Writer, c.Namespace, &request, store.NewID())
	if err != nil {
		return nil, err
	}
	if !replayed && s.BulkBegun != nil {
		s.BulkBegun()
	}
	return frozen{201, bulkReceipt(&row, r.Body.Queue), replayed}, nil
}

func (f frozen) VisitCreateBulkOperationResponse(w http.ResponseWriter) error { return f.write(w) }
