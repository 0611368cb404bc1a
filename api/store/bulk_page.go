package store

import (
	"context"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// bulks locks the operations of the batch's pages. Without a page the rung is skipped and costs nothing.
func (l *pulseLoad) bulks(ctx context.Context, quota tx.AfterQuota) (tx.AfterDefinition, error) {
	if len(l.batch.Pages) == 0 {
		return quota.AfterDefinition, nil
	}
	rows, place, err := quota.LockBulkOperations(ctx, Bytes(mapped(l.batch.Pages, func(p *pulse.BulkPage) engine.ID { return p.Operation })))
	l.s.Bulks = map[engine.ID]pulse.Bulk{}
	for i := range rows {
		r := &rows[i]
		l.s.Bulks[ID(r.OperationID)] = pulse.Bulk{
			ID: ID(r.OperationID), Application: r.ApplicationID, Queue: r.QueueID, Credential: r.CredentialID, Kind: pulse.BulkKind(r.Kind), State: pulse.BulkState(r.State),
			DryRun: r.DryRun == 1, Want: pulse.Public(r.WantState), Reason: string(r.Reason), Cursor: pulse.BulkCursor{At: r.CursorAt, Task: ID(r.CursorID)},
			Scanned: r.Scanned, Did: r.Did, Skipped: r.Skipped, Refused: r.Refused,
		}
	}
	return place, err
}

func (a *pulseApply) bulks() error { return UpdateBulks(a.ctx, a.t, a.c.Bulks, a.c.BulkItems) }

// UpdateBulks writes how far operations have come, whose rows are held, and what they judged.
func UpdateBulks(ctx context.Context, t *tx.Tx, bulks []pulse.Bulk, items []pulse.BulkItemWrite) error {
	for i := range bulks {
		b := &bulks[i]
		p := db.UpdateBulkOperationParams{
			State: uint8(b.State), CursorAt: b.Cursor.At, CursorID: b.Cursor.Task[:], Scanned: b.Scanned, Did: b.Did, Skipped: b.Skipped, Refused: b.Refused,
			StopCode: Text(b.StopCode), NamespaceID: t.Namespace(), OperationID: b.ID[:],
		}
		if !b.EndedAt.IsZero() {
			p.EndedAt = &b.EndedAt
		}
		rows, err := t.Queries().UpdateBulkOperation(ctx, p)
		if err := tx.Affected(rows, err)(1); err != nil {
			return err
		}
	}
	return tx.Many(ctx, t, tx.Rows((*db.Queries).InsertBulkItem), mapped(items, func(w *pulse.BulkItemWrite) db.InsertBulkItemParams {
		return db.InsertBulkItemParams{
			NamespaceID: t.Namespace(), OperationID: w.Operation[:], TaskID: w.Task[:], Result: uint8(w.Result), Code: []byte(w.Code), SuccessorID: idOrNull(w.Successor),
		}
	}))
}

// bulkScans bounds how many scans without a match one page makes before it writes down how far it came.
const bulkScans = 8

// NextBulkPage finds the next tasks of an operation behind its cursor, without locks: in order of creation, by the index
// of its filter, a bounded number of rows. It holds at most so many tasks, and never more than a page may.
func NextBulkPage(ctx context.Context, q *db.Queries, op *db.BulkOperation, tasksMax int) (pulse.BulkPage, error) {
	f := &bulkFinder{q: q, op: op, filter: filterOf(op), most: tasksMax, page: pulse.BulkPage{
		Operation: ID(op.OperationID), Application: op.ApplicationID, Queue: op.QueueID, Credential: op.CredentialID,
		From: pulse.BulkCursor{At: op.CursorAt, Task: ID(op.CursorID)},
	}}
	f.page.To = f.page.From
	for scan := 0; scan < bulkScans && !f.page.Last && len(f.found) == 0; scan++ {
		if err := f.scan(ctx); err != nil {
			return f.page, err
		}
	}
	return f.page, f.fill(ctx)
}

type bulkFinder struct {
	q      *db.Queries
	op     *db.BulkOperation
	filter pulse.BulkFilter
	most   int
	found  []pulse.BulkCandidate
	seen   []int // how many rows had been looked at when each was found
	page   pulse.BulkPage
}

// pageMax is how many tasks the page may hold.
func (f *bulkFinder) pageMax() int {
	if pulse.BulkKind(f.op.Kind) == pulse.BulkRetry && f.op.DryRun == 0 {
		return min(f.most, engine.BulkRetryPageMax)
	}
	return min(f.most, engine.BulkPageMax)
}

func (f *bulkFinder) scan(ctx context.Context) error {
	rows, err := f.rows(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		if len(f.found) == f.pageMax() {
			return nil // the rest is the next page's
		}
		f.look(candidateOf(&rows[i]))
	}
	f.page.Last = len(rows) < engine.BulkScanMax
	return nil
}

func (f *bulkFinder) look(c pulse.BulkCandidate) {
	f.page.To, f.page.Scanned = pulse.BulkCursor{At: c.At, Task: c.Task}, f.page.Scanned+1
	if f.filter.Matches(pulse.BulkKind(f.op.Kind), &c) {
		f.found, f.seen = append(f.found, c), append(f.seen, f.page.Scanned)
	}
}

// rows reads by the narrowest index: an attribute, a key, one stored state, or the queue.
func (f *bulkFinder) rows(ctx context.Context) ([]db.ListBulkByQueueRow, error) {
	op, at, id := f.op, f.page.To.At, f.page.To.Task[:]
	state, single := storedState(pulse.BulkKind(op.Kind), f.filter.State)
	switch {
	case len(op.AttributeName) > 0:
		rows, err := f.q.ListBulkByAttribute(ctx, db.ListBulkByAttributeParams{NamespaceID: op.NamespaceID, QueueID: op.QueueID, Name: op.AttributeName, Value: op.AttributeValue,
			CreatedFrom: op.CreatedFrom, CreatedBefore: op.CreatedBefore, AfterAt: at, AfterID: id, Limit: engine.BulkScanMax})
		return mapped(rows, func(r *db.ListBulkByAttributeRow) db.ListBulkByQueueRow { return db.ListBulkByQueueRow(*r) }), err
	case len(op.BusinessKey) > 0:
		rows, err := f.q.ListBulkByKey(ctx, db.ListBulkByKeyParams{NamespaceID: op.NamespaceID, QueueID: op.QueueID, BusinessKey: op.BusinessKey,
			CreatedFrom: op.CreatedFrom, CreatedBefore: op.CreatedBefore, AfterAt: at, AfterID: id, Limit: engine.BulkScanMax})
		return mapped(rows, func(r *db.ListBulkByKeyRow) db.ListBulkByQueueRow { return db.ListBulkByQueueRow(*r) }), err
	case single:
		rows, err := f.q.ListBulkByState(ctx, db.ListBulkByStateParams{NamespaceID: op.NamespaceID, QueueID: op.QueueID, State: uint8(state),
			CreatedFrom: op.CreatedFrom, CreatedBefore: op.CreatedBefore, AfterAt: at, AfterID: id, Limit: engine.BulkScanMax})
		return mapped(rows, func(r *db.ListBulkByStateRow) db.ListBulkByQueueRow { return db.ListBulkByQueueRow(*r) }), err
	}
	return f.q.ListBulkByQueue(ctx, db.ListBulkByQueueParams{NamespaceID: op.NamespaceID, QueueID: op.QueueID,
		CreatedFrom: op.CreatedFrom, CreatedBefore: op.CreatedBefore, AfterAt: at, AfterID: id, Limit: engine.BulkScanMax})
}

// storedState is the one value of task.state that holds everything the filter can match, if there is one: what is open
// is stored as one state, whether it runs or waits.
func storedState(kind pulse.BulkKind, want pulse.Public) (pulse.Public, bool) {
	if kind != pulse.BulkRetry {
		return pulse.PublicQueued, true
	}
	return want, want != 0
}

func candidateOf(r *db.ListBulkByQueueRow) pulse.BulkCandidate {
	c := pulse.BulkCandidate{
		Task: ID(r.TaskID), At: r.CreatedAt, State: pulse.Public(r.State), Version: r.StateVersion,
		Handler: string(r.Handler), HandlerVersion: string(r.HandlerVersion), FailureCode: string(r.FailureCode),
	}
	if r.OpenState.Valid {
		c.State = pulse.State(r.OpenState.Int16).Public()
	}
	return c
}

// fill turns what was found into the page's work; retries whose inputs are large make a shorter page.
func (f *bulkFinder) fill(ctx context.Context) error {
	if pulse.BulkKind(f.op.Kind) != pulse.BulkRetry {
		for i := range f.found {
			f.page.Tasks = append(f.page.Tasks, f.found[i].Task)
		}
		return nil
	}
	if len(f.found) == 0 {
		return nil
	}
	rows, err := f.q.ListInputSizes(ctx, db.ListInputSizesParams{NamespaceID: f.op.NamespaceID, TaskIds: Bytes(mapped(f.found, func(c *pulse.BulkCandidate) engine.ID { return c.Task }))})
	sizes := map[engine.ID]int{}
	for _, r := range rows {
		sizes[ID(r.TaskID)] = int(r.InputBytes)
	}
	for i := range f.found {
		c := &f.found[i]
		if i > 0 && f.op.DryRun == 0 && f.page.Bytes+sizes[c.Task] > engine.TransactionBytesMax {
			last := &f.found[i-1]
			f.page.To, f.page.Scanned, f.page.Last = pulse.BulkCursor{At: last.At, Task: last.Task}, f.seen[i-1], false
			break
		}
		f.page.Bytes += sizes[c.Task]
		f.page.Retries = append(f.page.Retries, pulse.ManualRetry{
			Credential: f.op.CredentialID, Application: f.op.ApplicationID, Queue: f.op.QueueID, Task: c.Task, Successor: NewID(),
			Key: pulse.BulkRetryKey(f.page.Operation, c.Task), ExpectedVersion: c.Version, Reason: string(f.op.Reason),
		})
	}
	return err
}

func filterOf(op *db.BulkOperation) pulse.BulkFilter {
	return pulse.BulkFilter{
		State: pulse.Public(op.WantState), BusinessKey: string(op.BusinessKey), Handler: string(op.Handler), HandlerVersion: string(op.HandlerVersion),
		FailureCode: string(op.FailureCode), AttributeName: string(op.AttributeName), AttributeValue: string(op.AttributeValue), From: op.CreatedFrom, Before: op.CreatedBefore,
	}
}
