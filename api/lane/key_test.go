package lane_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
)

func keyed(name string) func(*pulse.Submission) {
	return func(s *pulse.Submission) { s.ResourceKey = name }
}

func (w *world) complete(g lane.Granted, o pulse.Outcome) pulse.ReportOutcome {
	w.Helper()
	out, _, _, err := w.Complete(context.Background(), w.ns, []pulse.Report{w.report(&g.Task, o)}, nil)
	must(w, err)
	return out[0]
}

func (w *world) cancel(s pulse.Submission) pulse.CancelOutcome {
	w.Helper()
	out, err := w.Cancel(context.Background(), w.ns, pulse.Cancel{Credential: s.Credential, Application: s.Application, Queue: s.Queue, Task: s.TaskID, Reason: "test"})
	must(w, err)
	return out
}

// One runs, the others step aside; the next in place is woken by a result, by the cancel and by the deadline of the
// one that was woken before it; an unknown effect keeps the key.
func TestAResourceKeyGoesFromHandToHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	short := func(s *pulse.Submission) { s.DeadlineMS, s.AttemptTimeoutMS = 30_000, 30_000 }
	subs := make([]pulse.Submission, 6)
	for i := range subs {
		subs[i] = w.submission(named(fmt.Sprint("k", i)), keyed("one"))
	}
	short(&subs[3])
	free := w.submission(named("free"))
	w.submit(append(slices.Clone(subs), free)...)
	first := w.claimNow(5)
	if got := names(first); got != "k0 free" {
		t.Fatalf("claimed %s", got)
	}
	w.exact()
	w.cancel(subs[1]) // parked: it leaves no trace
	w.complete(first[0], pulse.Succeeded)
	w.exact()
	w.cancel(subs[2]) // woken by k0's result
	w.exact()
	w.later(31 * time.Second) // k3, woken by that cancel, misses its deadline in the hands of a claim
	if got := names(w.claimNow(5)); got != "" {
		t.Errorf("claimed %s", got)
	}
	w.exact()
	last := w.claimNow(5) // k4, woken by the end of k3
	if got := names(last); got != "k4" {
		t.Fatalf("claimed %s", got)
	}
	w.complete(last[0], pulse.Unknown)
	if got := names(w.claimNow(5)); got != "" {
		t.Errorf("under an unknown effect %s was claimed", got)
	}
	if got := w.states(); got != "free=RUNNING k0=SUCCEEDED k1=CANCELLED k2=CANCELLED k3=FAILED k4=NEEDS_REVIEW k5=QUEUED" {
		t.Errorf("states %s", got)
	}
	w.exact()
}

// Two applications share keys on two nodes, and everything that can happen happens: claims, results, returns, losses of
// knowledge, cancels, deadlines. Never two at once, never a deadlock, and in the end nobody is left behind.
func TestTwoApplicationsShareKeys(t *testing.T) {
	w := newWorld(t, lane.Options{})
	nodes := []*lane.Set{w.Set, w.node(w.db.DSN(), lane.Options{})}
	apps := []*world{w, w.application("second")}
	const each = 120
	keys := []string{"a", "b", "c", "d"}
	var mu sync.Mutex
	running := map[string]int{}
	var twice, ended int
	var subs [2][]pulse.Submission
	for a, own := range apps {
		for i := range each {
			s := own.submission(keyed(keys[i%len(keys)]), func(s *pulse.Submission) {
				s.Key, s.Retry.MaxAttempts = fmt.Sprint(a, "-", i), 100
				if i%9 == 0 {
					s.DeadlineMS, s.AttemptTimeoutMS = 1500, 1000
				}
			})
			subs[a] = append(subs[a], s)
		}
		own.submit(subs[a]...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range 12 {
		own, node, random := apps[i%2], nodes[i/2%2], rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			for ctx.Err() == nil {
				got, refusal, err := node.Claim(ctx, w.ns, own.claim(2), 300*time.Millisecond)
				if ctx.Err() != nil {
					return
				}
				if err != nil || refusal != nil {
					t.Error("claim:", err, refusal)
					return
				}
				var reports []pulse.Report
				mu.Lock()
				for j := range got {
					if running[string(got[j].Payload.ResourceKey)]++; running[string(got[j].Payload.ResourceKey)] > 1 {
						twice++
					}
					reports = append(reports, own.report(&got[j].Task, []pulse.Outcome{pulse.Succeeded, pulse.Succeeded, pulse.Succeeded, pulse.Retryable, pulse.Returned}[random.IntN(5)]))
				}
				mu.Unlock()
				time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
				mu.Lock()
				for j := range got {
					running[string(got[j].Payload.ResourceKey)]--
				}
				mu.Unlock()
				if len(reports) == 0 {
					continue
				}
				if _, _, _, err := node.Complete(context.Background(), w.ns, reports, nil); err != nil {
					t.Error("complete:", err)
				}
			}
		})
	}
	for a, own := range apps {
		all.Go(func() {
			for i := 0; i < each && ctx.Err() == nil; i += 4 {
				if _, err := nodes[a].Cancel(context.Background(), w.ns, pulse.Cancel{Credential: own.key.ID, Application: own.key.Application, Queue: own.queue, Task: subs[a][i].TaskID}); err != nil {
					t.Error("cancel:", err)
				}
				time.Sleep(4 * time.Millisecond)
			}
		})
	}
	for n := -1; n != 0 && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		w.scan()
		w.freeKeys()
		n = w.rows("open_task")
	}
	cancel()
	all.Wait()
	must(t, w.db.QueryRow("SELECT COUNT(*) FROM task WHERE namespace_id = ? AND state IN (2, 3, 4)", w.ns).Scan(&ended))
	if twice > 0 || ended != 2*each || len(w.retries()) > 0 {
		t.Errorf("%d at once, %d of %d ended, retries %v, left: %s", twice, ended, 2*each, w.retries(), w.left())
	}
	w.exact()
	t.Logf("2 applications, 2 nodes, 4 shared keys, %d tasks: at once 0, left behind 0, deadlocks %d", 2*each, w.retries()[1213])
}

