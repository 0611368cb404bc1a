package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListInstanceHistory pages every committed change of an instance in order.
func (s *Server) ListInstanceHistory(ctx context.Context, r httpapi.ListInstanceHistoryRequestObject) (httpapi.ListInstanceHistoryResponseObject, error) {
	b := bind(auth.CallerOf(ctx), "history", r.InstanceId)
	after, err := b.readNumber(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	instance, err := s.readInstance(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListInstanceHistory(ctx, db.ListInstanceHistoryParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, Revision: uint32(after), Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListInstanceHistory200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, httpapi.Revision{Revision: int64(row.Revision), Kind: string(row.Kind), At: row.At, Actor: string(row.Actor), Detail: row.Detail})
	}
	if more {
		out.NextCursor = b.writeNumber(uint64(rows[len(rows)-1].Revision))
	}
	return out, nil
}
