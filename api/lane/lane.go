package lane

import (
	"context"
	"sync"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Lane is the single file of one namespace on one node.
type Lane struct {
	set       *Set
	namespace uint64

	mu         sync.Mutex
	queue      []*item     // tasks, in order of arrival
	starts     []*item     // workflow starts and requests, in order of arrival; neither kind waits behind the other
	advances   []engine.ID // instances to continue, in order, each once
	pending    map[engine.ID]bool
	touched    []uint64 // queues whose settings changed
	delivering int      // transactions whose started tasks are on their way to their callers
	stopping   bool
	wake       chan struct{} // capacity 1

	// Below: only the lane's own goroutine.
	waiting     []*item           // claims that found nothing yet
	ready       map[uint64]uint64 // when a queue last got something that a waiting claim may find
	marks       uint64            // the clock of ready
	claimsFirst bool              // ready claims did not fit into the last transaction
	peak        float64           // callers of recent transactions, decaying
	widen       int               // candidate lists were full of blocked rows
	probed      time.Time
	tokens      map[uint64]time.Time // when a queue with a rate has its next token
}

func newLane(s *Set, namespace uint64) *Lane {
	return &Lane{set: s, namespace: namespace, wake: make(chan struct{}, 1), pending: map[engine.ID]bool{}, ready: map[uint64]uint64{}, tokens: map[uint64]time.Time{}}
}

// enqueue refuses before waiting hurts: a full lane answers 429 at once.
func (l *Lane) enqueue(it *item) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return errClosing
	}
	if n := len(l.queue) + len(l.starts); n >= l.set.opt.Depth {
		return engine.Refuse("overloaded", "too much waits on this node; retry after a moment").Over(int64(l.set.opt.Depth), int64(n))
	}
	if it.asked() > 0 {
		l.starts = append(l.starts, it)
	} else {
		l.queue = append(l.queue, it)
	}
	l.signal()
	return nil
}

func (l *Lane) advance(instances []engine.ID) {
	if l.set.weaver == nil {
		return // the rows stay PENDING for a node that runs workflows
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range instances {
		if !l.pending[id] {
			l.pending[id] = true
			l.advances = append(l.advances, id)
		}
	}
	l.signal()
}

// touch notes a queue whose settings changed; the lane's goroutine takes it as ready.
func (l *Lane) touch(queue uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touched = append(l.touched, queue)
	l.signal()
}

func (l *Lane) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Lane) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopping = true
	l.signal()
}

// loop alternates between tasks and workflows, so that neither starves the other.
func (l *Lane) loop() {
	for {
		l.sleep()
		l.probe()
		if n := l.runPulse() + l.runWeave(); n > 0 {
			l.peak = max(float64(n), l.peak*15/16)
		}
		l.expireClaims()
		if l.finished() {
			return
		}
	}
}

// finished answers the last waiting claims of a stopping lane once nothing else is left: also nothing that is on its
// way to a caller who may have gone, and comes back.
func (l *Lane) finished() bool {
	l.mu.Lock()
	over := l.stopping && len(l.queue)+len(l.starts)+l.delivering == 0
	l.mu.Unlock()
	if over {
		for _, it := range l.waiting {
			close(it.done)
		}
		l.waiting = nil
	}
	return over
}

// sleep waits until something is there: an item, an instance, a queue that may be ready, the end of a claim's wait,
// or the time to probe for work of other nodes.
func (l *Lane) sleep() {
	if l.busy() {
		l.gatherUsual()
		return
	}
	timer := time.NewTimer(l.nextLook())
	defer timer.Stop()
	select {
	case <-l.wake:
		l.gatherUsual()
	case <-timer.C:
	}
}

func (l *Lane) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.touched {
		l.mark(q)
	}
	l.touched = nil
	l.ringTokens()
	return len(l.queue)+len(l.starts)+len(l.advances) > 0 || l.stopping && l.delivering == 0 || l.anyReady()
}

func (l *Lane) anyReady() bool {
	for _, it := range l.waiting {
		if l.readyFor(it) {
			return true
		}
	}
	return false
}

// ringTokens takes the queues whose next token has come as ready. The time is a hint: the claim asks the database's clock.
func (l *Lane) ringTokens() {
	for q, at := range l.tokens {
		if !time.Now().Before(at) {
			delete(l.tokens, q)
			l.mark(q)
		}
	}
}

