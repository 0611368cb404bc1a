package api

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// subscribed is one subscription of one caller; operations on it are its methods.
type subscribed struct {
	caller auth.Caller
	name   string
}

func subscription(ctx context.Context, name string) subscribed {
	return subscribed{auth.CallerOf(ctx), name}
}

// lock takes the subscription and reads it; the first rung of consuming.
func (p subscribed) lock(ctx context.Context, b tx.Begun) (stream.Subscription, tx.AfterSubscription, error) {
	row, held, err := b.LockSubscription(ctx, p.caller.Application, p.name)
	if err != nil {
		return stream.Subscription{}, held, found(err, "subscription")
	}
	return store.Subscription(&row), held, nil
}

// manage takes the caller and then the subscription: those who change it must be allowed to at that moment. Consumers
// are checked at the door alone, because consuming locks the subscription and its deliveries and nothing above.
func (p subscribed) manage(ctx context.Context, b tx.Begun) (stream.Subscription, tx.AfterSubscription, error) {
	callers, _, _, err := b.LockIdentity(ctx, []uint64{p.caller.Credential}, nil)
	if err != nil {
		return stream.Subscription{}, tx.AfterSubscription{}, err
	}
	s, held, err := p.lock(ctx, b)
	if err == nil {
		err = judge(callers, auth.ScopeSubscriptionsManage, b.Now())
	}
	return s, held, err
}

func (p subscribed) audit(ctx context.Context, t *tx.Tx, action, reason string, detail exact.Value) error {
	return store.InsertAudits(ctx, t, t.Now(), []pulse.AuditWrite{{
		Application: p.caller.Application, Actor: p.caller.Actor(), Action: "subscription." + action, Subject: "subscription:" + p.name,
		Reason: reason, Detail: detail.String(),
	}})
}

// settledThrough is the number up to which everything selected is acknowledged or dead.
func settledThrough(ctx context.Context, q *db.Queries, namespace uint64, s *stream.Subscription) (int64, error) {
	seq, err := q.GetFirstDelivery(ctx, db.GetFirstDeliveryParams{NamespaceID: namespace, SubscriptionID: s.ID})
	if errors.Is(err, sql.ErrNoRows) {
		return int64(s.Next) - 1, nil
	}
	return int64(seq) - 1, err
}

// subscriptionModel is a subscription as callers see it.
func (s *Server) subscriptionModel(ctx context.Context, namespace uint64, row *db.Subscription) (httpapi.Subscription, error) {
	sub := store.Subscription(row)
	out := httpapi.Subscription{
		SubscriptionId: fmt.Sprintf("sub_%016x", row.SubscriptionID), Name: string(row.Name), Queues: []string{}, States: statesModel(sub.States), Handlers: append([]string{}, sub.Handlers...), InOrder: sub.InOrder,
		Window: int32(sub.Window), AckTimeoutMs: sub.AckTimeout.Milliseconds(), GenerationsMax: int32(sub.Generations), Paused: sub.Paused,
		Epoch: int64(sub.Epoch), NextSeq: int64(sub.Next), SettledThrough: int64(sub.Next) - 1, SelectedCount: int64(sub.Selected),
		PendingCount: sub.Pending, DeadCount: sub.Dead, Version: int64(sub.Version), CreatedAt: row.CreatedAt,
	}
	names, err := s.queueNames(ctx, namespace, sub.Queues)
	if err != nil {
		return out, err
	}
	out.Queues = append(out.Queues, names...)
	head, err := s.q().GetStreamHead(ctx, namespace)
	if err != nil {
		return out, err
	}
	out.HeadSeq, out.Unread = int64(head.NextSeq)-1, max(int64(head.NextSeq)-int64(sub.Next), 0)
	oldest, err := s.q().GetOldestDelivery(ctx, db.GetOldestDeliveryParams{NamespaceID: namespace, SubscriptionID: sub.ID})
	if errors.Is(err, sql.ErrNoRows) {
		return out, nil
	}
	out.SettledThrough, out.OldestPendingAt = int64(oldest.Seq)-1, pointer(oldest.At)
	return out, err
}

func (s *Server) queueNames(ctx context.Context, namespace uint64, ids []uint64) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := s.q().ListQueueNames(ctx, db.ListQueueNamesParams{NamespaceID: namespace, QueueIds: ids})
	var out []string
	for _, row := range rows {
		out = append(out, string(row.Name))
	}
	return out, err
}

func (s *Server) readSubscription(ctx context.Context, name string) (httpapi.Subscription, error) {
	c := auth.CallerOf(ctx)
	row, err := s.q().GetSubscription(ctx, db.GetSubscriptionParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(name)})
	if err != nil {
		return httpapi.Subscription{}, found(err, "subscription")
	}
	return s.subscriptionModel(ctx, c.Namespace, &row)
}

// position finds where reading starts. Under the stream's lock when a subscription is made, so that nothing is written
// between the look and the row; a change of position needs no more than committed entries.
func position(ctx context.Context, q *db.Queries, namespace uint64, to httpapi.SubscriptionStart, seq *int64) (stream.Position, error) {
	head, err := q.GetStreamHead(ctx, namespace)
	if err != nil {
		return stream.Position{}, err
	}
	at := stream.Position{Next: head.NextSeq, Hash: [32]byte(head.LastHash), Anchored: true}
	var from uint64
	switch {
	case to == "SEQUENCE" && seq == nil:
		return at, problem.FromFaults([]problem.Fault{{Code: "request_invalid", In: "body", Pointer: "", Detail: "SEQUENCE needs the number"}})
	case to == "SEQUENCE":
		from = uint64(*seq)
	case to == "FIRST":
		from, err = q.GetFirstStreamEntry(ctx, namespace)
		if errors.Is(err, sql.ErrNoRows) {
			return at, nil
		}
		if err != nil {
			return at, err
		}
	default:
		return at, nil
	}
	if from == head.NextSeq {
		return at, nil
	}
	return positionAt(ctx, q, namespace, from, head.NextSeq)
}

func positionAt(ctx context.Context, q *db.Queries, namespace, from, head uint64) (stream.Position, error) {
	rows, err := q.ListStreamEntriesBySeq(ctx, db.ListStreamEntriesBySeqParams{NamespaceID: namespace, Seqs: []uint64{from - 1, from}})
	if err != nil {
		return stream.Position{}, err
	}
	if len(rows) == 0 || rows[len(rows)-1].Seq != from {
		refusal := problem.New("sequence_unavailable", "the number is not written yet or no longer kept; FIRST is the oldest one")
		refusal.Limit, refusal.Current = int64(head), int64(from)
		return stream.Position{}, refusal
	}
	at := stream.Position{Next: from, Anchored: from == 1} // before the first entry stand zeros
	if len(rows) == 2 {
		at.Hash, at.Anchored = [32]byte(rows[0].Hash), true
	}
	return at, nil
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
