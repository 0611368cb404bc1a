package lane

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"

	"github.com/orbitrun/orbit/api/tx"
)

// Observation is one transaction of a lane, for metrics. Depth is what still waited when it began.
type Observation struct {
	Kind    string // pulse or weave
	Items   int
	Depth   int
	Waiting int // claims that wait for work
	Took    time.Duration
	Err     error
	Late    []time.Duration // how late the timers of workflows rang in it, by the database's clock
}

// Options configure the lanes of a node. Zero values mean the defaults.
type Options struct {
	Depth      int           // items that may wait in one lane before callers are refused (default 4096)
	Gather     time.Duration // how long a busy lane waits for its usual callers (default 300 µs)
	Probe      time.Duration // how often waiting claims look for work of other nodes (default 400 ms)
	Timeout    time.Duration // bound of one transaction including its retries (default 25 s)
	Observe    func(Observation)
	OnDelayed  func(namespace uint64, at time.Time) // something becomes due at that time
	OnClock    func(namespace uint64, at time.Time) // a workflow's clock rings at that time
	OnStream   func(namespace uint64)               // results were committed
	OnInternal func(error)                          // an error that is nobody's fault but ours
}

// Set holds the lanes of a node, one per namespace, made when first needed.
type Set struct {
	db     *tx.DB
	reader *sql.DB
	weaver Weaver
	opt    Options

	mu     sync.Mutex
	lanes  map[uint64]*Lane
	closed bool
	wg     sync.WaitGroup
}

// New makes the lanes of a node. weaver may be nil where no workflow runs.
func New(db *tx.DB, reader *sql.DB, weaver Weaver, opt Options) *Set {
	fallback(&opt.Depth, 4096)
	fallback(&opt.Gather, 300*time.Microsecond)
	fallback(&opt.Probe, 400*time.Millisecond)
	fallback(&opt.Timeout, 25*time.Second)
	if opt.Observe == nil {
		opt.Observe = func(Observation) {}
	}
	if opt.OnDelayed == nil {
		opt.OnDelayed = func(uint64, time.Time) {}
	}
	if opt.OnClock == nil {
		opt.OnClock = func(uint64, time.Time) {}
	}
	if opt.OnStream == nil {
		opt.OnStream = func(uint64) {}
	}
	if opt.OnInternal == nil {
		opt.OnInternal = func(error) {}
	}
	return &Set{db: db, reader: reader, weaver: weaver, opt: opt, lanes: map[uint64]*Lane{}}
}

func fallback[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// Close answers what waits, finishes what runs, and stops the lanes.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.lanes {
		l.stop()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Set) lane(namespace uint64) *Lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[namespace]
	if l == nil && !s.closed {
		l = newLane(s, namespace)
		s.lanes[namespace] = l
		s.wg.Go(l.loop)
	}
	return l
}

// errClosing answers callers of a node that is shutting down.
var errClosing = engine.Refuse("node_draining", "this node is shutting down; ask again, another node will answer")

var errNoWorkflows = errors.New("lane: this node runs no workflows")

// do runs an item and waits for its answer. A caller that leaves ends its wait, not the truth: what was committed
// stays, and work it was given is handed back.
func (s *Set) do(ctx context.Context, namespace uint64, it *item) error {
	l := s.lane(namespace)
	if l == nil {
		return errClosing
	}
	if err := l.enqueue(it); err != nil {
		return err
	}
	select {
	case <-it.done:
		return it.err
	case <-ctx.Done():
		if it.leave() {
			return ctx.Err()
		}
		<-it.done // its tasks are on their way
		return it.err
	}
}

// Submit accepts tasks; each has its own outcome.
func (s *Set) Submit(ctx context.Context, namespace uint64, submissions []pulse.Submission) ([]pulse.SubmitOutcome, error) {
	it := newItem()
	it.batch.Submissions = submissions
	err := s.do(ctx, namespace, it)
	return it.out.Submissions, err
}

// Renew extends leases.
func (s *Set) Renew(ctx context.Context, namespace uint64, renewals []pulse.Renewal) ([]pulse.RenewalOutcome, error) {
	it := newItem()
	it.batch.Renewals = renewals
	err := s.do(ctx, namespace, it)
	return it.out.Renewals, err
}

// Cancel asks to stop one task.
func (s *Set) Cancel(ctx context.Context, namespace uint64, c pulse.Cancel) (pulse.CancelOutcome, error) {
	it := newItem()
	it.batch.Cancels = []pulse.Cancel{c}
	if err := s.do(ctx, namespace, it); err != nil {
		return pulse.CancelOutcome{}, err
	}
	return it.out.Cancels[0], nil
}

// Review decides about one task that waits for a person.
func (s *Set) Review(ctx context.Context, namespace uint64, r pulse.ReviewRequest) (pulse.ReviewOutcome, error) {
	it := newItem()
	it.batch.Reviews = []pulse.ReviewRequest{r}
	if err := s.do(ctx, namespace, it); err != nil {
		return pulse.ReviewOutcome{}, err
	}
	return it.out.Reviews[0], nil
}

// Retry accepts a new task that repeats one which failed or was cancelled.
func (s *Set) Retry(ctx context.Context, namespace uint64, r pulse.ManualRetry) (pulse.SubmitOutcome, error) {
	it := newItem()
	it.batch.Retries = []pulse.ManualRetry{r}
	if err := s.do(ctx, namespace, it); err != nil {
		return pulse.SubmitOutcome{}, err
	}
	return it.out.Retries[0], nil
}

// Bulk does one page of a bulk operation, or nothing of it when another node has gone on.
func (s *Set) Bulk(ctx context.Context, namespace uint64, page pulse.BulkPage) (pulse.BulkOutcome, error) {
	it := newItem()
	it.batch.Pages = []pulse.BulkPage{page}
	if err := s.do(ctx, namespace, it); err != nil {
		return pulse.BulkOutcome{}, err
	}
	return it.out.Pages[0], nil
}

// Due has what a scan found judged and settled.
func (s *Set) Due(ctx context.Context, namespace uint64, dues []pulse.Due) error {
	for len(dues) > 0 {
		n := min(len(dues), engine.TransactionItemsMax)
		it := newItem()
		it.batch.Dues = dues[:n]
		dues = dues[n:]
		if err := s.do(ctx, namespace, it); err != nil {
			return err
		}
	}
	return nil
}

// Advance continues workflow instances that a scan found, and does not wait for them.
func (s *Set) Advance(namespace uint64, instances []engine.ID) {
	if l := s.lane(namespace); l != nil {
		l.advance(instances)
	}
}

// Wake lets the claims that wait on a queue look again: its settings changed. Other nodes find out by their probe.
func (s *Set) Wake(namespace, queue uint64) {
	if l := s.lane(namespace); l != nil {
		l.touch(queue)
	}
}

// Start starts workflow instances; each has its own outcome.
func (s *Set) Start(ctx context.Context, namespace uint64, starts []*Start) ([]StartOutcome, error) {
	if s.weaver == nil {
		return nil, errNoWorkflows
	}
	it := newItem()
	it.starts = starts
	err := s.do(ctx, namespace, it)
	return it.begun, err
}

// Ask does what is asked of workflow instances; each request has its own answer.
func (s *Set) Ask(ctx context.Context, namespace uint64, requests ...weave.Request) ([]weave.Answer, error) {
	if s.weaver == nil {
		return nil, errNoWorkflows
	}
	it := newItem()
	it.requests = requests
	err := s.do(ctx, namespace, it)
	return it.answers, err
}
