package retention

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/retention"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// entries deletes the oldest results that no subscription can ask for any more, and releases the tasks that ended with
// them.
func entries(ctx context.Context, p *purge) (bool, error) {
	if p.set.Stream == 0 {
		return false, nil
	}
	floor, err := p.floor(ctx)
	if err != nil {
		return false, err
	}
	rows, err := p.Queries().ListOldestEntries(ctx, db.ListOldestEntriesParams{NamespaceID: p.Namespace(), BeforeSeq: floor, Limit: entriesMax})
	if err != nil {
		return false, err
	}
	list := make([]retention.Entry, len(rows))
	for i := range rows {
		list[i] = retention.Entry{Seq: rows[i].Seq, At: rows[i].At, Final: pulse.Public(rows[i].State).Terminal()}
	}
	if len(list) > 0 {
		p.late = p.before(p.set.Stream).Sub(list[0].At)
	}
	n := retention.Cut(list, floor, p.before(p.set.Stream))
	if n == 0 {
		return false, nil
	}
	var released []db.InsertEndedTaskParams
	for i := range n {
		if list[i].Final {
			released = append(released, db.InsertEndedTaskParams{NamespaceID: p.Namespace(), LookAt: rows[i].At, TaskID: rows[i].TaskID})
		}
	}
	if err := tx.Many(ctx, p.Tx, tx.Rows((*db.Queries).InsertEndedTask), released); err != nil {
		return false, err
	}
	end := rows[n-1].Seq + 1
	gone, err := p.Queries().DeleteStreamEntries(ctx, db.DeleteStreamEntriesParams{NamespaceID: p.Namespace(), FromSeq: rows[0].Seq, BeforeSeq: end})
	p.row.FirstSeq, p.row.EntriesRemoved, p.removed = end, p.row.EntriesRemoved+uint64(n), n
	return n == entriesMax, tx.Affected(gone, err)(n)
}

// floor asks every subscription what it may still need, while nobody can move back.
func (p *purge) floor(ctx context.Context) (uint64, error) {
	head, err := p.Queries().GetStreamHead(ctx, p.Namespace())
	if errors.Is(err, sql.ErrNoRows) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	holders, err := p.Queries().ListStreamHolders(ctx, db.ListStreamHoldersParams{NamespaceID: p.Namespace()})
	var wanted []uint64
	for i := range holders {
		wanted = append(wanted, uint64(holders[i].Seq))
	}
	return retention.Floor(head.NextSeq, wanted), err
}

// lookAgain is how much later a task that is still needed is looked at again.
const lookAgain = time.Hour

// tasks deletes ended tasks with all that hangs on them.
func tasks(ctx context.Context, p *purge) (bool, error) {
	if p.set.Tasks == 0 {
		return false, nil
	}
	before := p.before(p.set.Tasks)
	rows, err := p.Queries().ListOverdueTasks(ctx, db.ListOverdueTasksParams{NamespaceID: p.Namespace(), BeforeAt: before, Limit: tasksMax})
	if err != nil {
		return false, err
	}
	if len(rows) > 0 {
		p.late = before.Sub(rows[0].LookAt)
	}
	var gone []engine.ID
	for i := range rows {
		if t := (retention.Task{InstanceOpen: rows[i].InstanceOpen != 0, SuccessorKept: rows[i].SuccessorKept != 0}); t.Needed() {
			changed, err := p.Queries().UpdateEndedTask(ctx, db.UpdateEndedTaskParams{LaterAt: before.Add(lookAgain), NamespaceID: p.Namespace(), LookAt: rows[i].LookAt, TaskID: rows[i].TaskID})
			if err := tx.Affected(changed, err)(1); err != nil {
				return false, err
			}
			continue
		}
		gone = append(gone, store.ID(rows[i].TaskID))
	}
	p.row.TasksRemoved, p.removed = p.row.TasksRemoved+uint64(len(gone)), len(gone)
	return len(rows) == tasksMax, p.removeTasks(ctx, before, gone)
}

// removeTasks deletes tasks from every table that knows them, the task itself first: who comes back to it now waits.
func (p *purge) removeTasks(ctx context.Context, before time.Time, tasks []engine.ID) error {
	if len(tasks) == 0 {
		return nil
	}
	q, ns, ids := p.Queries(), p.Namespace(), store.Bytes(tasks)
	rows, err := q.DeleteEndedTaskRows(ctx, db.DeleteEndedTaskRowsParams{NamespaceID: ns, TaskIds: ids})
	if err := tx.Affected(rows, err)(len(tasks)); err != nil {
		return err
	}
	rows, err = q.DeleteEndedTasks(ctx, db.DeleteEndedTasksParams{NamespaceID: ns, BeforeAt: before, TaskIds: ids})
	if err := tx.Affected(rows, err)(len(tasks)); err != nil {
		return err
	}
	return errors.Join(
		q.DeleteAttempts(ctx, db.DeleteAttemptsParams{NamespaceID: ns, TaskIds: ids}),
		q.DeleteTaskEvents(ctx, db.DeleteTaskEventsParams{NamespaceID: ns, TaskIds: ids}),
		q.DeleteLateEvidence(ctx, db.DeleteLateEvidenceParams{NamespaceID: ns, TaskIds: ids}),
		q.DeleteTaskReviews(ctx, db.DeleteTaskReviewsParams{NamespaceID: ns, TaskIds: ids}),
		q.DeleteTaskRetries(ctx, db.DeleteTaskRetriesParams{NamespaceID: ns, TaskIds: ids}),
		q.DeleteTaskAttributes(ctx, db.DeleteTaskAttributesParams{NamespaceID: ns, TaskIds: ids}),
		q.DeleteTaskProgress(ctx, db.DeleteTaskProgressParams{NamespaceID: ns, TaskIds: ids}),
	)
}
