package api

import (
	"context"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/stream"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// SeekSubscription sets the position. What was delivered and not acknowledged is dropped, with the dead letters that
// the new position reads again; the epoch rises, and with it every proof of before becomes void.
//
// Locks: caller S → subscription X → its deliveries and dead letters X → retention X. Refuses: subscription_active, deliveries_held,
// sequence_unavailable.
func (s *Server) SeekSubscription(ctx context.Context, r httpapi.SeekSubscriptionRequestObject) (httpapi.SeekSubscriptionResponseObject, error) {
	p := subscription(ctx, r.Subscription)
	err := s.Writer.Run(ctx, p.caller.Namespace, "seek_subscription", func(ctx context.Context, b tx.Begun) error {
		sub, held, err := p.manage(ctx, b)
		if err != nil {
			return err
		}
		rows, _, err := held.LockDeliveries(ctx)
		if err != nil {
			return err
		}
		if refusal := stream.SeekCheck(&sub, store.Deliveries(rows), b.Now()); refusal != nil {
			return refusal
		}
		if _, err := held.HoldRetention(ctx); err != nil {
			return err
		}
		at, err := position(ctx, b.Queries(), b.Namespace(), r.Body.To, r.Body.Seq)
		if err != nil {
			return err
		}
		dead, err := empty(ctx, b.Tx, sub.ID, sub.Pending, at.Next)
		if err != nil {
			return err
		}
		from := sub.Next
		at.Epoch = sub.Epoch + 1
		sub.Position, sub.Pending, sub.Dead, sub.Version = at, 0, sub.Dead-dead, sub.Version+1
		if err := store.PutPosition(ctx, b.Tx, &sub); err != nil {
			return err
		}
		return p.audit(ctx, b.Tx, "seek", r.Body.Reason, exact.Object(exact.Field("from_seq", exact.Int(int64(from))), exact.Field("to_seq", exact.Int(int64(at.Next)))))
	})
	if err != nil {
		return nil, err
	}
	model, err := s.readSubscription(ctx, r.Subscription)
	return httpapi.SeekSubscription200JSONResponse(model), err
}
