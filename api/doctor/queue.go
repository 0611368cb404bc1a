package doctor

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

// queueMisfits finds queues whose rate or reasons do not fit their switches.
func queueMisfits(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListQueueMisfits(ctx, db.ListQueueMisfitsParams{NamespaceID: ns, Limit: listMax})
	var found []Finding
	for _, r := range rows {
		found = append(found, Finding{Subject: "queue:" + string(r.Name),
			Detail: fmt.Sprintf("rate_limited %d with %d rate rows; paused %d, draining %d", r.RateLimited, r.HasRate, r.Paused, r.Draining)})
	}
	return found, err
}

// bulkDrift finds bulk operations whose counters are not what they wrote down of each task.
func bulkDrift(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListBulkDrift(ctx, db.ListBulkDriftParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListBulkDriftRow) (string, string) {
		return store.ID(r.OperationID).Text("bulk"), fmt.Sprintf("counts done %d, skipped %d, refused %d; the rows say %d, %d, %d",
			r.Did, r.Skipped, r.Refused, r.RowsDid, r.RowsSkipped, r.RowsRefused)
	}), err
}
