package lane_test

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

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
func (w *world) finish(id engine.ID) error {
	q := db.New(w.db)
	for {
		row, err := q.GetBulkOperation(context.Background(), db.GetBulkOperationParams{NamespaceID: w.ns, ApplicationID: w.key.Application, OperationID: id[:]})
		if err != nil || pulse.BulkState(row.State) != pulse.BulkRunning {
			return err
		}
		page, err := store.NextBulkPage(context.Background(), q, &row)
		if err != nil {
			return err
		}
		out, err := w.Bulk(context.Background(), w.ns, page)
		if err == nil && out.Stale {
			err = fmt.Errorf("the page is stale")
		}
		if err != nil {
			return err
		}
	}
}
