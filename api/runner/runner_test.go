package runner_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/runner"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// node is a database with lanes and runners over it, and nothing else: whatever happens, the runners found.
type node struct {
	*testing.T
	*lane.Set
	db       *dbtest.DB
	writer   *tx.DB
	reader   *sql.DB
	key      auth.Issued
	ns       uint64
	queue    uint64
	seq      int
	internal bool // internal errors are part of the test
	note     func(namespace uint64, at time.Time)
	mu       sync.Mutex
}

func newNode(t *testing.T) *node {
	d := dbtest.New(t)
	n := &node{T: t, db: d, note: func(uint64, time.Time) {}}
	var err error
	n.writer, err = tx.Open(d.DSN(), 4)
	n.must(err)
	t.Cleanup(func() { _ = n.writer.Close() })
	n.reader, err = tx.OpenReader(d.DSN(), 4)
	n.must(err)
	t.Cleanup(func() { _ = n.reader.Close() })
	n.key, err = auth.NewService(n.writer, n.reader, auth.NewVerifier(n.reader)).Bootstrap(t.Context(), "test", "app", "key", auth.AllScopes)
	n.must(err)
	n.ns, n.queue = n.key.Key.Namespace, auth.NewID()
	_, err = db.New(d).InsertQueue(t.Context(), db.InsertQueueParams{
		NamespaceID: n.ns, QueueID: n.queue, ApplicationID: n.key.Application, Name: []byte("work"), OpenTasksMax: 1 << 20, RunningAttemptsMax: 1 << 20, CreatedAt: time.Now().UTC(),
	})
	n.must(err)
	n.Set = lane.New(n.writer, n.reader, nil, lane.Options{
		OnInternal: func(err error) {
			if !n.internal {
				t.Error("internal:", err)
			}
		},
		OnDelayed: func(ns uint64, at time.Time) {
			n.mu.Lock()
			note := n.note
			n.mu.Unlock()
			note(ns, at)
		},
	})
	t.Cleanup(n.Close)
	return n
}

func (n *node) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// runs starts runners until the test ends.
func (n *node) runs(count int) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range count {
		r := runner.New(n.reader, n.writer, n.Set, slog.New(slog.NewTextHandler(testWriter{n.T}, nil)))
		n.mu.Lock()
		n.note = r.Note
		n.mu.Unlock()
		all.Go(func() { r.Run(ctx) })
	}
	n.Cleanup(func() { cancel(); all.Wait() })
}

// testWriter fails the test on every warning: a scan that fails is a scan that finds nothing.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Errorf("the runner complains: %s", b)
	return len(b), nil
}

func (n *node) submit(change ...func(*pulse.Submission)) engine.ID {
	n.Helper()
	n.seq++
	input := []byte(`{}`)
	s := pulse.Submission{
		Credential: n.key.ID, Application: n.key.Application, TaskID: store.NewID(), Key: fmt.Sprint("key-", n.seq), QueueName: "work", Queue: n.queue, Handler: "h", HandlerVersion: "1",
		Input: input, InputDigest: sha256.Sum256(input), DeadlineMS: 3_600_000, AttemptTimeoutMS: 60_000, Retry: pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 3}, Lost: pulse.LostReview,
	}
	for _, f := range change {
		f(&s)
	}
	out, err := n.Submit(n.Context(), n.ns, []pulse.Submission{s})
	n.must(err)
	if out[0].Refusal != nil {
		n.Fatal(out[0].Refusal)
	}
	return s.TaskID
}

func (n *node) claim(wait time.Duration) []lane.Granted {
	n.Helper()
	got, refusal, err := n.Claim(n.Context(), n.ns, pulse.Claim{
		Credential: n.key.ID, Application: n.key.Application, Worker: "w", Queues: []uint64{n.queue}, Handlers: []uint64{pulse.HandlerHash("h", "1")}, Tasks: 10, Lease: time.Second,
	}, wait)
	n.must(err)
	if refusal != nil {
		n.Fatal(refusal)
	}
	return got
}

// reaches waits until the task is in a public state, and returns how long it took.
func (n *node) reaches(id engine.ID, want pulse.Public, limit time.Duration) time.Duration {
	n.Helper()
	began := time.Now()
	var state uint8
	for time.Since(began) < limit {
		n.must(n.db.QueryRow("SELECT state FROM task WHERE namespace_id = ? AND task_id = ?", n.ns, id[:]).Scan(&state))
		if pulse.Public(state) == want {
			return time.Since(began)
		}
		time.Sleep(10 * time.Millisecond)
	}
	n.Errorf("the task is %s after %v, not %s", pulse.Public(state), limit, want)
	return limit
}

// A delay that ends wakes a waiting claim at once: the alarm is rung by the submission itself. Without the alarm the
// tick finds it. Never early.
func TestADelayEnds(t *testing.T) {
	for _, alarm := range []bool{true, false} {
		t.Run(fmt.Sprintf("alarm %v", alarm), func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.runs(1)
			if !alarm {
				n.note = func(uint64, time.Time) {}
			}
			time.Sleep(50 * time.Millisecond)
			began := time.Now()
			n.submit(func(s *pulse.Submission) { s.DelayMS = 700 })
			got := n.claim(5 * time.Second)
			took, limit := time.Since(began), 2500*time.Millisecond
			if alarm {
				limit = 1200 * time.Millisecond
			}
			if len(got) != 1 || took < 700*time.Millisecond || took > limit {
				t.Errorf("%d tasks after %v, want one after 700 ms to %v", len(got), took, limit)
			}
			t.Logf("a delay of 700 ms ended after %v", took.Round(time.Millisecond))
		})
	}
}

