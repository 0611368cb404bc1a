package api

import (
	"context"
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// CancelTask ends a waiting task or asks a running one to stop; the same key gives the first answer again.
func (s *Server) CancelTask(ctx context.Context, r httpapi.CancelTaskRequestObject) (httpapi.CancelTaskResponseObject, error) {
	c := auth.CallerOf(ctx)
	task := id(prefixTask, r.TaskId)
	queue, err := s.q().GetTaskQueue(ctx, db.GetTaskQueueParams{NamespaceID: c.Namespace, TaskID: task[:], ApplicationID: c.Application})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, problem.Missing("task")
	}
	if err != nil {
		return nil, err
	}
	out := s.Pulse.Cancel(ctx, c, pulse.Cancel{
		Credential: c.Credential, Application: c.Application, Queue: queue, Task: task,
		Key: r.Params.IdempotencyKey, Reason: r.Body.Reason,
	})
	if out.Refusal != nil {
		return nil, out.Refusal
	}
	return frozen{200, out.Receipt, out.Replayed}, nil
}
