package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

const scopeQueuesManage = "queues:manage"

// BeginBulk writes down a bulk operation, or finds the one of its key. The queue's row is held when its clock is read, so
// every task accepted before that time is committed and no later one is meant: the set is fixed.
//
// lock: 1 identity S, 2 quota X, 5 queue X.
func BeginBulk(ctx context.Context, d *tx.DB, namespace uint64, r *pulse.BulkRequest, fresh engine.ID) (row db.BulkOperation, replayed bool, err error) {
	err = d.Run(ctx, namespace, "begin_bulk", func(ctx context.Context, b tx.Begun) error {
		callers, _, identified, err := b.LockIdentity(ctx, []uint64{r.Credential}, nil)
		if err != nil {
			return err
		}
		_, quota, err := identified.LockQuotas(ctx, []uint64{r.Application})
		if err != nil {
			return err
		}
		row, err = b.Queries().GetBulkOperationByKey(ctx, db.GetBulkOperationByKeyParams{NamespaceID: namespace, ApplicationID: r.Application, OperationKey: []byte(r.Key)})
		replayed = err == nil
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !replayed {
			if _, _, err := quota.LockQueues(ctx, []uint64{r.Queue}); err != nil {
				return err
			}
		}
		now, err := b.Clock(ctx)
		if err != nil {
			return err
		}
		if err := judgeBulk(callers, r.Application, now, scopeQueuesManage, r.Kind.Scope()); err != nil {
			return err
		}
		if replayed {
			return sameBulk(&row, r)
		}
		row, err = insertBulk(ctx, b.Tx, r, fresh, now)
		return err
	})
	return row, replayed, err
}

func judgeBulk(callers []db.LockCredentialsRow, application uint64, now time.Time, scopes ...string) error {
	var caller engine.Caller
	if len(callers) == 1 && callers[0].ApplicationID == application {
		caller = Caller(&callers[0])
	}
	for _, scope := range scopes {
		if refusal := caller.Judge(scope, now); refusal != nil {
			return refusal
		}
	}
	return nil
}

func sameBulk(row *db.BulkOperation, r *pulse.BulkRequest) error {
	if digest := r.Digest(); string(row.Digest) != string(digest[:]) {
		refusal := engine.Refuse("idempotency_conflict", "this key was used for another operation; use a new key")
		refusal.Subject = ID(row.OperationID).Text("bulk")
		return refusal
	}
	return nil
}

func insertBulk(ctx context.Context, t *tx.Tx, r *pulse.BulkRequest, fresh engine.ID, now time.Time) (db.BulkOperation, error) {
	f, digest, nobody, epoch := &r.Filter, r.Digest(), engine.ID{}, time.Unix(0, 0).UTC()
	before := f.Before
	if before.IsZero() || before.After(now) {
		before = now
	}
	from := f.From
	if from.IsZero() {
		from = epoch
	}
	p := db.InsertBulkOperationParams{
		NamespaceID: t.Namespace(), OperationID: fresh[:], ApplicationID: r.Application, QueueID: r.Queue, CredentialID: r.Credential, OperationKey: []byte(r.Key), Digest: digest[:],
		Kind: uint8(r.Kind), DryRun: bit(r.DryRun), WantState: uint8(f.State), CreatedFrom: from, CreatedBefore: before, CursorAt: epoch, CursorID: nobody[:], CreatedAt: now,
		BusinessKey: Text(f.BusinessKey), Handler: Text(f.Handler), HandlerVersion: Text(f.HandlerVersion), FailureCode: Text(f.FailureCode),
		AttributeName: Text(f.AttributeName), AttributeValue: Text(f.AttributeValue), Reason: []byte(r.Reason),
	}
	rows, err := t.Queries().InsertBulkOperation(ctx, p)
	if err := tx.Affected(rows, err)(1); err != nil {
		return db.BulkOperation{}, err
	}
	err = InsertAudits(ctx, t, now, []pulse.AuditWrite{{
		Application: r.Application, Actor: engine.CredentialText(r.Credential), Action: "bulk.begun", Subject: fresh.Text("bulk"), Reason: r.Reason,
		Detail: fmt.Sprintf(`{"kind":%d,"queue":%q,"dry_run":%t}`, r.Kind, r.QueueName, r.DryRun),
	}})
	return db.BulkOperation{
		NamespaceID: p.NamespaceID, OperationID: p.OperationID, ApplicationID: p.ApplicationID, QueueID: p.QueueID, Kind: p.Kind, DryRun: p.DryRun, State: uint8(pulse.BulkRunning),
		CreatedBefore: before, CreatedAt: now,
	}, err
}

// AbortBulk ends an operation between two pages; what was done stays done. One that has ended stays what it is.
//
// lock: 1 identity S, 2 quota X, 4 bulk X.
func AbortBulk(ctx context.Context, d *tx.DB, namespace, application, credential uint64, id engine.ID, reason string) error {
	return d.Run(ctx, namespace, "abort_bulk", func(ctx context.Context, b tx.Begun) error {
		callers, _, identified, err := b.LockIdentity(ctx, []uint64{credential}, nil)
		if err != nil {
			return err
		}
		_, quota, err := identified.LockQuotas(ctx, []uint64{application})
		if err != nil {
			return err
		}
		rows, _, err := quota.LockBulkOperations(ctx, [][]byte{id[:]})
		if err != nil {
			return err
		}
		now, err := b.Clock(ctx)
		if err != nil {
			return err
		}
		if err := judgeBulk(callers, application, now, scopeQueuesManage); err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].ApplicationID != application {
			return engine.Refuse("bulk_operation_not_found", "there is no such operation in this application")
		}
		if pulse.BulkState(rows[0].State) != pulse.BulkRunning {
			return nil
		}
		r := &rows[0]
		stopped := pulse.Bulk{ID: id, State: pulse.BulkAborted, Cursor: pulse.BulkCursor{At: r.CursorAt, Task: ID(r.CursorID)}, Scanned: r.Scanned, Did: r.Did, Skipped: r.Skipped, Refused: r.Refused, EndedAt: now}
		if err := UpdateBulks(ctx, b.Tx, []pulse.Bulk{stopped}, nil); err != nil {
			return err
		}
		return InsertAudits(ctx, b.Tx, now, []pulse.AuditWrite{{
			Application: application, Actor: engine.CredentialText(credential), Action: "bulk.aborted", Subject: id.Text("bulk"), Reason: reason,
			Detail: fmt.Sprintf(`{"matched":%d,"done":%d,"skipped":%d,"refused":%d}`, stopped.Matched(), r.Did, r.Skipped, r.Refused),
		}})
	})
}
