package lane_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/lane"
)

func names(got []lane.Granted) string {
	var keys []string
	for i := range got {
		keys = append(keys, string(got[i].Payload.BusinessKey))
	}
	return strings.Join(keys, " ")
}

func named(name string, more ...func(*pulse.Submission)) func(*pulse.Submission) {
	return func(s *pulse.Submission) {
		s.BusinessKey = name
		for _, f := range more {
			f(s)
		}
	}
}

// Order is priority and age together: a level is worth thirty seconds, and what waited longer overtakes (O6, T9).
func TestOrderIsPriorityAndAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	prio := func(p uint8) func(*pulse.Submission) { return func(s *pulse.Submission) { s.Priority = p } }
	w.submit(w.submission(named("a0")), w.submission(named("b9", prio(9))), w.submission(named("c4", prio(4))), w.submission(named("d0")))
	if got := names(w.claimNow(1)); got != "b9" {
		t.Errorf("first came %s", got)
	}
	w.later(121 * time.Second) // c4 is 120 s better than d0 was; new ones of priority 4 now stand behind both
	w.submit(w.submission(named("e4", prio(4))), w.submission(named("f9", prio(9))))
	if got := names(w.claimNow(9)); got != "f9 c4 a0 d0 e4" {
		t.Errorf("then came %s", got)
	}
	// under endless priority 9, priority 0 is overtaken for 270 s and no longer
	w.submit(w.submission(named("old")))
	w.later(269 * time.Second)
	w.submit(w.submission(named("new9", prio(9))))
	w.later(2 * time.Second)
	w.submit(w.submission(named("newer9", prio(9))))
	if got := names(w.claimNow(9)); got != "new9 old newer9" {
		t.Errorf("at last came %s", got)
	}
	w.exact()
}

// Each worker gets what it can run; nobody else's tasks in front of it are in its way.
func TestHandlersGetTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	var subs []pulse.Submission
	for i := range 60 {
		subs = append(subs, w.submission(named(fmt.Sprint("t", i)), func(s *pulse.Submission) {
			s.Handler, s.HandlerVersion = []string{"h", "g", "h"}[i%3], []string{"1", "1", "2"}[i%3]
		}))
	}
	w.submit(subs...)
	claim := func(tasks int, handlers ...string) int {
		c := w.claim(tasks)
		c.Handlers = nil
		for _, h := range handlers {
			name, version, _ := strings.Cut(h, ":")
			c.Handlers = append(c.Handlers, pulse.HandlerHash(name, version))
		}
		got, refusal, err := w.Claim(t.Context(), w.ns, c, 0)
		if must(t, err); refusal != nil {
			t.Fatal(refusal)
		}
		for i := range got {
			h := string(got[i].Payload.Handler) + ":" + string(got[i].Payload.HandlerVersion)
			if !strings.Contains(strings.Join(handlers, " "), h) {
				t.Errorf("a worker of %v got %s", handlers, h)
			}
		}
		return len(got)
	}
	if a, b, c, d := claim(100, "g:1"), claim(5, "h:2"), claim(100, "h:1", "h:2"), claim(9, "x:1"); a != 20 || b != 5 || c != 35 || d != 0 {
		t.Errorf("given %d, %d, %d, %d", a, b, c, d)
	}
	w.exact()
}

// A delay becomes a time once, at the first acceptance; a replay returns it as it was. A deadline covers the wait.
func TestDelaysAndDeadlines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	delayed := w.submission(named("delayed"), func(s *pulse.Submission) { s.DelayMS = 60_000 })
	first, err := w.Submit(t.Context(), w.ns, []pulse.Submission{delayed})
	must(t, err)
	short := func(s *pulse.Submission) { s.DeadlineMS, s.AttemptTimeoutMS = 30_000, 30_000 }
	w.submit(w.submission(named("gone"), short), w.submission(named("gone in hand"), short))
	if got := names(w.claimNow(1)); got != "gone" {
		t.Fatalf("claimed %s", got)
	}
	w.later(40 * time.Second)
	if got := names(w.claimNow(5)); got != "" {
		t.Errorf("claimed %s", got)
	}
	again, err := w.Submit(t.Context(), w.ns, []pulse.Submission{delayed})
	if must(t, err); string(again[0].Receipt) != string(first[0].Receipt) {
		t.Errorf("the replay says %s, the first said %s", again[0].Receipt, first[0].Receipt)
	}
	w.later(21 * time.Second)
	w.scan()
	if got := names(w.claimNow(5)); got != "delayed" {
		t.Errorf("claimed %s", got)
	}
	if got := w.states(); got != "delayed=RUNNING gone=NEEDS_REVIEW gone in hand=FAILED" {
		t.Errorf("states %s", got)
	}
	w.exact()
}

