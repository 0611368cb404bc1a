package api

import (
	"context"
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetTaskResult reads how a task ended, or what its review is about. Refuses: result_pending.
func (s *Server) GetTaskResult(ctx context.Context, r httpapi.GetTaskResultRequestObject) (httpapi.GetTaskResultResponseObject, error) {
	task, err := s.readTask(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	state := pulse.Public(task.State)
	if state == pulse.PublicQueued {
		return nil, problem.New("result_pending", "the task has not ended; ask again later")
	}
	out := httpapi.GetTaskResult200JSONResponse{
		TaskId: r.TaskId, State: httpapi.TaskState(state.String()), StateVersion: int64(task.StateVersion), At: task.ChangedAt,
		Failure: failureOf(task.FailureCode, nil, nil),
	}
	if task.ResultAttemptNo == 0 {
		return s.reviewedResult(ctx, task, out)
	}
	out.AttemptNo = pointer(int32(task.ResultAttemptNo))
	attempt, err := s.q().GetAttempt(ctx, db.GetAttemptParams{NamespaceID: task.NamespaceID, TaskID: task.TaskID, AttemptNo: task.ResultAttemptNo})
	if errors.Is(err, sql.ErrNoRows) {
		return out, nil
	}
	out.Output = attempt.Output
	if out.Failure != nil {
		out.Failure.Message, out.Failure.Details = string(attempt.FailureMessage), attempt.FailureDetails
	}
	return out, err
}

// reviewedResult is the result of a task that no attempt decided: a person did, or it never ran.
func (s *Server) reviewedResult(ctx context.Context, task db.Task, out httpapi.GetTaskResult200JSONResponse) (httpapi.GetTaskResultResponseObject, error) {
	review, err := s.reviewOf(ctx, task)
	if err != nil || review == nil {
		return out, err
	}
	out.DecidedBy, out.Output = pointer(string(review.DecidedBy)), review.Output
	out.Failure = failureOf(review.FailureCode, review.FailureMessage, review.FailureDetails)
	return out, nil
}
