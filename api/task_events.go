package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListTaskEvents pages every change of a task in order.
func (s *Server) ListTaskEvents(ctx context.Context, r httpapi.ListTaskEventsRequestObject) (httpapi.ListTaskEventsResponseObject, error) {
	b := bind(auth.CallerOf(ctx), "events", r.TaskId)
	after, err := b.readNumber(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	task, err := s.readTask(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListTaskEvents(ctx, db.ListTaskEventsParams{NamespaceID: task.NamespaceID, TaskID: task.TaskID, EventNo: uint32(after), Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListTaskEvents200JSONResponse{}
	for _, e := range rows {
		event := httpapi.TaskEvent{EventNo: int64(e.EventNo), Kind: eventNames[pulse.EventKind(e.Kind)], At: e.At, Detail: e.Detail}
		if e.AttemptNo > 0 {
			event.AttemptNo = pointer(int32(e.AttemptNo))
		}
		out.Items = append(out.Items, event)
	}
	if more {
		out.NextCursor = b.writeNumber(uint64(rows[len(rows)-1].EventNo))
	}
	return out, nil
}
