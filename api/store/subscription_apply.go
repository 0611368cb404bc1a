package store

import (
	"context"

	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// ApplySubscription writes what a plan says of one subscription whose row is held: deliveries, dead letters, and the
// counters that must equal them.
func ApplySubscription(ctx context.Context, t *tx.Tx, c *stream.Changes) error {
	if c.Empty {
		return nil
	}
	a := subscriptionApply{ctx, t, c, c.After.ID}
	for _, write := range []func() error{a.gone, a.put, a.buried, a.cleared} {
		if err := write(); err != nil {
			return err
		}
	}
	return PutPosition(ctx, t, &c.After)
}

type subscriptionApply struct {
	ctx context.Context
	t   *tx.Tx
	c   *stream.Changes
	id  uint64
}

// gone removes deliveries that were acknowledged or became dead letters.
func (a subscriptionApply) gone() error {
	seqs := a.c.Settled
	for i := range a.c.Buried {
		seqs = append(seqs, a.c.Buried[i].Seq)
	}
	if len(seqs) == 0 {
		return nil
	}
	rows, err := a.t.Queries().DeleteDeliveries(a.ctx, db.DeleteDeliveriesParams{NamespaceID: a.t.Namespace(), SubscriptionID: a.id, Seqs: seqs})
	return tx.Affected(rows, err)(len(seqs))
}

func (a subscriptionApply) put() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).PutDelivery, mapped(a.c.Put, func(d *stream.Delivery) db.PutDeliveryParams {
		return db.PutDeliveryParams{
			NamespaceID: a.t.Namespace(), SubscriptionID: a.id, Seq: d.Seq, PreviousSeq: d.Previous, Generation: d.Generation,
			Tries: uint16(d.Tries), Holder: d.Holder, DueAt: d.DueAt,
		}
	}))
}

func (a subscriptionApply) buried() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertDeadLetter), mapped(a.c.Buried, func(l *stream.Letter) db.InsertDeadLetterParams {
		return db.InsertDeadLetterParams{
			NamespaceID: a.t.Namespace(), SubscriptionID: a.id, Seq: l.Seq, PreviousSeq: l.Previous, Generation: l.Generation,
			DeadAt: l.DueAt, Reason: Text(l.Reason),
		}
	}))
}

func (a subscriptionApply) cleared() error {
	if len(a.c.Cleared) == 0 {
		return nil
	}
	rows, err := a.t.Queries().DeleteDeadLetters(a.ctx, db.DeleteDeadLettersParams{NamespaceID: a.t.Namespace(), SubscriptionID: a.id, Seqs: a.c.Cleared})
	return tx.Affected(rows, err)(len(a.c.Cleared))
}

// PutPosition writes position, counters and version of a subscription whose row is held.
func PutPosition(ctx context.Context, t *tx.Tx, s *stream.Subscription) error {
	rows, err := t.Queries().UpdateSubscriptionPosition(ctx, db.UpdateSubscriptionPositionParams{
		Epoch: s.Epoch, NextSeq: s.Next, LastHash: linkOrNull(&s.Position), LastSeq: s.Last, SelectedCount: s.Selected,
		PendingCount: s.Pending, DeadCount: s.Dead, Version: s.Version, NamespaceID: t.Namespace(), SubscriptionID: s.ID,
	})
	return tx.Affected(rows, err)(1)
}
