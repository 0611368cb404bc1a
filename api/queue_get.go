package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetQueue reads one queue by name.
func (s *Server) GetQueue(ctx context.Context, r httpapi.GetQueueRequestObject) (httpapi.GetQueueResponseObject, error) {
	model, err := s.readQueue(ctx, auth.CallerOf(ctx), r.Queue)
	return httpapi.GetQueue200JSONResponse(model), err
}

func (s *Server) readQueue(ctx context.Context, c auth.Caller, name string) (httpapi.Queue, error) {
	row, err := s.q().GetQueueByName(ctx, db.GetQueueByNameParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(name)})
	if err != nil {
		return httpapi.Queue{}, found(err, "queue")
	}
	return s.queueModel(ctx, c, row)
}

// ListQueues pages the application's queues by name.
func (s *Server) ListQueues(ctx context.Context, r httpapi.ListQueuesRequestObject) (httpapi.ListQueuesResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "queues")
	after, err := b.readName(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListQueues(ctx, db.ListQueuesParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListQueues200JSONResponse{}
	for _, row := range rows {
		model, err := s.queueModel(ctx, c, db.GetQueueByNameRow(row))
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, model)
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].Name)
	}
	return out, nil
}
