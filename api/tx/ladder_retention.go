package tx

import (
	"context"

	"github.com/orbitrun/orbit/gen/db"
)

// RungRetention lies below the subscriptions: who moves a subscription back holds it until that is committed, and a
// purge holds it while it asks who needs what.
const RungRetention Rung = 14

// AfterRetention holds the namespace's retention row; nothing is locked after it but the rows a purge deletes.
type AfterRetention struct{ *Tx }

// LockRetention locks the row, which it makes when there is none, and sets the transaction's clock after the wait.
func (t *Tx) lockRetention(ctx context.Context) (db.Retention, AfterRetention, error) {
	if err := t.descend(RungRetention); err != nil {
		return db.Retention{}, AfterRetention{}, err
	}
	err := t.q.PutRetentionRow(ctx, db.PutRetentionRowParams{NamespaceID: t.namespace, AuditAfter: make([]byte, 16)})
	if err != nil {
		return db.Retention{}, AfterRetention{}, err
	}
	row, err := t.q.LockRetention(ctx, t.namespace)
	if err == nil {
		t.now = row.NowAt
	}
	return row.Retention, AfterRetention{t}, err
}

// LockRetention is all that a purge locks.
func (b Begun) LockRetention(ctx context.Context) (db.Retention, AfterRetention, error) {
	return b.lockRetention(ctx)
}

// LockRetention lets an administrator change the settings.
func (i Identified) LockRetention(ctx context.Context) (db.Retention, AfterRetention, error) {
	return i.lockRetention(ctx)
}

// HoldRetention keeps purges away until a new position of the subscription is committed.
func (d AfterDeliveries) HoldRetention(ctx context.Context) (db.Retention, error) {
	row, _, err := d.lockRetention(ctx)
	return row, err
}

// HoldRetention keeps purges away until a new subscription that starts in the past is committed.
func (s Subscribing) HoldRetention(ctx context.Context) (db.Retention, error) {
	row, _, err := s.lockRetention(ctx)
	return row, err
}
