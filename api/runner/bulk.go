package runner

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

const (
	// bulksMax bounds the operations that a node goes on with at a time; they take turns page by page.
	bulksMax = 100
	// bulkYield is how long a node leaves an operation to the node that was faster.
	bulkYield = 2 * time.Second
)

// NoteBulk tells the runner that a bulk operation has begun.
func (r *Runner) NoteBulk() {
	select {
	case r.bulkRing <- struct{}{}:
	default:
	}
}

// bulks goes on with the bulk operations of all namespaces. It runs beside the scans, so that a large operation delays
// no lost lease; its pages wait in the lanes like everything else.
func (r *Runner) bulks(ctx context.Context) {
	left := map[engine.ID]time.Time{}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.bulkRing:
		}
		for ctx.Err() == nil && r.bulkRound(ctx, left) {
		}
		timer.Reset(r.tick - r.tick/20 + time.Duration(rand.Int64N(int64(r.tick/10))))
	}
}

// bulkRound does one page of every operation, and reports whether there is reason to go on at once.
func (r *Runner) bulkRound(ctx context.Context, left map[engine.ID]time.Time) (more bool) {
	rows, err := r.q.ListRunningBulkOperations(ctx, bulksMax)
	if err != nil {
		r.complain(ctx, "list bulk operations", err)
		return false
	}
	if len(rows) == 0 {
		clear(left)
	}
	for i := range rows {
		id := store.ID(rows[i].OperationID)
		if time.Now().Before(left[id]) {
			continue
		}
		went, err := r.bulkPage(ctx, &rows[i])
		if err != nil {
			r.complain(ctx, "bulk operation "+id.Text("bulk"), err)
		}
		if !went {
			left[id] = time.Now().Add(bulkYield)
		}
		more = more || went
	}
	return more
}

// bulkPage does the next page of one operation; false: another node was faster, or it failed.
func (r *Runner) bulkPage(ctx context.Context, op *db.BulkOperation) (bool, error) {
	page, err := store.NextBulkPage(ctx, r.q, op)
	if err != nil {
		return false, err
	}
	out, err := r.lanes.Bulk(ctx, op.NamespaceID, page)
	return err == nil && !out.Stale, err
}
