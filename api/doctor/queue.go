package doctor

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/gen/db"
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