// A lost lease, a missed deadline, a wait behind a key that nobody holds: each is found by a scan, once, whether one
// runner looks or three.
func TestEverythingDueIsFound(t *testing.T) {
	for _, runners := range []int{1, 3} {
		t.Run(fmt.Sprint(runners, " runners"), func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			lost := n.submit()
			if len(n.claim(0)) != 1 {
				t.Fatal("nothing to claim")
			}
			late := n.submit(func(s *pulse.Submission) { s.DeadlineMS, s.AttemptTimeoutMS = 1000, 1000 })
			delayedLate := n.submit(func(s *pulse.Submission) { s.DeadlineMS, s.AttemptTimeoutMS, s.DelayMS = 1000, 900, 900 })
			behind := n.submit(func(s *pulse.Submission) { s.ResourceKey = "r" })
			n.park(behind)
			_, err := n.db.Exec("UPDATE open_task SET lease_until = NOW(6) - INTERVAL 1 MINUTE WHERE task_id = ?", lost[:])
			n.must(err)
			n.must(paused(n.db, n.queue))
			n.runs(runners)
			n.reaches(lost, pulse.PublicReview, 6*time.Second)
			n.reaches(late, pulse.PublicFailed, 6*time.Second)
			n.reaches(delayedLate, pulse.PublicFailed, 6*time.Second)
			var parked int
			for deadline := time.Now().Add(8 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				n.must(n.db.QueryRow("SELECT COUNT(*) FROM open_task WHERE state = 4").Scan(&parked))
				if parked == 0 {
					break
				}
			}
			if parked != 0 {
				t.Error("nobody woke the one behind the free key")
			}
			var events, entries int
			n.must(n.db.QueryRow("SELECT COUNT(*) FROM task_event WHERE kind IN (7, 11)").Scan(&events))
			n.must(n.db.QueryRow("SELECT COUNT(*) FROM stream_entry").Scan(&entries))
			if events != 3 || entries != 3 {
				t.Errorf("%d events, %d stream entries of three", events, entries)
			}
		})
	}
}

func paused(d *dbtest.DB, queue uint64) error {
	_, err := d.Exec("UPDATE queue SET paused = 1 WHERE queue_id = ?", queue)
	return err
}

// park puts a task behind a key that nobody holds any more, as a wake-up that led nowhere leaves it.
func (n *node) park(id engine.ID) {
	n.Helper()
	for _, statement := range []string{
		"UPDATE open_task SET state = 4 WHERE task_id = ?",
		"INSERT INTO key_wait SELECT namespace_id, resource_key, due_at, task_id, application_id, queue_id FROM open_task WHERE task_id = ?",
		"INSERT INTO resource_lock SELECT namespace_id, resource_key, REPEAT('\\0', 16), 1 FROM open_task WHERE task_id = ?",
	} {
		_, err := n.db.Exec(statement, id[:])
		n.must(err)
	}
}

// Thousands that become due together are settled page by page in one call.
func TestAFullPageIsFollowedByTheNext(t *testing.T) {
	n := newNode(t)
	const many = 700
	subs := make([]pulse.Submission, 0, many)
	for range many {
		input := []byte(`{}`)
		n.seq++
		subs = append(subs, pulse.Submission{
			Credential: n.key.ID, Application: n.key.Application, TaskID: store.NewID(), Key: fmt.Sprint("key-", n.seq), QueueName: "work", Queue: n.queue, Handler: "h", HandlerVersion: "1",
			Input: input, DelayMS: 3_600_000, DeadlineMS: 7_200_000, AttemptTimeoutMS: 1000, Retry: pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 1}, Lost: pulse.LostReview,
		})
	}
	for len(subs) > 0 {
		k := min(len(subs), 200)
		_, err := n.Submit(t.Context(), n.ns, subs[:k])
		n.must(err)
		subs = subs[k:]
	}
	_, err := n.db.Exec("UPDATE open_task SET available_at = NOW(6)")
	n.must(err)
	began := time.Now()
	n.runs(1)
	var left int
	for deadline := time.Now().Add(6 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		n.must(n.db.QueryRow("SELECT COUNT(*) FROM open_task WHERE state = 3").Scan(&left))
		if left == 0 {
			break
		}
	}
	if left > 0 {
		t.Errorf("%d of %d are still delayed", left, many)
	}
	t.Logf("%d delays that ended together: settled after %v", many, time.Since(began).Round(time.Millisecond))
}

// Old transaction rows go, new ones stay; a runner that ends leaves nothing behind.
func TestOldTransactionRowsGo(t *testing.T) {
	n := newNode(t)
	n.submit()
	old := make([]byte, 16)
	old[0] = 1 // a UUIDv7 of long ago
	_, err := n.db.Exec("INSERT INTO tx_command VALUES (?, ?, NOW(6))", n.ns, old)
	n.must(err)
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		runner.New(n.reader, n.writer, n.Set, slog.New(slog.DiscardHandler)).Run(ctx)
	}()
	var stale, fresh int
	for deadline := time.Now().Add(4 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		n.must(n.db.QueryRow("SELECT COALESCE(SUM(command_id = ?), 0), COUNT(*) FROM tx_command", old).Scan(&stale, &fresh))
		if stale == 0 {
			break
		}
	}
	cancel()
	<-done
	if stale != 0 || fresh == 0 {
		t.Errorf("stale %d, fresh %d", stale, fresh)
	}
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"), goleak.IgnoreAnyFunction("github.com/go-sql-driver/mysql.(*mysqlConn).startWatcher.func1"))
}
