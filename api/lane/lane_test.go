package lane_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// world is one namespace with one application, one key and one queue, and the lanes of one node.
type world struct {
	testing.TB
	*lane.Set
	db     *dbtest.DB
	key    auth.Issued
	ns     uint64
	queue  uint64
	name   string
	seq    int
	writer *tx.DB // of an operator, see inject_test
	dsn    string // by which its node reaches the database
	mu     sync.Mutex

	events       []tx.Event         // of the node's transactions
	observations []lane.Observation // of its lanes
	internal     []error
	expected     bool // internal errors are part of the test
}

func newWorld(t testing.TB, opt lane.Options) *world {
	t.Helper()
	d := dbtest.New(t)
	return worldOn(t, d, d.DSN(), opt)
}

// worldOn makes the namespace and a node that reaches the database by dsn.
func worldOn(t testing.TB, d *dbtest.DB, dsn string, opt lane.Options) *world {
	t.Helper()
	w := &world{TB: t, db: d, name: "work", dsn: dsn}
	writer, reader := w.connect(d.DSN(), 2)
	key, err := auth.NewService(writer, reader, auth.NewVerifier(reader)).Bootstrap(context.Background(), "test", "app", "key", auth.AllScopes)
	must(t, err)
	w.key, w.ns = key, key.Key.Namespace
	w.Set = w.node(dsn, opt)
	w.queue = w.addQueue("work", 1_000_000, 100_000)
	return w
}

func (w *world) connect(dsn string, connections int) (*tx.DB, *sql.DB) {
	w.Helper()
	writer, err := tx.Open(dsn, connections)
	must(w, err)
	w.Cleanup(func() { _ = writer.Close() })
	reader, err := tx.OpenReader(dsn, connections)
	must(w, err)
	w.Cleanup(func() { _ = reader.Close() })
	return writer, reader
}

// node adds a node of its own: pool, lanes and all. Its transactions and lanes are observed.
func (w *world) node(dsn string, opt lane.Options) *lane.Set {
	w.Helper()
	writer, reader := w.connect(dsn, 4)
	writer.Observe = func(e tx.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}
	opt.OnInternal = func(err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.internal = append(w.internal, err); !w.expected {
			w.Error("internal:", err)
		}
	}
	opt.Observe = func(o lane.Observation) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.observations = append(w.observations, o)
	}
	set := lane.New(writer, reader, nil, opt)
	w.Cleanup(set.Close)
	return set
}

// retries is how often a transaction of the nodes had to run again, by server error.
func (w *world) retries() map[uint16]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	codes := map[uint16]int{}
	for _, e := range w.events {
		if e.Kind == "retry" {
			codes[e.Code]++
		}
	}
	return codes
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) addQueue(name string, open, running int64) uint64 {
	id := auth.NewID()
	_, err := db.New(w.db).InsertQueue(w.Context(), db.InsertQueueParams{
		NamespaceID: w.ns, QueueID: id, ApplicationID: w.key.Application, Name: []byte(name), OpenTasksMax: open, RunningAttemptsMax: running, CreatedAt: time.Now().UTC(),
	})
	must(w, err)
	return id
}

func (w *world) submission(change ...func(*pulse.Submission)) pulse.Submission {
	w.mu.Lock()
	w.seq++
	n := w.seq
	w.mu.Unlock()
	input := []byte(fmt.Sprintf(`{"n":%d}`, n))
	s := pulse.Submission{
		Credential: w.key.ID, Application: w.key.Application, TaskID: store.NewID(), Key: fmt.Sprint("key-", n), QueueName: w.name, Queue: w.queue,
		Handler: "h", HandlerVersion: "1", Input: input, InputDigest: sha256.Sum256(input), DeadlineMS: 3_600_000, AttemptTimeoutMS: 60_000,
		Retry: pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 3}, Lost: pulse.LostReview,
	}
	for _, f := range change {
		f(&s)
	}
	return s
}

