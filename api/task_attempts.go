package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListTaskAttempts pages the executions that have ended, by number.
func (s *Server) ListTaskAttempts(ctx context.Context, r httpapi.ListTaskAttemptsRequestObject) (httpapi.ListTaskAttemptsResponseObject, error) {
	b := bind(auth.CallerOf(ctx), "attempts", r.TaskId)
	after, err := b.readNumber(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	task, err := s.readTask(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListAttempts(ctx, db.ListAttemptsParams{NamespaceID: task.NamespaceID, TaskID: task.TaskID, AttemptNo: uint16(after), Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListTaskAttempts200JSONResponse{}
	for _, a := range rows {
		out.Items = append(out.Items, httpapi.Attempt{
			AttemptNo: int32(a.AttemptNo), Outcome: outcomeNames[pulse.Outcome(a.Outcome)], Consumed: a.Consumed == 1, Worker: string(a.Worker),
			StartedAt: a.StartedAt, LeaseUntil: a.LeaseUntil, EndedAt: a.EndedAt, Output: a.Output,
			Failure: failureOf(a.FailureCode, a.FailureMessage, a.FailureDetails),
		})
	}
	if more {
		out.NextCursor = b.writeNumber(uint64(rows[len(rows)-1].AttemptNo))
	}
	return out, nil
}
