package tx

import (
	"context"

	"github.com/orbitrun/orbit/gen/db"
)

// RungBulk is a bulk operation: beside definitions, after the quota, before the queue of its tasks.
const RungBulk = RungDefinition

// LockBulkOperations locks the operations whose pages a transaction does, in id order.
func (q AfterQuota) LockBulkOperations(ctx context.Context, ids [][]byte) ([]db.LockBulkOperationsRow, AfterDefinition, error) {
	if err := q.descend(RungBulk); err != nil || len(ids) == 0 {
		return nil, q.AfterDefinition, err
	}
	rows, err := q.q.LockBulkOperations(ctx, db.LockBulkOperationsParams{NamespaceID: q.namespace, OperationIds: ids})
	return rows, q.AfterDefinition, err
}
