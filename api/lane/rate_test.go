package lane_test

import (
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/lane"
)

// limit sets a rate on the world's queue, full.
func (w *world) limit(tokens, burst int64, period time.Duration) {
	w.Helper()
	_, err := w.db.Exec("UPDATE queue SET rate_limited = 1 WHERE queue_id = ?", w.queue)
	must(w, err)
	var now time.Time
	must(w, w.db.QueryRow("SELECT NOW(6)").Scan(&now))
	must(w, db.New(w.db).PutQueueRate(w.Context(), db.PutQueueRateParams{NamespaceID: w.ns, QueueID: w.queue, Tokens: tokens, PeriodMs: period.Milliseconds(),
		Burst: burst, Credit: burst * period.Microseconds(), RefilledAt: now}))
}

// A rate holds across nodes: two nodes with sixteen waiting workers start, in any period, at most burst + tokens, by the
// database's own times; and they start everything the rate allows, because a token wakes a waiting claim.
func TestARateHoldsAcrossNodes(t *testing.T) {
	t.Parallel()
	const tokens, burst, period, tasks = 40, 10, 500 * time.Millisecond, 150
	w := newWorld(t, lane.Options{})
	other := w.node(w.db.DSN(), lane.Options{})
	var subs []pulse.Submission
	for range tasks {
		subs = append(subs, w.submission())
	}
	w.submit(subs...)
	w.limit(tokens, burst, period)
	var workers sync.WaitGroup
	for i := range 16 {
		set := []*lane.Set{w.Set, other}[i%2]
		workers.Go(func() {
			for {
				got, refusal, err := set.Claim(t.Context(), w.ns, w.claim(1+i%3), 700*time.Millisecond)
				if err != nil || refusal != nil {
					t.Error(err, refusal)
				}
				if len(got) == 0 {
					return
				}
			}
		})
	}
	workers.Wait()
	rows, err := w.db.Query("SELECT started_at FROM open_task WHERE state = 2 ORDER BY started_at")
	must(t, err)
	defer func() { _ = rows.Close() }()
	var starts []time.Time
	for rows.Next() {
		var at time.Time
		must(t, rows.Scan(&at))
		starts = append(starts, at)
	}
	must(t, rows.Err())
	if len(starts) != tasks {
		t.Fatalf("%d of %d started", len(starts), tasks)
	}
	most := 0
	for i := range starts {
		n := 0
		for _, s := range starts[i:] {
			if s.Sub(starts[i]) < period {
				n++
			}
		}
		most = max(most, n)
	}
	took := starts[tasks-1].Sub(starts[0])
	ideal := period * (tasks - burst) / tokens
	t.Logf("%d starts in %v, ideal %v; most in one period %d of %d allowed", tasks, took, ideal, most, tokens+burst)
	if most > tokens+burst || took < ideal-period/tokens {
		t.Errorf("the rate is broken: %d in one period, all in %v", most, took)
	}
	if took > ideal+ideal/2 {
		t.Errorf("the rate is not used: %v instead of %v", took, ideal)
	}
	w.exact()
}

// Without a limit a claim neither reads nor writes a rate.
func TestNoRateCostsNoStatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	cost := func() int {
		w.submit(w.submission())
		w.mu.Lock()
		w.events = nil
		w.mu.Unlock()
		w.claimNow(1)
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.events[0].Statements
	}
	cost()
	without := cost()
	w.limit(100, 100, time.Second)
	if with := cost(); with != without+2 {
		t.Errorf("%d statements without a rate, %d with one", without, with)
	}
}

// A queue without tokens delays no other: a claim of both is given what the other holds, and of the limited one what its
// rate pays (T9).
func TestAQueueWithoutTokensDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	other := w.addQueue("other", 1000, 1000)
	var subs []pulse.Submission
	for i := range 40 {
		subs = append(subs, w.submission(func(s *pulse.Submission) {
			if i >= 20 { // behind the limited ones in every order
				s.Queue, s.QueueName = other, "other"
			}
		}))
	}
	w.submit(subs...)
	w.limit(1, 3, 24*time.Hour)
	c := w.claim(30)
	c.Queues = []uint64{w.queue, other}
	got, refusal, err := w.Claim(t.Context(), w.ns, c, 0)
	must(t, err)
	by := map[uint64]int{}
	for i := range got {
		by[got[i].Task.Queue]++
	}
	if refusal != nil || by[w.queue] != 3 || by[other] != 20 {
		t.Errorf("given %v %v", by, refusal)
	}
	w.exact()
}
