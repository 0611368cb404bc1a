package lane_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"

	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

// recording is a Weaver that only writes down what it is given.
type recording struct {
	mu    sync.Mutex
	runs  int
	seen  map[string]int
	order []string
	fail  error
}

func (r *recording) Run(_ context.Context, _ uint64, starts []*lane.Start, _ []engine.ID, _ ...weave.Request) (lane.WeaveResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs++
	var out lane.WeaveResult
	for _, s := range starts {
		if r.seen == nil {
			r.seen = map[string]int{}
		}
		r.seen[s.Key]++
		r.order = append(r.order, s.Key)
		out.Starts = append(out.Starts, lane.StartOutcome{InstanceID: s.InstanceID, Receipt: []byte(s.Key)})
	}
	return out, r.fail
}

// withWeaver is a world whose only node runs a given Weaver.
func withWeaver(t *testing.T, weaver lane.Weaver) *world {
	w := newWorld(t, lane.Options{})
	writer, reader := w.connect(w.db.DSN(), 4)
	w.Set = lane.New(writer, reader, weaver, lane.Options{Observe: func(o lane.Observation) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.observations = append(w.observations, o)
	}})
	t.Cleanup(w.Close)
	return w
}

// Starts and tasks alternate in the queue: each kind keeps its order, none waits behind the other, none is dropped,
// and together they cost a few transactions instead of one each.
func TestStartsAndTasksWaitApart(t *testing.T) {
	r := &recording{}
	w := withWeaver(t, r)
	w.submit(w.submission()) // the lane exists
	before := w.transactions()
	release := w.holdQuota()
	const n = 120
	var all sync.WaitGroup
	var mu sync.Mutex
	answered := 0
	for i := range n {
		all.Go(func() {
			switch i % 2 {
			case 0:
				key := fmt.Sprint("start-", i)
				out, err := w.Start(context.Background(), w.ns, []*lane.Start{{InstanceID: store.NewID(), Key: key}, {InstanceID: store.NewID(), Key: key + "b"}})
				if err != nil || string(out[0].Receipt) != key || string(out[1].Receipt) != key+"b" {
					t.Errorf("start %d: %v %v", i, out, err)
				}
			case 1:
				out, err := w.Submit(context.Background(), w.ns, []pulse.Submission{w.submission()})
				if err != nil || out[0].Refusal != nil {
					t.Errorf("task %d: %v %v", i, out, err)
				}
			}
			mu.Lock()
			answered++
			mu.Unlock()
		})
		time.Sleep(time.Millisecond) // one after the other into the queue
	}
	release()
	all.Wait()
	for key, times := range r.seen {
		if times != 1 {
			t.Errorf("%s was given %d times", key, times)
		}
	}
	if !slices.IsSortedFunc(r.order, func(a, b string) int { return number(a) - number(b) }) {
		t.Errorf("starts came out of order: %v", r.order)
	}
	cost := w.transactions() - before
	t.Logf("%d starts and %d tasks in turn: %d answered, %d transactions", n/2, n/2, answered, cost)
	if answered != n || len(r.seen) != n || cost > 20 {
		t.Errorf("answered %d, started %d, transactions %d", answered, len(r.seen), cost)
	}
	w.exact()
}

func number(key string) (n int) {
	_, _ = fmt.Sscanf(key, "start-%d", &n)
	return n
}

// A flood of one kind starves neither the other nor the instances that go on.
func TestNeitherKindStarvesTheOther(t *testing.T) {
	r := &recording{}
	w := withWeaver(t, r)
	ctx, cancel := context.WithCancel(context.Background())
	var flood sync.WaitGroup
	for i := range 16 {
		flood.Go(func() {
			for j := 0; ctx.Err() == nil; j++ {
				if i%2 == 0 {
					_, _ = w.Start(context.Background(), w.ns, []*lane.Start{{InstanceID: store.NewID(), Key: fmt.Sprint("flood-", i, "-", j)}})
				} else {
					_, _ = w.Submit(context.Background(), w.ns, []pulse.Submission{w.submission()})
				}
			}
		})
	}
	var worst time.Duration
	for i := range 20 {
		began := time.Now()
		_, err := w.Start(context.Background(), w.ns, []*lane.Start{{InstanceID: store.NewID(), Key: fmt.Sprint("mine-", i)}})
		must(t, err)
		w.submit(w.submission())
		worst = max(worst, time.Since(began))
	}
	cancel()
	flood.Wait()
	if worst > 3*time.Second {
		t.Errorf("a start and a task took %v", worst)
	}
	t.Logf("one start and one task under a flood of both: at most %v", worst.Round(time.Millisecond))
}

// A failing workflow transaction answers its own starts and nobody else.
func TestAFailingWeaverFailsItsOwn(t *testing.T) {
	t.Parallel()
	trouble := errors.New("trouble")
	w := withWeaver(t, &recording{fail: trouble})
	if _, err := w.Start(t.Context(), w.ns, []*lane.Start{{Key: "a"}}); !errors.Is(err, trouble) {
		t.Errorf("answered %v", err)
	}
	w.submit(w.submission())
	w.exact()
}

// A node without workflows refuses starts and goes on; instances are left for the nodes that run them.
func TestANodeWithoutWorkflows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{Probe: time.Minute})
	if _, err := w.Start(t.Context(), w.ns, []*lane.Start{{Key: "a"}}); err == nil {
		t.Error("a start was accepted")
	}
	w.Advance(w.ns, []engine.ID{store.NewID()})
	w.submit(w.submission())
	if got := w.claimNow(1); len(got) != 1 {
		t.Errorf("claimed %d", len(got))
	}
	w.exact()
}