// mark notes that a claim on the queue may find something it has not seen.
func (l *Lane) mark(queue uint64) {
	l.marks++
	l.ready[queue] = l.marks
}

// readyFor reports whether one of the claim's queues got something since the claim last looked.
func (l *Lane) readyFor(it *item) bool {
	for i := range it.batch.Claims {
		for _, q := range it.batch.Claims[i].Queues {
			if l.ready[q] > it.looked {
				return true
			}
		}
	}
	return false
}

// nextLook is how long the lane may sleep.
func (l *Lane) nextLook() time.Duration {
	if len(l.waiting) == 0 {
		return time.Minute
	}
	look := time.Until(l.probed.Add(l.set.opt.Probe))
	for _, it := range l.waiting {
		look = min(look, time.Until(it.until))
	}
	for _, at := range l.tokens {
		look = min(look, time.Until(at))
	}
	return max(look, time.Millisecond)
}

// gatherUsual lets the callers of the last commits come back before the next one begins: only while the lane is busy,
// only for a moment, and only until as many as usual are here. An idle lane never waits.
func (l *Lane) gatherUsual() {
	if l.peak <= 1.5 {
		return
	}
	timer := time.NewTimer(l.set.opt.Gather)
	defer timer.Stop()
	for l.depth() < int(l.peak) {
		select {
		case <-l.wake:
		case <-timer.C:
			return
		}
	}
}

func (l *Lane) depth() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) + len(l.starts)
}

// take forms the next transaction: items in order of arrival, then the waiting claims that it may serve. Claims that
// full transactions have left out come first in every other one, so that a flood of submissions starves no worker.
func (l *Lane) take() *group {
	g := &group{}
	first := l.claimsFirst
	if first {
		l.joinReady(g)
	}
	l.mu.Lock()
	n := 0
	for n < len(l.queue) && g.fits(l.queue[n]) {
		if it := l.queue[n]; it.left() && it.onlyClaims() {
			close(it.done) // nobody would take what it is given
		} else {
			g.add(it)
		}
		n++
	}
	l.queue = l.queue[n:]
	l.mu.Unlock()
	l.markTouched(g)
	l.claimsFirst = l.joinReady(g) && !first
	for _, it := range g.items {
		it.looked = l.marks
	}
	g.merge()
	return g
}

// markTouched lets claims that found nothing try again when this transaction touches one of their queues.
func (l *Lane) markTouched(g *group) {
	if len(l.waiting) == 0 {
		clear(l.ready)
		return
	}
	for _, it := range g.items {
		for i := range it.batch.Submissions {
			l.mark(it.batch.Submissions[i].Queue)
		}
		for i := range it.batch.Reports {
			l.mark(it.batch.Reports[i].Queue)
		}
		for i := range it.batch.Cancels {
			l.mark(it.batch.Cancels[i].Queue)
		}
		for i := range it.batch.Reviews {
			l.mark(it.batch.Reviews[i].Queue)
		}
		for i := range it.batch.Retries {
			l.mark(it.batch.Retries[i].Queue)
		}
		for i := range it.batch.Pages {
			l.mark(it.batch.Pages[i].Queue)
		}
		for i := range it.batch.Dues {
			l.mark(it.batch.Dues[i].Queue)
		}
	}
}

// joinReady adds the waiting claims that may find something, and reports whether one did not fit.
func (l *Lane) joinReady(g *group) (left bool) {
	still := l.waiting[:0]
	for _, it := range l.waiting {
		ready := l.readyFor(it)
		if ready && g.fits(it) {
			g.add(it)
			continue
		}
		left = left || ready
		still = append(still, it)
	}
	clear(l.waiting[len(still):])
	l.waiting = still
	return left
}

// expireClaims answers claims whose wait is over, and forgets those whose caller has left.
func (l *Lane) expireClaims() {
	now := time.Now()
	still := l.waiting[:0]
	for _, it := range l.waiting {
		if it.left() || !now.Before(it.until) {
			close(it.done)
		} else {
			still = append(still, it)
		}
	}
	l.waiting = still
}

func (l *Lane) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), l.set.opt.Timeout)
}