// states spells business key and public state of every task.
func (w *world) states() string {
	w.Helper()
	rows, err := w.db.Query(`SELECT t.business_key, t.state, COALESCE(o.state, 0) FROM task t LEFT JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id
		WHERE t.namespace_id = ? ORDER BY t.business_key`, w.ns)
	must(w, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		var full, open uint8
		must(w, rows.Scan(&name, &full, &open))
		state := pulse.Public(full).String()
		if open != 0 {
			state = pulse.State(open).Public().String()
		}
		all = append(all, name+"="+state)
	}
	must(w, rows.Err())
	return strings.Join(all, " ")
}

// Two nodes claim from one queue: nothing twice, nothing left, no deadlock, no failed call (C22, C25).
func TestTwoNodesClaimNothingTwice(t *testing.T) {
	w := newWorld(t, lane.Options{})
	nodes := []*lane.Set{w.Set, w.node(w.db.DSN(), lane.Options{})}
	const n = 1200
	subs := make([]pulse.Submission, n)
	for i := range subs {
		subs[i] = w.submission()
	}
	w.submit(subs...)
	var mu sync.Mutex
	seen := map[engine.ID]int{}
	var empty atomic.Int32
	began := time.Now()
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for {
				got, refusal, err := nodes[i%2].Claim(context.Background(), w.ns, w.claim(3), 0)
				if err != nil || refusal != nil {
					t.Error(err, refusal)
					return
				}
				if len(got) == 0 {
					if mu.Lock(); len(seen) < n {
						empty.Add(1)
					}
					mu.Unlock()
					return
				}
				var reports []pulse.Report
				mu.Lock()
				for j := range got {
					seen[got[j].Task.ID]++
					reports = append(reports, w.report(&got[j].Task, pulse.Succeeded))
				}
				mu.Unlock()
				out, _, _, err := nodes[(i+1)%2].Complete(context.Background(), w.ns, reports, nil) // reported through the other node
				if err != nil || out[0].Status != pulse.ReportAccepted {
					t.Error(err, out)
				}
			}
		})
	}
	all.Wait()
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s was given %d times", id.Text("task"), times)
		}
	}
	if len(seen) != n || len(w.retries()) > 0 {
		t.Errorf("%d of %d tasks; retries %v", len(seen), n, w.retries())
	}
	w.exact()
	t.Logf("2 nodes, 32 workers, %d tasks: twice 0, deadlocks 0, %.0f/s", n, n/time.Since(began).Seconds())
}

// A caller that goes away while its tasks are on their way gets them returned: they wait a moment and not a lease, and
// no attempt is used.
func TestACallerThatGoesAwayLosesNothing(t *testing.T) {
	w := newWorld(t, lane.Options{})
	const rounds = 80
	delivered := 0
	for i := range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		answer := make(chan []lane.Granted, 1)
		go func() {
			got, _, err := w.Claim(ctx, w.ns, w.claim(1), 5*time.Second)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			answer <- got
		}()
		w.submit(w.submission())
		time.Sleep(time.Duration(i%20) * 300 * time.Microsecond)
		cancel()
		for _, g := range <-answer {
			delivered++
			_, _, _, err := w.Complete(context.Background(), w.ns, []pulse.Report{w.report(&g.Task, pulse.Succeeded)}, nil)
			must(t, err)
		}
	}
	w.settled("(state = 2 OR attempts_used > 0)", 0)
	if open := w.rows("open_task"); open != rounds-delivered {
		t.Errorf("%d delivered, %d waiting of %d", delivered, open, rounds)
	}
	w.exact()
	t.Logf("%d callers left: %d tasks delivered, %d came back", rounds, delivered, rounds-delivered)
}

// settled waits until that many open tasks match.
func (w *world) settled(where string, want int) {
	w.Helper()
	var n int
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		must(w, w.db.QueryRow("SELECT COUNT(*) FROM open_task WHERE namespace_id = ? AND "+where, w.ns).Scan(&n))
		if n == want {
			return
		}
	}
	w.Errorf("%d open tasks with %s, want %d", n, where, want)
}

