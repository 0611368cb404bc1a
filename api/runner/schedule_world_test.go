package runner

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// world is a database with an application, one queue, lanes, and any number of runners.
type world struct {
	testing.TB
	db     *dbtest.DB
	writer *tx.DB
	key    auth.Issued
	ns     uint64
	lanes  *lane.Set
	queue  uint64
}

func newWorld(t testing.TB) *world {
	t.Helper()
	d := dbtest.New(t)
	w := &world{TB: t, db: d}
	w.writer = w.pool()
	reader, err := tx.OpenReader(d.DSN(), 4)
	must(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	w.key, err = auth.NewService(w.writer, reader, auth.NewVerifier(reader)).Bootstrap(t.Context(), "test", "app", "key", auth.AllScopes)
	must(t, err)
	w.ns, w.queue = w.key.Key.Namespace, auth.NewID()
	_, err = db.New(d).InsertQueue(t.Context(), db.InsertQueueParams{
		NamespaceID: w.ns, QueueID: w.queue, ApplicationID: w.key.Application, Name: []byte("work"), OpenTasksMax: 100_000, RunningAttemptsMax: 1000, CreatedAt: w.clock(),
	})
	must(t, err)
	w.lanes = lane.New(w.writer, reader, nil, lane.Options{OnInternal: func(err error) { t.Error("internal:", err) }})
	t.Cleanup(w.lanes.Close)
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) pool() *tx.DB {
	w.Helper()
	writer, err := tx.Open(w.db.DSN(), 3)
	must(w, err)
	w.Cleanup(func() { _ = writer.Close() })
	return writer
}

// runner is one node's runner, with connections of its own.
func (w *world) runner() *Runner {
	w.Helper()
	reader, err := tx.OpenReader(w.db.DSN(), 2)
	must(w, err)
	w.Cleanup(func() { _ = reader.Close() })
	r := New(reader, w.pool(), w.lanes, slog.New(slog.NewTextHandler(io.Discard, nil)))
	r.measure(w.Context())
	return r
}

// look is one scan of the schedules.
func (w *world) look(r *Runner) {
	w.Helper()
	v, err := r.look(w.Context(), w.ns)
	must(w, err)
	must(w, r.schedules(w.Context(), v))
}

func (w *world) clock() (now time.Time) {
	w.Helper()
	must(w, w.db.QueryRowContext(w.Context(), "SELECT NOW(6)").Scan(&now))
	return now
}

func (w *world) exec(statement string, args ...any) {
	w.Helper()
	_, err := w.db.ExecContext(w.Context(), statement, args...)
	must(w, err)
}

func (w *world) count(statement string, args ...any) (n int) {
	w.Helper()
	must(w, w.db.QueryRowContext(w.Context(), statement, args...).Scan(&n))
	return n
}

// every is a schedule of one slot every so long, counted from 1970.
func (w *world) every(d time.Duration, policy cron.Policy) *store.ScheduleSpec {
	return &store.ScheduleSpec{Kind: store.ScheduleInterval, EveryMS: d.Milliseconds(), Policy: policy, Task: w.template()}
}

func (w *world) template() pulse.Submission {
	return pulse.Submission{
		Application: w.key.Application, Queue: w.queue, QueueName: "work", Handler: "h", HandlerVersion: "1", Input: []byte(`{"n":1}`), DeadlineMS: 3_600_000,
		AttemptTimeoutMS: 60_000, Retry: pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 1}, Lost: pulse.LostReview, Source: pulse.SourceSchedule,
	}
}

func (w *world) command(name string) store.ScheduleCommand {
	return store.ScheduleCommand{Namespace: w.ns, Application: w.key.Application, Credential: w.key.ID, Schedule: name, Reason: "test"}
}

func (w *world) put(name string, spec *store.ScheduleSpec) {
	w.Helper()
	timing, refusal := spec.Check()
	if refusal != nil {
		w.Fatal(refusal)
	}
	must(w, store.PutSchedule(w.Context(), w.writer, w.command(name), spec, timing, auth.NewID()))
}

func (w *world) head(name string) db.Schedule {
	w.Helper()
	row, err := db.New(w.db).GetScheduleByName(w.Context(), db.GetScheduleByNameParams{NamespaceID: w.ns, ApplicationID: w.key.Application, Name: []byte(name)})
	must(w, err)
	return row
}

// absent makes it look as if nobody had scanned since then: what is planned stands where it stood.
func (w *world) absent(name string, since time.Time, spec *store.ScheduleSpec) {
	w.Helper()
	timing, _ := spec.Timing()
	next, _ := timing.Next(since.Add(-time.Microsecond))
	h := w.head(name)
	w.exec("UPDATE schedule SET skip_before = ?, last_at = ?, next_at = ?, due_at = ? WHERE namespace_id = ? AND schedule_id = ?", since, since, next, next, w.ns, h.ScheduleID)
	w.exec("UPDATE schedule_version SET effective_from = ? WHERE namespace_id = ? AND schedule_id = ? AND version = ?", since, w.ns, h.ScheduleID, h.PlanVersion)
}

