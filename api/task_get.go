package api

import (
	"context"
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
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
	if err := s.extras(ctx, row, &out); err != nil {
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

// extras are what only some tasks have: search attributes and the progress of a worker.
func (s *Server) extras(ctx context.Context, row db.Task, out *httpapi.GetTask200JSONResponse) error {
	attributes, err := s.q().ListTaskAttributes(ctx, db.ListTaskAttributesParams{NamespaceID: row.NamespaceID, TaskID: row.TaskID})
	if err != nil {
		return err
	}
	for _, a := range attributes {
		out.Attributes = append(out.Attributes, httpapi.Attribute{Name: string(a.Name), Value: string(a.Value)})
	}
	p, err := s.q().GetTaskProgress(ctx, db.GetTaskProgressParams{NamespaceID: row.NamespaceID, TaskID: row.TaskID})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	out.Progress = &httpapi.TaskProgress{AttemptNo: int32(p.AttemptNo), At: p.At, Message: string(p.Message), Detail: p.Detail}
	if p.Percent.Valid {
		out.Progress.Percent = pointer(int32(p.Percent.Int16))
	}
	return nil
}
