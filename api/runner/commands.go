package runner

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// commandRetention is how long a transaction's own row is kept: far beyond the time in which a lost COMMIT is asked for.
const commandRetention = time.Hour

// claimRetention is how long a claim can be asked again: no lease lives longer.
const claimRetention = engine.LeaseMax + time.Hour

// commands removes old transaction rows, old claims and windows that are over, a bounded number at a time.
func (r *Runner) commands(ctx context.Context, v view) error {
	bound := firstIDAt(v.now.Add(-commandRetention))
	err := r.purge(ctx, v, "purge_commands", func(ctx context.Context, q *db.Queries) (int64, error) {
		return q.DeleteTxCommands(ctx, db.DeleteTxCommandsParams{NamespaceID: v.ns, CommandID: bound, Limit: purgeMax})
	})
	if err != nil {
		return err
	}
	err = r.purge(ctx, v, "purge_claims", func(ctx context.Context, q *db.Queries) (int64, error) {
		return oldClaims(ctx, q, v)
	})
	if err != nil {
		return err
	}
	return r.slots(ctx, v)
}

// oldClaims removes the oldest claims whose time is over, application by application.
func oldClaims(ctx context.Context, q *db.Queries, v view) (gone int64, err error) {
	rows, err := q.ListOldClaims(ctx, db.ListOldClaimsParams{NamespaceID: v.ns, CreatedAt: v.now.Add(-claimRetention), Limit: purgeMax})
	keys := map[uint64][][]byte{}
	for i := range rows {
		keys[rows[i].ApplicationID] = append(keys[rows[i].ApplicationID], rows[i].ClaimKey)
	}
	for _, application := range slices.Sorted(maps.Keys(keys)) {
		n, err := q.DeleteClaimRecords(ctx, db.DeleteClaimRecordsParams{NamespaceID: v.ns, ApplicationID: application, ClaimKeys: keys[application]})
		if gone += n; err != nil {
			return gone, err
		}
	}
	return gone, err
}

// slots removes windows that are over and whose task has ended. A window taken again meanwhile is held again, and stays.
func (r *Runner) slots(ctx context.Context, v view) error {
	return r.purge(ctx, v, "purge_slots", func(ctx context.Context, q *db.Queries) (int64, error) {
		tasks, err := q.ListIdleSlots(ctx, db.ListIdleSlotsParams{NamespaceID: v.ns, HeldUntil: v.now, Limit: purgeMax})
		if err != nil || len(tasks) == 0 {
			return 0, err
		}
		return q.DeleteIdleSlots(ctx, db.DeleteIdleSlotsParams{NamespaceID: v.ns, HeldUntil: v.now, TaskIds: tasks})
	})
}

// purgeMax bounds the rows of one deleting transaction.
const purgeMax = 1000

// purge repeats a bounded delete, each in a transaction of its own, until nothing is left to delete.
func (r *Runner) purge(ctx context.Context, v view, name string, remove func(context.Context, *db.Queries) (int64, error)) error {
	for {
		var gone int64
		err := r.writer.Run(ctx, v.ns, name, func(ctx context.Context, b tx.Begun) (err error) {
			gone, err = remove(ctx, b.Queries())
			return err
		})
		if err != nil || gone < purgeMax {
			return err
		}
	}
}

// firstIDAt is the smallest UUIDv7 of a time.
func firstIDAt(t time.Time) []byte {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(t.UnixMilli())<<16)
	return id[:]
}