func (w *world) claim(tasks int) pulse.Claim {
	return pulse.Claim{
		Credential: w.key.ID, Application: w.key.Application, Worker: "w", Queues: []uint64{w.queue},
		Handlers: []uint64{pulse.HandlerHash("h", "1")}, Tasks: tasks, Lease: 30 * time.Second,
	}
}

func (w *world) report(t *pulse.Task, o pulse.Outcome) pulse.Report {
	r := pulse.Report{
		Credential: w.key.ID, Application: w.key.Application, Queue: t.Queue, Task: t.ID, AttemptNo: t.AttemptNo, Token: t.Token, Outcome: o, Text: []byte(`{}`),
	}
	if o == pulse.Succeeded {
		r.Output = []byte(`{"ok":true}`)
	}
	return r
}

// submit accepts tasks one by one and returns their ids.
func (w *world) submit(subs ...pulse.Submission) []engine.ID {
	w.Helper()
	var ids []engine.ID
	for len(subs) > 0 {
		n := min(len(subs), engine.TransactionItemsMax)
		out, err := w.Submit(w.Context(), w.ns, subs[:n])
		must(w, err)
		for _, o := range out {
			if o.Refusal != nil {
				w.Fatal(o.Refusal)
			}
			ids = append(ids, o.TaskID)
		}
		subs = subs[n:]
	}
	return ids
}

func (w *world) claimNow(tasks int) []lane.Granted {
	w.Helper()
	got, refusal, err := w.Claim(w.Context(), w.ns, w.claim(tasks), 0)
	must(w, err)
	if refusal != nil {
		w.Fatal(refusal)
	}
	return got
}

func TestOneTaskFromSubmissionToResult(t *testing.T) {
	w := newWorld(t, lane.Options{})
	w.submit(w.submission())
	got := w.claimNow(5)
	if len(got) != 1 || string(got[0].Payload.Input) != `{"n":1}` || got[0].Task.AttemptNo != 1 {
		t.Fatalf("claimed %+v", got)
	}
	w.exact()
	out, _, _, err := w.Complete(w.Context(), w.ns, []pulse.Report{w.report(&got[0].Task, pulse.Succeeded)}, nil)
	must(t, err)
	if out[0].Status != pulse.ReportAccepted || out[0].TaskState != pulse.PublicSucceeded {
		t.Fatalf("answered %+v", out[0])
	}
	again, _, _, err := w.Complete(w.Context(), w.ns, []pulse.Report{w.report(&got[0].Task, pulse.Succeeded)}, nil)
	must(t, err)
	if again[0].Status != pulse.ReportReplayed || again[0].TaskState != pulse.PublicSucceeded {
		t.Fatalf("repeated: %+v", again[0])
	}
	w.exact()
}

func TestDrain(t *testing.T) {
	w := newWorld(t, lane.Options{})
	const n, workers = 3000, 50
	began := time.Now()
	var subs sync.WaitGroup
	for i := range 32 {
		subs.Go(func() {
			for j := i; j < n; j += 32 {
				out, err := w.Submit(w.Context(), w.ns, []pulse.Submission{w.submission()})
				if err != nil || out[0].Refusal != nil {
					t.Error(err, out)
				}
			}
		})
	}
	subs.Wait()
	t.Logf("submit %.0f/s", n/time.Since(began).Seconds())
	w.exact()
	began = time.Now()
	var done sync.WaitGroup
	var mu sync.Mutex
	seen := map[engine.ID]int{}
	for range workers {
		done.Go(func() {
			got := w.claimNow(1)
			for len(got) > 0 {
				mu.Lock()
				seen[got[0].Task.ID]++
				mu.Unlock()
				c := w.claim(1)
				reports := []pulse.Report{w.report(&got[0].Task, pulse.Succeeded)}
				var err error
				if _, got, _, err = w.Complete(context.Background(), w.ns, reports, &c); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done.Wait()
	t.Logf("drain %.0f/s", n/time.Since(began).Seconds())
	if len(seen) != n {
		t.Errorf("%d of %d tasks ran", len(seen), n)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s ran %d times", id.Text("task"), times)
		}
	}
	w.exact()
}
