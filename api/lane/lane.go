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

	mu       sync.Mutex
	queue    []*item
	advances []engine.ID // instances to continue, in order, each once
	pending  map[engine.ID]bool
	stopping bool
	wake     chan struct{} // capacity 1

	// Below: only the lane's own goroutine.
	waiting []*item         // claims that found nothing yet
	ready   map[uint64]bool // queues in which a waiting claim may find something
	peak    float64         // callers of recent transactions, decaying
	widen   int             // candidate lists were full of blocked rows
	probed  time.Time
}

func newLane(s *Set, namespace uint64) *Lane {
	return &Lane{set: s, namespace: namespace, wake: make(chan struct{}, 1), pending: map[engine.ID]bool{}, ready: map[uint64]bool{}}
}

// enqueue refuses before waiting hurts: a full lane answers 429 at once.
func (l *Lane) enqueue(it *item) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return errClosing
	}
	if len(l.queue) >= l.set.opt.Depth {
		return engine.Refuse("overloaded", "too much waits on this node; retry after a moment").Over(int64(l.set.opt.Depth), int64(len(l.queue)))
	}
	l.queue = append(l.queue, it)
	l.signal()
	return nil
}

func (l *Lane) advance(instances []engine.ID) {
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
		l.runPulse()
		l.runWeave()
		l.expireClaims()
		if l.finished() {
			return
		}
	}
}

// finished answers the last waiting claims of a stopping lane once nothing else is left.
func (l *Lane) finished() bool {
	l.mu.Lock()
	over := l.stopping && len(l.queue) == 0
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
		l.probe()
	}
}

func (l *Lane) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0 || len(l.advances) > 0 || l.stopping || l.anyReady()
}

func (l *Lane) anyReady() bool {
	for _, it := range l.waiting {
		if l.readyFor(it) {
			return true
		}
	}
	return false
}

func (l *Lane) readyFor(it *item) bool {
	for i := range it.batch.Claims {
		for _, q := range it.batch.Claims[i].Queues {
			if l.ready[q] {
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
	return len(l.queue)
}

// take forms the next transaction: items in order of arrival, then the waiting claims that it may serve.
func (l *Lane) take() *group {
	g := &group{}
	l.mu.Lock()
	n := 0
	for n < len(l.queue) && g.fits(l.queue[n]) {
		if len(l.queue[n].starts) > 0 {
			break
		}
		g.add(l.queue[n])
		n++
	}
	l.queue = l.queue[n:]
	l.mu.Unlock()
	if n > 0 {
		l.peak = max(float64(n), l.peak*15/16)
	}
	l.joinWaiting(g)
	g.merge()
	return g
}

// joinWaiting lets claims that found nothing try again when this transaction or a hint touches one of their queues.
func (l *Lane) joinWaiting(g *group) {
	touched := map[uint64]bool{}
	for _, it := range g.items {
		for i := range it.batch.Submissions {
			touched[it.batch.Submissions[i].Queue] = true
		}
		for i := range it.batch.Reports {
			touched[it.batch.Reports[i].Queue] = true
		}
		for i := range it.batch.Cancels {
			touched[it.batch.Cancels[i].Queue] = true
		}
		for i := range it.batch.Dues {
			touched[it.batch.Dues[i].Queue] = true
		}
	}
	for q := range touched {
		l.ready[q] = true
	}
	still := l.waiting[:0]
	for _, it := range l.waiting {
		if l.readyFor(it) && g.fits(it) {
			g.add(it)
		} else {
			still = append(still, it)
		}
	}
	l.waiting = still
	if len(still) == 0 || !l.anyReady() {
		clear(l.ready)
	}
}

// expireClaims answers claims whose wait is over, and forgets those whose caller has left.
func (l *Lane) expireClaims() {
	now := time.Now()
	still := l.waiting[:0]
	for _, it := range l.waiting {
		if it.gone.Load() || !now.Before(it.until) {
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
