package store_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
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
		{"ListFailures", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListFailures(ctx, db.ListFailuresParams{NamespaceID: planNamespace, QueueID: 3, State: 3, CreatedFrom: zero, CreatedBefore: far, BeforeAt: now.Add(-12 * time.Hour), BeforeID: ids[0], Limit: 200})
			return list(len(rows), err)
		}},
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

// countFailures is the grouped view of failures; what it returns is what it counted.
var countFailures = planned{"CountFailures", true, func(ctx context.Context, q *db.Queries) (int, error) {
	zero, far := time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC), time.Now().UTC().Add(48*time.Hour)
	rows, err := q.CountFailures(ctx, db.CountFailuresParams{NamespaceID: planNamespace, QueueID: 3, State: 3, CreatedFrom: zero, CreatedBefore: far, Limit: 1000})
	counted := 0
	for _, r := range rows {
		counted += int(r.Tasks)
	}
	return counted, err
}}

// counts shows that the groups come from the newest entries of the index of state and time, and from no other row: only
// the bounded set that was read is grouped.
func counts(t *testing.T, conn *sql.Conn) {
	t.Helper()
	access, index, extra := explain(t, conn, countFailures.record(context.Background()))
	before, began := handlerReads(t, conn), time.Now()
	counted, err := countFailures.call(context.Background(), db.New(conn))
	must(t, err)
	took := time.Since(began)
	read := handlerReads(t, conn) - before
	t.Logf("CountFailures: %s, %s, %s; %d counted of %d reads in %v", access, index, extra, counted, read, took.Round(100*time.Microsecond))
	if counted != 1000 || !strings.HasSuffix(access, "range") || strings.TrimSpace(index) != "task_list_state" || read > 5*counted+20 {
		t.Errorf("counted %d, read %d, access %s by %s", counted, read, access, index)
	}
}
