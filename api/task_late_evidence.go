package api

import (
	"context"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListLateEvidence shows the reports that came after their attempt was closed. They moved nothing.
func (s *Server) ListLateEvidence(ctx context.Context, r httpapi.ListLateEvidenceRequestObject) (httpapi.ListLateEvidenceResponseObject, error) {
	task, err := s.readTask(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	rows, err := s.q().ListLateEvidence(ctx, db.ListLateEvidenceParams{NamespaceID: task.NamespaceID, TaskID: task.TaskID, Limit: engine.ListLimitMax})
	if err != nil {
		return nil, err
	}
	out := httpapi.ListLateEvidence200JSONResponse{}
	for _, e := range rows {
		out.Items = append(out.Items, httpapi.LateEvidence{
			AttemptNo: int32(e.AttemptNo), Outcome: outcomeNames[pulse.Outcome(e.Outcome)], ReceivedAt: e.ReceivedAt, Worker: string(e.Worker), Report: e.Report,
		})
	}
	return out, nil
}
