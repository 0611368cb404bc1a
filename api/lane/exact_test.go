package lane_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

// truths must all count zero at every commit. Each names what it finds.
var truths = []struct{ what, query string }{
	{"applications whose counters differ from their rows", `
		SELECT COUNT(*) FROM quota q LEFT JOIN (SELECT application_id, COUNT(*) n, SUM(state = 2) r, SUM(input_bytes) b FROM open_task WHERE namespace_id = @ns GROUP BY application_id) o
		ON o.application_id = q.application_id
		WHERE q.namespace_id = @ns AND (q.open_tasks <> COALESCE(n, 0) OR q.running_attempts <> COALESCE(r, 0) OR q.open_payload_bytes <> COALESCE(b, 0))`},
	{"queues whose counters differ from their rows", `
		SELECT COUNT(*) FROM queue q LEFT JOIN (SELECT queue_id, COUNT(*) n, SUM(state = 2) r FROM open_task WHERE namespace_id = @ns GROUP BY queue_id) o ON o.queue_id = q.queue_id
		WHERE q.namespace_id = @ns AND (q.open_tasks <> COALESCE(n, 0) OR q.running_attempts <> COALESCE(r, 0))`},
	{"keys whose waiters differ from their rows", `
		SELECT COUNT(*) FROM resource_lock r LEFT JOIN (SELECT resource_key, COUNT(*) n FROM key_wait WHERE namespace_id = @ns GROUP BY resource_key) k ON k.resource_key = r.resource_key
		WHERE r.namespace_id = @ns AND r.waiters <> COALESCE(n, 0)`},
	{"keys with a row for nobody", `SELECT COUNT(*) FROM resource_lock WHERE namespace_id = @ns AND waiters = 0 AND task_id = REPEAT('\0', 16)`},
	{"waits without a parked task or without a key", `
		SELECT COUNT(*) FROM key_wait k LEFT JOIN open_task o ON o.namespace_id = k.namespace_id AND o.task_id = k.task_id
		LEFT JOIN resource_lock r ON r.namespace_id = k.namespace_id AND r.resource_key = k.resource_key
		WHERE k.namespace_id = @ns AND (o.state IS NULL OR o.state <> 4 OR r.waiters IS NULL OR o.resource_key <> k.resource_key)`},
	{"parked tasks that wait for nothing", `
		SELECT COUNT(*) FROM open_task WHERE namespace_id = @ns AND state = 4 AND task_id NOT IN (SELECT task_id FROM key_wait WHERE namespace_id = @ns)`},
	{"keys held by a task that has no permit", `
		SELECT COUNT(*) FROM resource_lock r LEFT JOIN open_task o ON o.namespace_id = r.namespace_id AND o.task_id = r.task_id
		WHERE r.namespace_id = @ns AND r.task_id <> REPEAT('\0', 16) AND (o.permit_held IS NULL OR o.permit_held = 0 OR o.resource_key <> r.resource_key)`},
	{"permits whose key is not held", `
		SELECT COUNT(*) FROM open_task o LEFT JOIN resource_lock r ON r.namespace_id = o.namespace_id AND r.resource_key = o.resource_key AND r.task_id = o.task_id
		WHERE o.namespace_id = @ns AND o.permit_held = 1 AND o.resource_key IS NOT NULL AND r.task_id IS NULL`},
	{"running tasks without permit, lease or token", `
		SELECT COUNT(*) FROM open_task WHERE namespace_id = @ns AND (state = 2) <> (lease_until IS NOT NULL) OR namespace_id = @ns AND state = 2 AND (permit_held = 0 OR token IS NULL)`},
	{"tasks open in one table and ended in the other", `
		SELECT COUNT(*) FROM task t LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
		WHERE t.namespace_id = @ns AND ((t.state IN (1, 5)) <> (o.task_id IS NOT NULL) OR (t.state = 5) <> (COALESCE(o.state, 0) = 6))`},
	{"tasks whose events are not one per version", `
		SELECT COUNT(*) FROM task t JOIN (SELECT task_id, COUNT(*) n, MAX(event_no) m FROM task_event WHERE namespace_id = @ns GROUP BY task_id) e ON e.task_id = t.task_id
		LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
		WHERE t.namespace_id = @ns AND (n <> m OR m <> COALESCE(o.state_version, t.state_version))`},
	{"tasks whose attempts are not one row each", `
		SELECT COUNT(*) FROM open_task o LEFT JOIN (SELECT task_id, COUNT(*) n, SUM(consumed) c FROM attempt WHERE namespace_id = @ns GROUP BY task_id) a ON a.task_id = o.task_id
		WHERE o.namespace_id = @ns AND (o.attempt_no - (o.state = 2) <> COALESCE(n, 0) OR o.attempts_used - (o.state = 2) <> COALESCE(c, 0) OR o.attempts_used > o.max_attempts)`},
	{"results without their entry in the stream", `
		SELECT COUNT(*) FROM task WHERE namespace_id = @ns AND state <> 1 AND (task_id, state, state_version) NOT IN (SELECT task_id, state, state_version FROM stream_entry WHERE namespace_id = @ns)`},
	{"tasks without a receipt", `
		SELECT COUNT(*) FROM task WHERE namespace_id = @ns AND source = 1 AND task_id NOT IN (SELECT subject_id FROM receipt WHERE namespace_id = @ns AND kind = 1)`},
}

