package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetSubscription reads a subscription by name.
func (s *Server) GetSubscription(ctx context.Context, r httpapi.GetSubscriptionRequestObject) (httpapi.GetSubscriptionResponseObject, error) {
	model, err := s.readSubscription(ctx, r.Subscription)
	return httpapi.GetSubscription200JSONResponse(model), err
}

// ListSubscriptions pages the application's subscriptions by name.
func (s *Server) ListSubscriptions(ctx context.Context, r httpapi.ListSubscriptionsRequestObject) (httpapi.ListSubscriptionsResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "subscriptions")
	after, err := b.readName(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListSubscriptions(ctx, db.ListSubscriptionsParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListSubscriptions200JSONResponse{Items: []httpapi.Subscription{}}
	for i := range rows {
		model, err := s.subscriptionModel(ctx, c.Namespace, &rows[i])
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
