package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// RetryTask accepts a new task that repeats one which failed or was cancelled (pulse.md Manual retry).
// Refuses: retry_exists, retry_effect_unknown, task_not_retryable, task_owned_by_workflow, task_owned_by_schedule,
// revision_conflict, submission_conflict, and what refuses a submission.
func (s *Server) RetryTask(ctx context.Context, r httpapi.RetryTaskRequestObject) (httpapi.RetryTaskResponseObject, error) {
	c := auth.CallerOf(ctx)
	queue, err := s.queueOfTask(ctx, c, r.TaskId)
	if err != nil {
		return nil, err
	}
	retry := pulse.ManualRetry{
		Credential: c.Credential, Application: c.Application, Queue: queue, Task: id(prefixTask, r.TaskId), Successor: store.NewID(),
		Key: r.Body.SubmitKey, ExpectedVersion: uint32(r.Body.ExpectedVersion), DeadlineMS: r.Body.DeadlineMs, Reason: r.Body.Reason,
		Traceparent: traceOf(ctx),
	}
	if refusal := retry.Check(); refusal != nil {
		return nil, refusal
	}
	out := s.Pulse.Retry(ctx, c, retry)
	if out.Refusal != nil {
		return nil, out.Refusal
	}
	return frozen{201, out.Receipt, out.Replayed}, nil
}