// exact checks every counter against the rows it counts, everything else that must hold at every commit, and the chain
// of the stream. Beside running transactions it would see two moments, so it reads them in one.
func (w *world) exact() {
	w.Helper()
	ctx := context.Background()
	conn, err := w.db.Conn(ctx)
	must(w, err)
	defer conn.Close()
	for _, statement := range []string{fmt.Sprintf("SET @ns = %d", w.ns), "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"} {
		_, err := conn.ExecContext(ctx, statement)
		must(w, err)
	}
	for _, truth := range truths {
		var n int
		if err := conn.QueryRowContext(ctx, truth.query).Scan(&n); err != nil {
			w.Fatalf("%s: %v", truth.what, err)
		}
		if n > 0 {
			w.Errorf("%d %s", n, truth.what)
		}
	}
	head, err := db.New(conn).GetStreamHead(ctx, w.ns)
	must(w, err)
	w.chained(conn, head)
	_, err = conn.ExecContext(ctx, "COMMIT")
	must(w, err)
}

// chained recomputes the stream as a consumer would: no gap, no other order, every link right, the head at the end.
func (w *world) chained(conn db.DBTX, head db.GetStreamHeadRow) {
	w.Helper()
	var last [32]byte
	next := uint64(1)
	for {
		rows, err := db.New(conn).ListStreamEntries(context.Background(), db.ListStreamEntriesParams{NamespaceID: w.ns, Seq: next, Limit: 5000})
		must(w, err)
		for _, r := range rows {
			last = store.LinkHash(last, next, &pulse.StreamWrite{Application: r.ApplicationID, Queue: r.QueueID, Task: store.ID(r.TaskID), State: pulse.Public(r.State), Version: r.StateVersion})
			if r.Seq != next || !bytes.Equal(last[:], r.Hash) {
				w.Fatalf("the stream breaks at %d, where %d was expected", r.Seq, next)
			}
			next++
		}
		if len(rows) == 0 {
			break
		}
	}
	if head.NextSeq != next || !bytes.Equal(head.LastHash, last[:]) {
		w.Errorf("the head says %d, the entries end before %d", head.NextSeq, next)
	}
}

// later moves every time of the open tasks into the past: for the rows, d has gone by.
func (w *world) later(d time.Duration) {
	w.Helper()
	for _, statement := range []string{
		`UPDATE open_task SET available_at = available_at - INTERVAL ? MICROSECOND, deadline_at = deadline_at - INTERVAL ? MICROSECOND,
		 started_at = started_at - INTERVAL ? MICROSECOND, lease_until = lease_until - INTERVAL ? MICROSECOND`,
		`UPDATE key_wait SET due_at = due_at - INTERVAL ? MICROSECOND`,
	} {
		args := make([]any, bytes.Count([]byte(statement), []byte("?")))
		for i := range args {
			args[i] = d.Microseconds()
		}
		_, err := w.db.Exec(statement, args...)
		must(w, err)
	}
}

// scan hands everything that is due to a node's lanes, as the runner does.
func (w *world) scan() {
	w.Helper()
	var dues []pulse.Due
	for _, s := range []struct {
		kind  pulse.DueKind
		where string
	}{
		{pulse.DueLost, "state = 2 AND lease_until <= NOW(6) - INTERVAL 2 SECOND"},
		{pulse.DueDelayed, "state = 3 AND available_at <= NOW(6)"},
		{pulse.DueExpired, "state IN (1, 3, 4, 5) AND deadline_at <= NOW(6)"},
	} {
		dues = append(dues, w.due(s.kind, s.where)...)
	}
	must(w, w.Due(context.Background(), w.ns, dues))
}

// due lists the open tasks of a condition as candidates of a scan.
func (w *world) due(kind pulse.DueKind, where string) (dues []pulse.Due) {
	w.Helper()
	rows, err := w.db.Query("SELECT application_id, queue_id, task_id FROM open_task WHERE namespace_id = ? AND "+where+" ORDER BY task_id", w.ns)
	must(w, err)
	defer func() { must(w, rows.Close()) }()
	for rows.Next() {
		d := pulse.Due{Kind: kind}
		var id []byte
		must(w, rows.Scan(&d.Application, &d.Queue, &id))
		d.Task = store.ID(id)
		dues = append(dues, d)
	}
	must(w, rows.Err())
	return dues
}
