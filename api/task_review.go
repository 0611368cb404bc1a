package api

import (
	"context"
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ReviewTask decides about a task in NEEDS_REVIEW (pulse.md Review); the same key gives the first answer again.
// Refuses: review_decided, review_not_needed, task_owned_by_workflow, revision_conflict, output_contract_broken.
func (s *Server) ReviewTask(ctx context.Context, r httpapi.ReviewTaskRequestObject) (httpapi.ReviewTaskResponseObject, error) {
	c := auth.CallerOf(ctx)
	queue, err := s.queueOfTask(ctx, c, r.TaskId)
	if err != nil {
		return nil, err
	}
	review := pulse.ReviewRequest{
		Credential: c.Credential, Application: c.Application, Queue: queue, Task: id(prefixTask, r.TaskId), Key: r.Params.IdempotencyKey,
		Decision: stored[string(r.Body.Decision)], ExpectedVersion: uint32(r.Body.ExpectedVersion), AllExecutionsEnded: r.Body.AllExecutionsEnded,
		Reason: r.Body.Reason, Evidence: r.Body.Evidence, Output: r.Body.Output,
	}
	if f := r.Body.Failure; f != nil {
		review.FailureCode, review.FailureMessage, review.FailureDetails = f.Code, f.Message, f.Details
	}
	if refusal := review.Check(); refusal != nil {
		return nil, refusal
	}
	out := s.Pulse.Review(ctx, c, review)
	if out.Refusal != nil {
		return nil, out.Refusal
	}
	return frozen{200, out.Receipt, out.Replayed}, nil
}

// queueOfTask finds the queue of a task of the caller's application: it must be locked before the task.
func (s *Server) queueOfTask(ctx context.Context, c auth.Caller, taskID string) (uint64, error) {
	task := id(prefixTask, taskID)
	queue, err := s.q().GetTaskQueue(ctx, db.GetTaskQueueParams{NamespaceID: c.Namespace, TaskID: task[:], ApplicationID: c.Application})
	return queue, found(err, "task")
}

// GetTaskReview shows the decision about a task. Refuses: review_not_found.
func (s *Server) GetTaskReview(ctx context.Context, r httpapi.GetTaskReviewRequestObject) (httpapi.GetTaskReviewResponseObject, error) {
	task, err := s.readTask(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	review, err := s.reviewOf(ctx, task)
	if err != nil {
		return nil, err
	}
	if review == nil {
		return nil, problem.Missing("review")
	}
	return httpapi.GetTaskReview200JSONResponse{
		TaskId: r.TaskId, Decision: httpapi.TaskReviewDecision(pulse.Public(review.Decision).String()), StateVersion: int64(review.StateVersion),
		DecidedBy: string(review.DecidedBy), At: review.At, Reason: string(review.Reason), Evidence: review.Evidence, Output: review.Output,
		Failure: failureOf(review.FailureCode, review.FailureMessage, review.FailureDetails),
	}, nil
}

// reviewOf reads the decision about a task, nil when nobody decided.
func (s *Server) reviewOf(ctx context.Context, task db.Task) (*db.TaskReview, error) {
	review, err := s.q().GetTaskReview(ctx, db.GetTaskReviewParams{NamespaceID: task.NamespaceID, TaskID: task.TaskID})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &review, err
}

// retriedBy is the direct successor of a task that has ended, nil when nobody retried it.
func (s *Server) retriedBy(ctx context.Context, task db.Task) (*string, error) {
	if state := pulse.Public(task.State); state != pulse.PublicFailed && state != pulse.PublicCancelled {
		return nil, nil
	}
	row, err := s.q().GetTaskRetry(ctx, db.GetTaskRetryParams{NamespaceID: task.NamespaceID, TaskID: task.TaskID})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return pointer(engine.ID(row.SuccessorID).Text(prefixTask)), nil
}
