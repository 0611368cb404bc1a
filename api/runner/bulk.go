package runner

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

const (
	// bulksMax bounds the operations that a node goes on with at a time; they take turns page by page.
	bulksMax = 100
	// bulkYield is how long a node leaves an operation to the node that was faster.
	bulkYield = 2 * time.Second
	// bulkRest is the longest rest after a page; it rests as long as the page took, so that half of the application's
	// transactions stay everybody's.
	bulkRest = 100 * time.Millisecond
)

// NoteBulk tells the runner that a bulk operation has begun.
func (r *Runner) NoteBulk() {
	select {
	case r.bulkRing <- struct{}{}:
	default:
	}
}

// bulkWork is what a node remembers of the operations it goes on with; losing it costs nothing but time.
type bulkWork struct {
	left map[engine.ID]time.Time // operations left to others until then
	size map[engine.ID]int       // how many tasks the next page may hold, after one that failed
}

// bulks goes on with the bulk operations of all namespaces. It runs beside the scans, so that a large operation delays
// no lost lease; its pages wait in the lanes like everything else.
func (r *Runner) bulks(ctx context.Context) {
	w := bulkWork{map[engine.ID]time.Time{}, map[engine.ID]int{}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.bulkRing:
		}
		for ctx.Err() == nil && r.bulkRound(ctx, w) {
		}
		timer.Reset(r.tick - r.tick/20 + time.Duration(rand.Int64N(int64(r.tick/10))))
	}
}

// bulkRound does one page of every operation, and reports whether there is reason to go on at once.
func (r *Runner) bulkRound(ctx context.Context, w bulkWork) (more bool) {
	rows, err := r.q.ListRunningBulkOperations(ctx, bulksMax)
	if err != nil {
		r.complain(ctx, "list bulk operations", err)
		return false
	}
	if len(rows) == 0 {
		clear(w.left)
		clear(w.size)
	}
	for i := range rows {
		id := store.ID(rows[i].OperationID)
		if time.Now().Before(w.left[id]) {
			continue
		}
		began := time.Now()
		went, err := r.bulkPage(ctx, &rows[i], w)
		if err != nil {
			r.complain(ctx, "bulk operation "+id.Text("bulk"), err)
		}
		if !went {
			w.left[id] = time.Now().Add(bulkYield)
		}
		more = more || went
		rest(ctx, min(time.Since(began), bulkRest))
	}
	return more
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// bulkPage does the next page of one operation; false: another node was faster, or the database had trouble. A page that
// fails by itself is tried again with one task, and a task that fails alone is told and left alone: a broken row does
// not hold up the rest for ever (T7). After it the pages grow again.
func (r *Runner) bulkPage(ctx context.Context, op *db.BulkOperation, w bulkWork) (bool, error) {
	id := store.ID(op.OperationID)
	size := w.size[id]
	if size == 0 {
		size = engine.BulkPageMax
	}
	page, err := store.NextBulkPage(ctx, r.q, op, size)
	if err != nil {
		return false, err
	}
	out, err := r.lanes.Bulk(ctx, op.NamespaceID, page)
	if fault(err) {
		if page.Items() > 1 {
			w.size[id] = 1
			return true, err
		}
		page.GiveUp()
		out, err = r.lanes.Bulk(ctx, op.NamespaceID, page)
	}
	if err == nil {
		w.size[id] = min(2*size, engine.BulkPageMax)
	}
	return err == nil && !out.Stale, err
}

// fault reports an error that is neither the database's trouble nor this node's end: the page itself cannot be done.
func fault(err error) bool {
	var refusal *engine.Refusal
	return err != nil && !errors.Is(err, tx.ErrBusy) && !errors.Is(err, tx.ErrUnavailable) && !errors.Is(err, tx.ErrOutcomeUnknown) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &refusal)
}