// A node that closes answers everybody, and what it had just started goes back too.
func TestAClosingNodeKeepsNothing(t *testing.T) {
	w := newWorld(t, lane.Options{})
	for range 10 {
		node := w.node(w.db.DSN(), lane.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				got, _, err := node.Claim(ctx, w.ns, w.claim(1), 20*time.Second)
				for i := range got {
					_, _, _, err := w.Complete(context.Background(), w.ns, []pulse.Report{w.report(&got[i].Task, pulse.Returned)}, nil)
					must(t, err)
				}
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		_, _ = node.Submit(context.Background(), w.ns, []pulse.Submission{w.submission(), w.submission()})
		go cancel()
		node.Close()
		all.Wait()
		cancel()
		if _, err := node.Submit(context.Background(), w.ns, []pulse.Submission{w.submission()}); err == nil {
			t.Error("a closed node accepted")
		}
	}
	w.settled("state = 2", 0)
	w.exact()
}

// More waits than a lane may hold: refused at once, named, with limit and value; the others are served.
func TestAFullLaneRefusesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{Depth: 8})
	w.submit(w.submission()) // the lane exists
	release := w.holdQuota()
	var accepted, refused atomic.Int32
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			began := time.Now()
			_, err := w.Submit(context.Background(), w.ns, []pulse.Submission{w.submission()})
			var r *engine.Refusal
			switch {
			case err == nil:
				accepted.Add(1)
			case errors.As(err, &r) && r.Code == "overloaded" && r.Limit == 8 && time.Since(began) < time.Second:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	release()
	all.Wait()
	if accepted.Load() < 8 || refused.Load() < 20 || accepted.Load()+refused.Load() != 40 {
		t.Errorf("accepted %d, refused %d", accepted.Load(), refused.Load())
	}
	w.exact()
}

func (w *world) transactions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.observations)
}

// Waiting claims that do not fit into one transaction together wake each other for nothing, once and not for ever.
func TestLargeWaitingClaimsDoNotSpin(t *testing.T) {
	w := newWorld(t, lane.Options{Probe: time.Minute})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { _, _, _ = w.Claim(ctx, w.ns, w.claim(200), 20*time.Second) })
	}
	time.Sleep(200 * time.Millisecond)
	before := w.transactions()
	w.submit(w.submission())
	time.Sleep(700 * time.Millisecond)
	if n := w.transactions() - before; n > 12 {
		t.Errorf("one submission made %d transactions", n)
	}
	cancel()
	all.Wait()
}

// A flood of full transactions starves no waiting worker.
func TestAFloodOfSubmissionsStarvesNoClaim(t *testing.T) {
	w := newWorld(t, lane.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	waiting := make(chan time.Duration, 1)
	go func() {
		c := w.claim(200)
		began := time.Now()
		got, _, err := w.Claim(ctx, w.ns, c, 30*time.Second)
		if err != nil || len(got) == 0 {
			t.Error(err, len(got))
		}
		waiting <- time.Since(began)
	}()
	time.Sleep(50 * time.Millisecond)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for ctx.Err() == nil {
				subs := make([]pulse.Submission, 200)
				for i := range subs {
					subs[i] = w.submission()
				}
				_, _ = w.Submit(context.Background(), w.ns, subs)
			}
		})
	}
	took := <-waiting
	cancel()
	all.Wait()
	if took > 4*time.Second {
		t.Errorf("the claim waited %v", took)
	}
	t.Logf("served after %v under a flood", took.Round(time.Millisecond))
}

// A node busy with one queue still finds what another node puts into the queue its other claims wait for.
func TestABusyNodeFindsTheWorkOfOthers(t *testing.T) {
	w := newWorld(t, lane.Options{Probe: 100 * time.Millisecond})
	other := w.node(w.db.DSN(), lane.Options{})
	idle := w.addQueue("idle", 1000, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				_, _ = w.Submit(context.Background(), w.ns, []pulse.Submission{w.submission()})
			}
		})
	}
	served := make(chan time.Time, 1)
	go func() {
		c := w.claim(1)
		c.Queues = []uint64{idle}
		got, _, err := w.Claim(context.Background(), w.ns, c, 20*time.Second)
		if err != nil || len(got) != 1 {
			t.Error(err, len(got))
		}
		served <- time.Now()
	}()
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	out, err := other.Submit(context.Background(), w.ns, []pulse.Submission{w.submission(func(s *pulse.Submission) { s.Queue, s.QueueName = idle, "idle" })})
	if err != nil || out[0].Refusal != nil {
		t.Fatal(err, out)
	}
	took := (<-served).Sub(began)
	cancel()
	all.Wait()
	if took > 2*time.Second {
		t.Errorf("found after %v", took)
	}
	w.exact()
}
