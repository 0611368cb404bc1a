package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// readInstance reads an instance of the caller's application; any other answers like one that does not exist (O12).
func (s *Server) readInstance(ctx context.Context, instanceID string) (db.Instance, error) {
	c, key := auth.CallerOf(ctx), id(prefixInstance, instanceID)
	row, err := s.q().GetInstance(ctx, db.GetInstanceParams{NamespaceID: c.Namespace, InstanceID: key[:]})
	if err == nil && row.ApplicationID != c.Application {
		return db.Instance{}, problem.Missing("instance")
	}
	return row, found(err, "instance")
}

// GetInstance reads an instance with its payloads.
func (s *Server) GetInstance(ctx context.Context, r httpapi.GetInstanceRequestObject) (httpapi.GetInstanceResponseObject, error) {
	row, err := s.readInstance(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	return httpapi.GetInstance200JSONResponse{
		InstanceId: r.InstanceId, Definition: string(row.Definition), Version: int32(row.Version), State: httpapi.InstanceState(weave.InstanceState(row.State).String()),
		Paused: row.Paused == 1, Revision: int64(row.Revision), ControlRevision: int64(row.ControlRevision), Reason: optional(row.Reason),
		BusinessKey: optional(row.BusinessKey), CreatedAt: row.CreatedAt, DeadlineAt: row.DeadlineAt, EndedAt: row.EndedAt,
		Input: row.Input, Output: row.Output,
	}, nil
}

// ListInstances pages the application's instances by creation time.
func (s *Server) ListInstances(ctx context.Context, r httpapi.ListInstancesRequestObject) (httpapi.ListInstancesResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "instances")
	after, err := b.readMoment(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListInstances(ctx, db.ListInstancesParams{NamespaceID: c.Namespace, ApplicationID: c.Application, AfterAt: after.at, AfterID: after.id[:], Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListInstances200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, httpapi.InstanceSummary{
			InstanceId: idText(prefixInstance, row.InstanceID), Definition: string(row.Definition), Version: int32(row.Version), State: httpapi.InstanceState(weave.InstanceState(row.State).String()),
			Paused: row.Paused == 1, Revision: int64(row.Revision), Reason: optional(row.Reason), BusinessKey: optional(row.BusinessKey),
			CreatedAt: row.CreatedAt, DeadlineAt: row.DeadlineAt, EndedAt: row.EndedAt,
		})
	}
	if more {
		last := rows[len(rows)-1]
		out.NextCursor = b.write(moment{last.CreatedAt, engine.ID(last.InstanceID)}.bytes())
	}
	return out, nil
}
