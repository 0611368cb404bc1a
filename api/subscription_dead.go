package api

import (
	"context"
	"strconv"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListDeadLetters pages a subscription's dead letters in stream order.
func (s *Server) ListDeadLetters(ctx context.Context, r httpapi.ListDeadLettersRequestObject) (httpapi.ListDeadLettersResponseObject, error) {
	c := auth.CallerOf(ctx)
	sub, err := s.q().GetSubscription(ctx, db.GetSubscriptionParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(r.Subscription)})
	if err != nil {
		return nil, found(err, "subscription")
	}
	b := bind(c, "dead-letters", strconv.FormatUint(sub.SubscriptionID, 16))
	after, err := b.readNumber(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListDeadLetters(ctx, db.ListDeadLettersParams{NamespaceID: c.Namespace, SubscriptionID: sub.SubscriptionID, Seq: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListDeadLetters200JSONResponse{Items: []httpapi.DeadLetter{}}
	for _, row := range rows {
		out.Items = append(out.Items, httpapi.DeadLetter{
			Seq: int64(row.Seq), Generation: int64(row.Generation), DeadAt: row.DeadAt, Reason: optional(row.Reason),
			TaskId: idText(prefixTask, row.TaskID), State: httpapi.TaskState(pulse.Public(row.State).String()), At: row.At,
		})
	}
	if more {
		out.NextCursor = b.writeNumber(rows[len(rows)-1].Seq)
	}
	return out, nil
}

// RedeliverDeadLetters gives dead letters a new budget.
//
// Locks: caller S → subscription X → dead letters X. Refuses: window_full.
func (s *Server) RedeliverDeadLetters(ctx context.Context, r httpapi.RedeliverDeadLettersRequestObject) (httpapi.RedeliverDeadLettersResponseObject, error) {
	p := subscription(ctx, r.Subscription)
	seqs := make([]uint64, len(r.Body.Seqs))
	for i, seq := range r.Body.Seqs {
		seqs[i] = uint64(seq)
	}
	var out httpapi.Redelivery
	err := s.Writer.Run(ctx, p.caller.Namespace, "redeliver_dead_letters", func(ctx context.Context, b tx.Begun) error {
		sub, held, err := p.manage(ctx, b)
		if err != nil {
			return err
		}
		letters, err := held.LockDeadLetters(ctx, seqs)
		if err != nil {
			return err
		}
		changes, revived, err := stream.RedeliverPlan(sub, store.DeadLetters(letters), seqs, b.Now())
		if err != nil {
			return err
		}
		out = httpapi.Redelivery{Redelivered: []int64{}, PendingCount: sub.Pending, DeadCount: sub.Dead}
		if len(revived) == 0 {
			return nil
		}
		var numbers []exact.Value
		for _, seq := range revived {
			out.Redelivered = append(out.Redelivered, int64(seq))
			numbers = append(numbers, exact.Int(int64(seq)))
		}
		out.PendingCount, out.DeadCount = changes.After.Pending, changes.After.Dead
		if err := store.ApplySubscription(ctx, b.Tx, &changes); err != nil {
			return err
		}
		return p.audit(ctx, b.Tx, "redelivered", r.Body.Reason, exact.Object(exact.Field("seqs", exact.Array(numbers...))))
	})
	if err == nil {
		s.stream.Advanced(p.caller.Namespace)
	}
	return httpapi.RedeliverDeadLetters200JSONResponse(out), err
}
