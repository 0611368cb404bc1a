package api

import (
	"context"

	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetTask reads a task with its rules and input.
func (s *Server) GetTask(ctx context.Context, r httpapi.GetTaskRequestObject) (httpapi.GetTaskResponseObject, error) {
	row, open, err := s.readOpen(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	queue, err := s.queueNameOf(ctx, row)
	if err != nil {
		return nil, err
	}
	sum := summary(&row, open, queue)
	out := httpapi.GetTask200JSONResponse{
		TaskId: sum.TaskId, Queue: sum.Queue, State: sum.State, StateVersion: sum.StateVersion, Priority: sum.Priority, Source: sum.Source,
		Handler: sum.Handler, HandlerVersion: sum.HandlerVersion, BusinessKey: sum.BusinessKey, ResourceKey: sum.ResourceKey,
		AttemptNo: sum.AttemptNo, MaxAttempts: sum.MaxAttempts, AvailableAt: sum.AvailableAt, DeadlineAt: sum.DeadlineAt,
		CreatedAt: sum.CreatedAt, ChangedAt: sum.ChangedAt, FailureCode: sum.FailureCode, CancelRequestedAt: sum.CancelRequestedAt,
		AttemptTimeoutMs: int64(row.AttemptTimeoutMs), LostPolicy: lostNames[pulse.LostPolicy(row.LostPolicy)],
		RetryPolicy: row.RetryPolicy, OutputContract: row.OutputContract, Input: row.Input,
	}
	if pulse.Source(row.Source) == pulse.SourceRetry {
		out.RetryOf = pointer(idText(prefixTask, row.OwnerID))
	}
	if out.RetriedBy, err = s.retriedBy(ctx, row); err != nil {
		return nil, err
	}
	if open != nil {
		out.AttemptsUsed = pointer(int32(open.AttemptsUsed))
		out.StartedAt, out.LeaseUntil, out.Worker = open.StartedAt, open.LeaseUntil, optional(open.Worker)
		if wait, ok := waitNames[pulse.State(open.State)]; ok {
			out.WaitsFor = &wait
		}
	}
	return out, nil
}