func (w *world) left() string {
	rows, err := w.db.Query("SELECT state, resource_key, COUNT(*) FROM open_task GROUP BY 1, 2")
	must(w, err)
	defer rows.Close()
	text := ""
	for rows.Next() {
		var state, n int
		var key string
		must(w, rows.Scan(&state, &key, &n))
		text += fmt.Sprintf("state %d key %s: %d; ", state, key, n)
	}
	must(w, rows.Err())
	return text
}

// freeKeys is the runner's safety net: a waiter for every key nobody holds.
func (w *world) freeKeys() {
	w.Helper()
	rows, err := db.New(w.db).ListFreeResources(context.Background(), db.ListFreeResourcesParams{NamespaceID: w.ns, TaskID: make([]byte, 16), Limit: 100})
	must(w, err)
	var dues []pulse.Due
	for _, r := range rows {
		dues = append(dues, pulse.Due{Kind: pulse.DueKey, Application: w.key.Application, Key: string(r.ResourceKey)})
	}
	must(w, w.Due(context.Background(), w.ns, dues))
}

// application adds another application with a key and a queue of its own to the namespace; nodes are shared.
func (w *world) application(name string) *world {
	w.Helper()
	writer, reader := w.connect(w.db.DSN(), 1)
	key, err := auth.NewService(writer, reader, auth.NewVerifier(reader)).Bootstrap(context.Background(), "test", name, "key", auth.AllScopes)
	must(w, err)
	other := &world{TB: w.TB, Set: w.Set, db: w.db, key: key, ns: w.ns, name: "work"}
	other.queue = other.addQueue("work", 1_000_000, 100_000)
	return other
}

// Ten thousand waiting tasks of one key in front: they are moved out of the way once, and then the others are claimed
// as if they were not there.
func TestTenThousandOfOneKeyInFront(t *testing.T) {
	w := newWorld(t, lane.Options{})
	const front, free = 10_000, 300
	busy, clean := w.queue, w.addQueue("clean", 1_000_000, 100_000)
	drain := func(queue uint64, n int) time.Duration {
		w.queue = queue
		defer func() { w.queue = busy }()
		subs := make([]pulse.Submission, n)
		for i := range subs {
			subs[i] = w.submission(named(fmt.Sprint(i)))
		}
		w.submit(subs...)
		began := time.Now()
		var next []lane.Granted
		for done := 0; done < n; {
			if len(next) == 0 {
				got, refusal, err := w.Claim(t.Context(), w.ns, w.claim(20), 10*time.Second)
				if err != nil || refusal != nil || len(got) == 0 {
					t.Fatal(err, refusal, len(got))
				}
				next = got
			}
			var reports []pulse.Report
			for i := range next {
				if len(next[i].Payload.ResourceKey) > 0 {
					t.Fatal("a task of the held key was started")
				}
				reports = append(reports, w.report(&next[i].Task, pulse.Succeeded))
			}
			done += len(next)
			_, got, _, err := w.Complete(t.Context(), w.ns, reports, new(w.claim(20)))
			must(t, err)
			next = got
		}
		return time.Since(began)
	}
	drain(clean, 200) // warm
	subs := make([]pulse.Submission, front)
	for i := range subs {
		subs[i] = w.submission(keyed("busy"))
	}
	w.submit(subs...)
	holder := w.claimNow(1)
	w.later(time.Minute)
	began := time.Now()
	w.submit(w.submission(named("first")))
	got, _, err := w.Claim(t.Context(), w.ns, w.claim(1), 20*time.Second)
	if must(t, err); names(got) != "first" {
		t.Fatalf("claimed %s", names(got))
	}
	once := time.Since(began)
	w.complete(got[0], pulse.Succeeded)
	w.settled("state = 4", front-1)
	// in turn, so that whatever else the machine does meets both alike; the median pair counts
	var ratios []float64
	var with, without time.Duration
	for range 7 {
		a, b := drain(clean, free), drain(busy, free)
		without, with, ratios = without+a, with+b, append(ratios, a.Seconds()/b.Seconds())
	}
	slices.Sort(ratios)
	rate := func(d time.Duration) float64 { return 7 * free / d.Seconds() }
	t.Logf("%d waiting for one key in front: the first other after %v, once; then %.0f/s against %.0f/s in a clean queue, median of seven pairs %.0f %%",
		front, once.Round(time.Millisecond), rate(with), rate(without), 100*ratios[3])
	if ratios[3] < 0.8 || once > 15*time.Second {
		t.Errorf("median %.2f of a clean queue's rate, %v once", ratios[3], once)
	}
	w.exact()
	// the key goes on one by one, in order of place
	w.complete(holder[0], pulse.Succeeded)
	next := w.claimNow(5)
	if len(next) != 1 || next[0].Task.ID != subs[1].TaskID {
		t.Errorf("next came %d, %v", len(next), next)
	}
	w.exact()
}
