package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// CancelTask ends a waiting task or asks a running one to stop; the same key gives the first answer again.
func (s *Server) CancelTask(ctx context.Context, r httpapi.CancelTaskRequestObject) (httpapi.CancelTaskResponseObject, error) {
	c := auth.CallerOf(ctx)
	queue, err := s.queueOfTask(ctx, c, r.TaskId)
	if err != nil {
		return nil, err
	}
	out := s.Pulse.Cancel(ctx, c, pulse.Cancel{
		Credential: c.Credential, Application: c.Application, Queue: queue, Task: id(prefixTask, r.TaskId),
		Key: r.Params.IdempotencyKey, Reason: r.Body.Reason,
	})
	if out.Refusal != nil {
		return nil, out.Refusal
	}
	return frozen{200, out.Receipt, out.Replayed}, nil
}
