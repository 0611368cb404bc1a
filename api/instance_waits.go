package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListInstanceWaits pages what the steps of an instance wait or waited for, in order of activation.
func (s *Server) ListInstanceWaits(ctx context.Context, r httpapi.ListInstanceWaitsRequestObject) (httpapi.ListInstanceWaitsResponseObject, error) {
	b := bind(auth.CallerOf(ctx), "waits", r.InstanceId)
	after, err := b.readName(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	instance, err := s.readInstance(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListWaits(ctx, db.ListWaitsParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, ActivationID: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	names, err := s.stepNames(ctx, instance)
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListInstanceWaits200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, waitModel(row, names[row.StepNo]))
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].ActivationID)
	}
	return out, nil
}

func waitModel(row db.StepWait, step string) httpapi.Wait {
	out := httpapi.Wait{
		ActivationId: idText(prefixActivation, row.ActivationID), Step: step, Kind: weave.CheckpointKind(row.Kind).String(),
		State: weave.WaitState(row.State).String(), StartedAt: row.StartedAt, DeadlineAt: row.DeadlineAt, SettledAt: row.SettledAt,
		Signal: optional(row.SignalName), SignalVersion: optional(row.SignalVersion), Correlation: optional(row.Correlation),
	}
	if len(row.WinnerID) > 0 {
		out.SignalId = pointer(idText(prefixSignal, row.WinnerID))
	}
	return out
}
