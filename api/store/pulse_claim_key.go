package store

import (
	"context"
	"maps"
	"slices"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// claimRecords locks what claims that are asked again had started. A first question reads nothing: if its key is known
// after all, the insert of its record shows it, and the transaction runs again with a look.
func (l *pulseLoad) claimRecords(ctx context.Context, place tx.AfterQuota) error {
	keys := textSets[uint64]{}
	for i := range l.batch.Claims {
		c := &l.batch.Claims[i]
		if c.Key == "" || c.Question == 0 && !l.hints.LookUpReceipts {
			continue
		}
		keys.add(c.Application, c.Key)
	}
	for _, application := range slices.Sorted(maps.Keys(keys)) {
		rows, err := place.LockClaimRecords(ctx, application, sortedTexts(keys[application]))
		if err != nil {
			return err
		}
		for _, r := range rows {
			l.s.ClaimRecords[pulse.ClaimKey{Application: application, Key: string(r.ClaimKey)}] =
				pulse.ClaimRecord{Digest: [32]byte(r.Digest), Asked: r.Asked, Started: pulse.ParseStarted(r.Started)}
		}
	}
	return nil
}

// claimedBefore lists the tasks those claims had started, for the locks of the transaction.
func (l *pulseLoad) claimedBefore() []engine.ID {
	var ids []engine.ID
	for _, r := range l.s.ClaimRecords {
		for _, s := range r.Started {
			ids = append(ids, s.Task)
		}
	}
	return ids
}

func (a *pulseApply) claimRecords() error {
	var fresh []db.InsertClaimRecordParams
	for i := range a.c.ClaimRecords {
		w := &a.c.ClaimRecords[i]
		if !w.Known {
			fresh = append(fresh, db.InsertClaimRecordParams{
				NamespaceID: a.ns, ApplicationID: w.Key.Application, ClaimKey: []byte(w.Key.Key), Digest: w.Record.Digest[:],
				Asked: w.Record.Asked, Started: pulse.StartedText(w.Record.Started), CreatedAt: a.s.Now,
			})
			continue
		}
		rows, err := a.t.Queries().UpdateClaimRecord(a.ctx, db.UpdateClaimRecordParams{Asked: w.Record.Asked, NamespaceID: a.ns, ApplicationID: w.Key.Application, ClaimKey: []byte(w.Key.Key)})
		if err := tx.Affected(rows, err)(1); err != nil {
			return err
		}
	}
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertClaimRecord), fresh)
}