// triggers lists what became of the slots, oldest first.
func (w *world) triggers(name string) []db.ScheduleTrigger {
	w.Helper()
	rows, err := db.New(w.db).ListScheduleTriggers(w.Context(), db.ListScheduleTriggersParams{
		NamespaceID: w.ns, ScheduleID: w.head(name).ScheduleID, BeforeAt: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), BeforeID: make([]byte, 16), Limit: 10_000,
	})
	must(w, err)
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

var outcomeLetters = " FMOPCmHB" // fired, missed, overlap, paused, clock, merged, by hand, backfilled

// tell writes the outcomes of a schedule's slots in order.
func (w *world) tell(name string) string {
	w.Helper()
	out := ""
	for _, r := range w.triggers(name) {
		out += string(outcomeLetters[r.Outcome])
	}
	return out
}

// end ends the open tasks of the schedule as a caller would: by cancelling them.
func (w *world) end() {
	w.Helper()
	for _, id := range w.openTasks() {
		_, err := w.lanes.Cancel(w.Context(), w.ns, pulse.Cancel{Credential: w.key.ID, Application: w.key.Application, Queue: w.queue, Task: id, Key: id.Text("c")})
		must(w, err)
	}
}

func (w *world) openTasks() (ids []engine.ID) {
	w.Helper()
	rows, err := w.db.QueryContext(w.Context(), "SELECT task_id FROM open_task")
	must(w, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id []byte
		must(w, rows.Scan(&id))
		ids = append(ids, store.ID(id))
	}
	must(w, rows.Err())
	return ids
}

// consistent holds tasks, triggers, events and counters against each other.
func (w *world) consistent() {
	w.Helper()
	for what, statement := range map[string]string{
		"slots decided twice":         "SELECT COUNT(*) FROM (SELECT 1 FROM schedule_trigger WHERE origin = 1 GROUP BY schedule_id, planned_at HAVING COUNT(*) > 1) x",
		"fired without a task":        "SELECT COUNT(*) FROM schedule_trigger t LEFT JOIN task k ON k.task_id = t.task_id WHERE t.outcome IN (1, 7, 8) AND (k.task_id IS NULL OR k.source <> 3 OR k.owner_id <> t.trigger_id)",
		"tasks without a trigger":     "SELECT COUNT(*) FROM task k LEFT JOIN schedule_trigger t ON t.trigger_id = k.owner_id WHERE t.trigger_id IS NULL",
		"tasks without their event":   "SELECT COUNT(*) FROM task k LEFT JOIN task_event e ON e.task_id = k.task_id AND e.event_no = 1 WHERE e.task_id IS NULL",
		"skipped with a task":         "SELECT COUNT(*) FROM schedule_trigger WHERE outcome IN (2, 3, 4, 5, 6) AND task_id IS NOT NULL",
		"decided before their time":   "SELECT COUNT(*) FROM schedule_trigger WHERE origin = 1 AND decided_at < planned_at",
		"quota counters that drifted": "SELECT COUNT(*) FROM quota q WHERE q.open_tasks <> (SELECT COUNT(*) FROM open_task o WHERE o.application_id = q.application_id)",
		"queue counters that drifted": "SELECT COUNT(*) FROM queue q WHERE q.open_tasks <> (SELECT COUNT(*) FROM open_task o WHERE o.queue_id = q.queue_id)",
	} {
		if n := w.count(statement); n != 0 {
			w.Errorf("%d %s", n, what)
		}
	}
}

// gapless demands that every slot from the first trigger up to the planned one is there.
func (w *world) gapless(name string, every time.Duration) int {
	w.Helper()
	rows := w.triggers(name)
	for i, r := range rows {
		if want := rows[0].PlannedAt.Add(time.Duration(i) * every); !r.PlannedAt.Equal(want) {
			w.Fatalf("%s: slot %d is %s, want %s", name, i, r.PlannedAt, want)
		}
	}
	if next := w.head(name).NextAt; len(rows) > 0 && !next.Equal(rows[len(rows)-1].PlannedAt.Add(every)) {
		w.Errorf("%s: next %s after %s", name, next, rows[len(rows)-1].PlannedAt)
	}
	return len(rows)
}

// running runs runners side by side until stop is called.
func running(ctx context.Context, runners ...*Runner) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, r := range runners {
		wg.Go(func() { r.Run(ctx) })
	}
	return func() { cancel(); wg.Wait() }
}

func named(i int) string { return fmt.Sprintf("s%03d", i) }
