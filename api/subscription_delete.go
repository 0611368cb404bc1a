package api

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// lettersPerStatement bounds one DELETE of dead letters.
const lettersPerStatement = 1000

// DeleteSubscription ends a subscription with everything it holds. The results stay in the stream.
//
// Locks: caller S → subscription X → its deliveries and dead letters X.
func (s *Server) DeleteSubscription(ctx context.Context, r httpapi.DeleteSubscriptionRequestObject) (httpapi.DeleteSubscriptionResponseObject, error) {
	p := subscription(ctx, r.Subscription)
	var out httpapi.SubscriptionDeletion
	err := s.Writer.Run(ctx, p.caller.Namespace, "delete_subscription", func(ctx context.Context, b tx.Begun) error {
		sub, _, err := p.manage(ctx, b)
		if err != nil {
			return err
		}
		out = httpapi.SubscriptionDeletion{SubscriptionId: fmt.Sprintf("sub_%016x", sub.ID), PendingCount: sub.Pending, DeadCount: sub.Dead}
		if _, err := empty(ctx, b.Tx, sub.ID, sub.Pending, 0); err != nil {
			return err
		}
		rows, err := b.Queries().DeleteSubscription(ctx, db.DeleteSubscriptionParams{NamespaceID: b.Namespace(), SubscriptionID: sub.ID})
		if err := tx.Affected(rows, err)(1); err != nil {
			return err
		}
		return p.audit(ctx, b.Tx, "deleted", "", exact.Object(exact.Field("pending_count", exact.Int(sub.Pending)), exact.Field("dead_count", exact.Int(sub.Dead))))
	})
	return httpapi.DeleteSubscription200JSONResponse(out), err
}

// empty drops all deliveries of a subscription whose row is held, and its dead letters from a number on. It returns how
// many dead letters went.
func empty(ctx context.Context, t *tx.Tx, id uint64, pending int64, from uint64) (dead int64, err error) {
	rows, err := t.Queries().DeleteDeliveriesOf(ctx, db.DeleteDeliveriesOfParams{NamespaceID: t.Namespace(), SubscriptionID: id})
	if err := tx.Affected(rows, err)(int(pending)); err != nil {
		return 0, err
	}
	for {
		rows, err := t.Queries().DeleteDeadLettersFrom(ctx, db.DeleteDeadLettersFromParams{NamespaceID: t.Namespace(), SubscriptionID: id, Seq: from, Limit: lettersPerStatement})
		dead += rows
		if err != nil || rows < lettersPerStatement {
			return dead, err
		}
	}
}
