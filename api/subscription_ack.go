package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/stream"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// AckDeliveries acknowledges. A repeated acknowledgement finds no row and counts nothing down again.
//
// Locks: subscription X → deliveries X → dead letters X. Statements: at most 9.
func (s *Server) AckDeliveries(ctx context.Context, r httpapi.AckDeliveriesRequestObject) (httpapi.AckDeliveriesResponseObject, error) {
	claims := make([]stream.Claim, len(r.Body.Items))
	for i, item := range r.Body.Items {
		claims[i] = stream.Claim{Seq: uint64(item.Seq), Generation: uint32(item.Generation), Proof: item.Proof}
	}
	out, err := s.settle(ctx, r.Subscription, "ack_deliveries", claims, func(sub stream.Subscription, rows []stream.Delivery, now time.Time) (stream.Changes, []stream.Outcome) {
		return stream.AckPlan(sub, rows, claims, now)
	})
	return httpapi.AckDeliveries200JSONResponse(out), err
}

// NackDeliveries refuses deliveries; locks as AckDeliveries.
func (s *Server) NackDeliveries(ctx context.Context, r httpapi.NackDeliveriesRequestObject) (httpapi.NackDeliveriesResponseObject, error) {
	claims, nacks := make([]stream.Claim, len(r.Body.Items)), make([]stream.Nack, len(r.Body.Items))
	for i, item := range r.Body.Items {
		claims[i] = stream.Claim{Seq: uint64(item.Seq), Generation: uint32(item.Generation), Proof: item.Proof}
		nacks[i] = stream.Nack{Claim: claims[i], Delay: milliseconds(item.DelayMs), Reason: item.Reason, Returned: item.Returned}
	}
	out, err := s.settle(ctx, r.Subscription, "nack_deliveries", claims, func(sub stream.Subscription, rows []stream.Delivery, now time.Time) (stream.Changes, []stream.Outcome) {
		return stream.NackPlan(sub, rows, nacks, now)
	})
	return httpapi.NackDeliveries200JSONResponse(out), err
}

type settlePlan func(stream.Subscription, []stream.Delivery, time.Time) (stream.Changes, []stream.Outcome)

// settle is the transaction both share: lock what the claims name, plan, write.
func (s *Server) settle(ctx context.Context, name, transaction string, claims []stream.Claim, plan settlePlan) (httpapi.DeliveryOutcomes, error) {
	p := subscription(ctx, name)
	seqs := make([]uint64, len(claims))
	for i := range claims {
		seqs[i] = claims[i].Seq
	}
	var out httpapi.DeliveryOutcomes
	err := s.Writer.Run(ctx, p.caller.Namespace, transaction, func(ctx context.Context, b tx.Begun) error {
		sub, rows, err := p.lockNamed(ctx, b, seqs)
		if err != nil {
			return err
		}
		changes, outcomes := plan(sub, rows, b.Now())
		if err := store.ApplySubscription(ctx, b.Tx, &changes); err != nil {
			return err
		}
		out = httpapi.DeliveryOutcomes{PendingCount: changes.After.Pending, Items: make([]httpapi.DeliveryOutcome, len(claims))}
		for i := range outcomes {
			out.Items[i] = httpapi.DeliveryOutcome{Seq: int64(claims[i].Seq), Outcome: httpapi.DeliveryOutcomeOutcome(outcomes[i])}
		}
		out.SettledThrough, err = settledThrough(ctx, b.Queries(), b.Namespace(), &changes.After)
		return err
	})
	if err == nil {
		s.stream.Advanced(p.caller.Namespace)
	}
	return out, err
}

// lockNamed locks the deliveries of the numbers, and the dead letters of those that are not out.
func (p subscribed) lockNamed(ctx context.Context, b tx.Begun, seqs []uint64) (stream.Subscription, []stream.Delivery, error) {
	sub, held, err := p.lock(ctx, b)
	if err != nil {
		return sub, nil, err
	}
	found, deliveries, err := held.LockDeliveriesBySeq(ctx, seqs)
	if err != nil {
		return sub, nil, err
	}
	rows := store.Deliveries(found)
	if sub.Dead == 0 {
		return sub, rows, nil
	}
	letters, err := deliveries.LockDeadLetters(ctx, seqs)
	return sub, append(rows, store.DeadLetters(letters)...), err
}
