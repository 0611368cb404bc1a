package store_test

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"
)

// operatorPlans are the statements behind bulk operations and the view of failures.
func operatorPlans() []planned {
	first := engine.ID{15: 1}
	ids := [][]byte{first[:]}
	now, zero, far := time.Now().UTC(), time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC), time.Now().UTC().Add(48*time.Hour)
	list := func(n int, err error) (int, error) { return n, err }
	return []planned{
		{"ListBulkByQueue", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListBulkByQueue(ctx, db.ListBulkByQueueParams{NamespaceID: planNamespace, QueueID: 3, CreatedFrom: zero, CreatedBefore: far, AfterAt: now.Add(-12 * time.Hour), AfterID: ids[0], Limit: 200})
			return list(len(rows), err)
		}},
		{"ListBulkByState", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListBulkByState(ctx, db.ListBulkByStateParams{NamespaceID: planNamespace, QueueID: 3, State: 3, CreatedFrom: zero, CreatedBefore: far, AfterAt: now.Add(-12 * time.Hour), AfterID: ids[0], Limit: 200})
			return list(len(rows), err)
		}},
		{"ListBulkByKey", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListBulkByKey(ctx, db.ListBulkByKeyParams{NamespaceID: planNamespace, QueueID: 3, BusinessKey: []byte("order 2"), CreatedFrom: zero, CreatedBefore: far, AfterAt: now.Add(-12 * time.Hour), AfterID: ids[0], Limit: 200})
			return list(len(rows), err)
		}},
		{"ListBulkByAttribute", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListBulkByAttribute(ctx, db.ListBulkByAttributeParams{NamespaceID: planNamespace, QueueID: 3, Name: []byte("region"), Value: []byte("r2"), CreatedFrom: zero, CreatedBefore: far, AfterAt: now.Add(-12 * time.Hour), AfterID: ids[0], Limit: 200})
			return list(len(rows), err)
		}},
		{"ListRunningBulkOperations", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListRunningBulkOperations(ctx, 100)
			return list(len(rows), err)
		}},
	}
}
