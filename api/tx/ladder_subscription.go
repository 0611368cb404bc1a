package tx

import (
	"context"

	"github.com/orbitrun/orbit/gen/db"
)

// Subscriptions have a ladder of their own. Creating one is identity → queues → stream, and then a new row; it touches
// no usage, so the quota is not on the way. Consuming is subscription → deliveries → dead letters and nothing else: no
// producer ever waits for a consumer. RungSubscription lies below the stream, so a transaction that holds a
// subscription can lock none of the rows above any more.
const RungSubscription Rung = 13

type (
	// Subscribing holds the caller and the queues to subscribe to; the stream is still ahead.
	Subscribing struct{ *Tx }
	// AfterSubscription holds one subscription; its deliveries are ahead.
	AfterSubscription struct{ AfterDeliveries }
	// AfterDeliveries holds deliveries; dead letters are ahead.
	AfterDeliveries struct {
		*Tx
		subscription uint64
	}
)

// LockSubscribed locks the queues a new subscription selects. None means all, and then the stream alone is locked: the
// number under which the subscription starts is the stream's.
func (i Identified) LockSubscribed(ctx context.Context, queues []uint64) ([]db.LockQueuesRow, Subscribing, error) {
	if err := i.descend(RungQueue); err != nil || len(queues) == 0 {
		return nil, Subscribing{i.Tx}, err
	}
	rows, err := i.q.LockQueues(ctx, db.LockQueuesParams{NamespaceID: i.namespace, QueueIds: sorted(queues)})
	return rows, Subscribing{i.Tx}, err
}

// LockStream locks the stream's head; the subscription's row may be written after it.
func (s Subscribing) LockStream(ctx context.Context) (db.LockStreamRow, error) {
	if err := s.descend(RungStream); err != nil {
		return db.LockStreamRow{}, err
	}
	return s.q.LockStream(ctx, s.namespace)
}

// LockSubscription locks a subscription by its name and sets the transaction's clock after the wait. sql.ErrNoRows when
// there is none.
func (b Begun) LockSubscription(ctx context.Context, application uint64, name string) (db.Subscription, AfterSubscription, error) {
	if err := b.descend(RungSubscription); err != nil {
		return db.Subscription{}, AfterSubscription{}, err
	}
	row, err := b.q.LockSubscription(ctx, db.LockSubscriptionParams{NamespaceID: b.namespace, ApplicationID: application, Name: []byte(name)})
	if err == nil {
		b.now = row.NowAt
	}
	return row.Subscription, AfterSubscription{AfterDeliveries{b.Tx, row.Subscription.SubscriptionID}}, err
}

// LockDeliveries locks all deliveries of the subscription.
func (s AfterSubscription) LockDeliveries(ctx context.Context) ([]db.LockDeliveriesRow, AfterDeliveries, error) {
	rows, err := s.q.LockDeliveries(ctx, db.LockDeliveriesParams{NamespaceID: s.namespace, SubscriptionID: s.subscription})
	return rows, s.AfterDeliveries, err
}

// LockDeliveriesBySeq locks those of the numbers that are unacknowledged.
func (s AfterSubscription) LockDeliveriesBySeq(ctx context.Context, seqs []uint64) ([]db.LockDeliveriesRow, AfterDeliveries, error) {
	if len(seqs) == 0 {
		return nil, s.AfterDeliveries, nil
	}
	rows, err := s.q.LockDeliveriesBySeq(ctx, db.LockDeliveriesBySeqParams{NamespaceID: s.namespace, SubscriptionID: s.subscription, Seqs: sorted(seqs)})
	out := make([]db.LockDeliveriesRow, len(rows))
	for i := range rows {
		out[i] = db.LockDeliveriesRow(rows[i])
	}
	return out, s.AfterDeliveries, err
}

// LockDeadLetters locks those of the numbers that are dead letters.
func (d AfterDeliveries) LockDeadLetters(ctx context.Context, seqs []uint64) ([]db.LockDeadLettersRow, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	return d.q.LockDeadLetters(ctx, db.LockDeadLettersParams{NamespaceID: d.namespace, SubscriptionID: d.subscription, Seqs: sorted(seqs)})
}
