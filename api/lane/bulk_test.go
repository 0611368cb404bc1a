package lane_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

// begin begins a bulk operation about everything in the world's queue so far.
func (w *world) begin(kind pulse.BulkKind, key string) engine.ID {
	w.Helper()
	writer, _ := w.connect(w.db.DSN(), 1)
	row, _, err := store.BeginBulk(context.Background(), writer, w.ns, &pulse.BulkRequest{Credential: w.key.ID, Application: w.key.Application, QueueName: w.name, Queue: w.queue, Key: key, Kind: kind, Reason: "many"}, store.NewID())
	must(w, err)
	return store.ID(row.OperationID)
}

// finish does the pages of an operation that are left, as a node would.
func (w *world) finish(id engine.ID) error { return w.finishOn(w.Set, id) }

// finishOn does them on one node; what another has done meanwhile is found anew.
func (w *world) finishOn(set *lane.Set, id engine.ID) error {
	q := db.New(w.db)
	for {
		row, err := q.GetBulkOperation(context.Background(), db.GetBulkOperationParams{NamespaceID: w.ns, ApplicationID: w.key.Application, OperationID: id[:]})
		if err != nil || pulse.BulkState(row.State) != pulse.BulkRunning {
			return err
		}
		page, err := store.NextBulkPage(context.Background(), q, &row, engine.BulkPageMax)
		if err != nil {
			return err
		}
		if _, err := set.Bulk(context.Background(), w.ns, page); err != nil {
			return err
		}
	}
}

// Bulk operations beside everything else, on two nodes: submissions with resource keys, claims, completions, single cancels
// and the pages of a cancel, a purge and a retry meet on the same tasks. No deadlock, no failed call, every counter exact.
func TestBulkPagesMeetEverythingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	nodes := []*lane.Set{w.Set, w.node(w.db.DSN(), lane.Options{})}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	var all sync.WaitGroup
	var submitted, cancelled atomic.Int64
	loop := func(f func(set *lane.Set, i int)) {
		for n := range 4 {
			all.Go(func() {
				for i := n; ctx.Err() == nil; i++ {
					f(nodes[i%2], i)
				}
			})
		}
	}
	loop(func(set *lane.Set, i int) {
		var subs []pulse.Submission
		for j := range 8 {
			subs = append(subs, w.submission(func(s *pulse.Submission) {
				if j%2 == 0 {
					s.ResourceKey = fmt.Sprint("r", (i+j)%7)
				}
			}))
		}
		out, err := set.Submit(context.Background(), w.ns, subs)
		if err != nil {
			t.Error(err)
			return
		}
		submitted.Add(8)
		if i%3 == 0 {
			o, err := set.Cancel(context.Background(), w.ns, pulse.Cancel{Credential: w.key.ID, Application: w.key.Application, Queue: w.queue, Task: out[0].TaskID})
			if err != nil || o.Refusal != nil {
				t.Error(err, o.Refusal)
			}
		}
	})
	loop(func(set *lane.Set, i int) {
		got, refusal, err := set.Claim(context.Background(), w.ns, w.claim(6), 20*time.Millisecond)
		if err != nil || refusal != nil {
			t.Error(err, refusal)
		}
		var reports []pulse.Report
		for j := range got {
			reports = append(reports, w.report(&got[j].Task, []pulse.Outcome{pulse.Succeeded, pulse.Permanent, pulse.Retryable}[(i+j)%3]))
		}
		if len(reports) > 0 {
			if _, _, _, err := set.Complete(context.Background(), w.ns, reports, nil); err != nil {
				t.Error(err)
			}
		}
	})
	for n, kind := range []pulse.BulkKind{pulse.BulkCancel, pulse.BulkPurge, pulse.BulkRetry} {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id := w.begin(kind, fmt.Sprint("bulk ", n, i))
				var both sync.WaitGroup
				for _, set := range nodes {
					both.Go(func() {
						if err := w.finishOn(set, id); err != nil {
							t.Error(err)
						}
					})
				}
				both.Wait()
				cancelled.Add(int64(w.scalar("SELECT did FROM bulk_operation WHERE operation_id = ?", id[:])))
			}
		})
	}
	all.Wait()
	if n := w.retries(); n[1213]+n[1205] > 0 {
		t.Errorf("retries by server error: %v", n)
	}
	operations := w.scalar("SELECT COUNT(*) FROM bulk_operation WHERE state = 2")
	if drift := w.scalar("SELECT COUNT(*) FROM bulk_operation b WHERE b.did + b.skipped + b.refused <> (SELECT COUNT(*) FROM bulk_item i WHERE i.operation_id = b.operation_id)"); drift > 0 {
		t.Errorf("%d operations count other than they wrote down", drift)
	}
	t.Logf("%d submitted; %d bulk operations did %d tasks; retries %v", submitted.Load(), operations, cancelled.Load(), w.retries())
	if operations < 3 || cancelled.Load() == 0 {
		t.Error("nothing met anything")
	}
	w.exact()
}
