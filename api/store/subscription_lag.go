package store

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"
)

// SubscriptionLag is how far one subscription is behind its stream.
type SubscriptionLag struct {
	Namespace, Application, Name string
	Unread, Pending, Dead        int64
	Oldest                       time.Duration // age of the oldest selected result that is not acknowledged; 0: there is none
}

// SubscriptionLags reads the subscriptions that are farthest behind, at most limit of them, of all namespaces. It locks
// nothing.
func SubscriptionLags(ctx context.Context, q *db.Queries, limit int32) ([]SubscriptionLag, error) {
	rows, err := q.ListSubscriptionLags(ctx, limit)
	if err != nil {
		return nil, err
	}
	out := make([]SubscriptionLag, len(rows))
	for i := range rows {
		r := &rows[i]
		s := Subscription(&r.Subscription)
		out[i] = SubscriptionLag{
			Namespace: string(r.NamespaceName), Application: string(r.ApplicationName), Name: string(r.Subscription.Name),
			Unread: max(int64(r.HeadSeq)-int64(s.Next), 0), Pending: s.Pending, Dead: s.Dead,
		}
		oldest := r.PendingAt
		if oldest == nil && out[i].Unread > 0 {
			if oldest, err = firstSelected(ctx, q, r.Subscription.NamespaceID, &s, r.HeadSeq); err != nil {
				return nil, err
			}
		}
		if oldest != nil {
			out[i].Oldest = max(r.NowAt.Sub(*oldest), 0)
		}
	}
	return out, nil
}

// firstSelected is the time of the first unread entry that is selected. Entries that are not do not count: a subscription
// to failures is not behind while nothing fails. It looks no farther than one pull would; nothing found there: none.
func firstSelected(ctx context.Context, q *db.Queries, namespace uint64, s *stream.Subscription, head uint64) (*time.Time, error) {
	rows, err := q.ListStreamRange(ctx, db.ListStreamRangeParams{NamespaceID: namespace, FromSeq: s.Next, BeforeSeq: min(head, s.Next+stream.ScanMax)})
	if err != nil {
		return nil, err
	}
	entries := StreamEntries(rows)
	if err := ReadHandlers(ctx, q, namespace, s, entries); err != nil {
		return nil, err
	}
	for i := range entries {
		if s.Selects(&entries[i]) {
			return &rows[i].At, nil
		}
	}
	return nil, nil
}
