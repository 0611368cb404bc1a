package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

// deep are checks that read everything: every event, every attempt, every link of the stream, page by page, so that they
// may run beside live work for as long as they take.
var deep = []check{
	{"task_history", taskHistories}, {"stream_chain", streamChain}, {"instance_history", instanceHistories},
}

// DeepNames lists the checks of CheckDeep.
func DeepNames() []string { return namesOf(append(append([]check{}, checks...), deep...)) }

// CheckDeep runs every check of Check, and then those that read everything.
func CheckDeep(ctx context.Context, reader *sql.DB) ([]Finding, error) {
	return run(ctx, reader, append(append([]check{}, checks...), deep...))
}

// pageMax is how many rows of one kind a deep check reads at a time.
const pageMax = 500

// taskHistories finds tasks whose events or attempts have a hole, or do not fit the task: one event for every version,
// attempts from one on, the running one above them, and no more of them than the budget.
func taskHistories(ctx context.Context, q *db.Queries, ns uint64) (found []Finding, err error) {
	for after := make([]byte, 16); len(found) < listMax; {
		ids, err := q.ListTaskPage(ctx, db.ListTaskPageParams{NamespaceID: ns, TaskID: after, Limit: pageMax})
		if err != nil || len(ids) == 0 {
			return found, err
		}
		after = ids[len(ids)-1]
		rows, err := q.ListTaskHistories(ctx, db.ListTaskHistoriesParams{NamespaceID: ns, TaskIds: ids})
		if err != nil {
			return found, err
		}
		for i := range rows {
			if torn := tornHistory(&rows[i]); torn != "" {
				found = append(found, Finding{Subject: taskText(rows[i].TaskID), Detail: torn})
			}
		}
	}
	return found, nil
}

func tornHistory(r *db.ListTaskHistoriesRow) string {
	running, started := r.OpenState == int64(pulse.Running), r.LastAttempt
	if running {
		started++
	}
	switch {
	case r.Events != r.Version || r.LastEvent != r.Version:
		return fmt.Sprintf("at version %d, with %d events up to %d", r.Version, r.Events, r.LastEvent)
	case r.Attempts != r.LastAttempt:
		return fmt.Sprintf("%d attempts up to number %d", r.Attempts, r.LastAttempt)
	case r.OpenState != 0 && r.AttemptNo != started:
		return fmt.Sprintf("at attempt %d, with attempts up to %d on record", r.AttemptNo, r.LastAttempt)
	case r.AttemptsUsed > int64(r.MaxAttempts):
		return fmt.Sprintf("%d attempts used of %d", r.AttemptsUsed, r.MaxAttempts)
	}
	return ""
}

// streamChain walks the stream: every link follows from the one before, and every final result is what its task says.
func streamChain(ctx context.Context, q *db.Queries, ns uint64) (found []Finding, err error) {
	from, before := uint64(1), [32]byte{}
	anchored := true
	if kept, err := q.GetRetention(ctx, ns); err == nil && kept.FirstSeq > 1 {
		from, anchored = kept.FirstSeq, false // what was before is gone
	} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	for len(found) < listMax {
		rows, err := q.ListStreamEntries(ctx, db.ListStreamEntriesParams{NamespaceID: ns, Seq: from, Limit: pageMax})
		if err != nil || len(rows) == 0 {
			return found, err
		}
		for i := range rows {
			e := stream.Entry{Seq: rows[i].Seq, Application: rows[i].ApplicationID, Queue: rows[i].QueueID, Task: store.ID(rows[i].TaskID),
				State: rows[i].State, Version: rows[i].StateVersion}
			if link := stream.Link(before, &e); anchored && (link != [32]byte(rows[i].Hash) || e.Seq != from) {
				found = append(found, Finding{Subject: fmt.Sprintf("stream:%d", e.Seq), Detail: fmt.Sprintf("does not continue %d", from-1)})
			}
			before, anchored, from = [32]byte(rows[i].Hash), true, e.Seq+1
		}
		some, err := resultMismatches(ctx, q, ns, rows)
		if err != nil {
			return found, err
		}
		found = append(found, some...)
	}
	return found, nil
}

// resultMismatches compares final results with their tasks. A task that waits for a person may have moved on since.
func resultMismatches(ctx context.Context, q *db.Queries, ns uint64, rows []db.ListStreamEntriesRow) (found []Finding, err error) {
	ids := make([][]byte, len(rows))
	for i := range rows {
		ids[i] = rows[i].TaskID
	}
	tasks, err := q.ListTaskStates(ctx, db.ListTaskStatesParams{NamespaceID: ns, TaskIds: ids})
	says := map[string]db.ListTaskStatesRow{}
	for _, t := range tasks {
		says[string(t.TaskID)] = t
	}
	for i := range rows {
		r := &rows[i]
		t, there := says[string(r.TaskID)]
		if !there && deletedMeanwhile(ctx, q, ns, r.Seq) {
			continue
		}
		if pulse.Public(r.State).Terminal() && (t.State != r.State || t.StateVersion != r.StateVersion) {
			found = append(found, Finding{Subject: taskText(r.TaskID), Detail: fmt.Sprintf("result %d says state %d at version %d, the task %d at %d", r.Seq, r.State, r.StateVersion, t.State, t.StateVersion)})
		}
	}
	return found, err
}

// deletedMeanwhile reports whether retention has taken a result since it was read, and its task with it.
func deletedMeanwhile(ctx context.Context, q *db.Queries, ns, seq uint64) bool {
	kept, err := q.GetRetention(ctx, ns)
	return err == nil && kept.FirstSeq > seq
}

// instanceHistories finds instances whose revisions have a hole.
func instanceHistories(ctx context.Context, q *db.Queries, ns uint64) (found []Finding, err error) {
	for after := make([]byte, 16); len(found) < listMax; {
		rows, err := q.ListInstanceHistories(ctx, db.ListInstanceHistoriesParams{NamespaceID: ns, InstanceID: after, Limit: pageMax})
		if err != nil || len(rows) == 0 {
			return found, err
		}
		for i := range rows {
			if r := &rows[i]; r.Entries != int64(r.Revision) || r.LastEntry != int64(r.Revision) {
				found = append(found, Finding{Subject: store.ID(r.InstanceID).Text("inst"), Detail: fmt.Sprintf("at revision %d, with %d entries up to %d", r.Revision, r.Entries, r.LastEntry)})
			}
		}
		after = rows[len(rows)-1].InstanceID
	}
	return found, nil
}
