package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// Worker claims tasks and runs their handlers. Make it with New, register handlers, call Run once.
type Worker struct {
	client   *orbit.Client
	o        Options
	log      *slog.Logger
	handlers map[orbit.HandlerRef]HandlerFunc
	refs     []orbit.HandlerRef
	mistake  error // made while registering; Run returns it

	base context.Context // of handlers and requests; outlives Run's context so that a drain can report
	stop context.CancelFunc

	mu    sync.Mutex
	calls []func() // hooks to call when mu is free again

	held    map[*attempt]struct{} // every attempt from its claim to the answer to its report
	ready   []*attempt            // claimed, waiting for a free place, oldest first
	reports []*report             // waiting for a request
	running int                   // handlers now

	unclear   []*orbit.ClaimRequest // claims without an answer, to be asked again before any new one
	reserved  int                   // places promised to claims in flight or unclear
	exchanges int                   // reporting requests in flight
	polling   bool
	renewing  bool
	draining  bool
	stopped   bool          // Run has returned; nothing starts any more
	idle      chan struct{} // closed when draining and nothing is left
	wakeAt    time.Time     // when somebody looks again because a pause is over

	claimPause, reportPause backoff
	handlerTime, roundTrip  average
}

// New makes a worker. Mistakes in the options are returned by Run.
func New(client *orbit.Client, o Options) *Worker {
	w := &Worker{client: client, o: o.withDefaults(), log: o.Logger, handlers: map[orbit.HandlerRef]HandlerFunc{},
		held: map[*attempt]struct{}{}, idle: make(chan struct{})}
	if w.log == nil {
		w.log = client.Logger()
	}
	return w
}

// UnreportedError says how many reports had no answer when the worker gave up. Their leases end by themselves and the
// server decides about them: review, or another attempt where that was declared safe.
type UnreportedError struct{ Attempts int }

// Error gives the number.
func (e *UnreportedError) Error() string {
	return fmt.Sprintf("worker: %d attempts could not be reported", e.Attempts)
}

// Run works until ctx ends and then drains: it claims nothing more, returns what has not begun, lets running handlers go
// on for DrainTimeout, then cancels them with ErrDraining and waits StopTimeout, and reports everything. It returns nil
// after a whole drain, *UnreportedError otherwise, and at once for a wrong option or registration.
func (w *Worker) Run(ctx context.Context) error {
	if err := errors.Join(w.mistake, w.o.check(len(w.refs))); err != nil {
		return err
	}
	w.base, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer w.stop()
	w.log.InfoContext(ctx, "worker started", "worker", w.o.Name, "queues", w.o.Queues, "handlers", len(w.refs), "concurrency", w.o.Concurrency)
	go w.keep()
	w.update(w.advance)
	<-ctx.Done()
	return w.drain()
}

// update changes the state under the lock and calls the hooks that came up after it.
func (w *Worker) update(change func()) {
	w.mu.Lock()
	change()
	calls := w.calls
	w.calls = nil
	w.mu.Unlock()
	for _, call := range calls {
		call()
	}
}

// advance starts whatever can start now. It is called with the lock after every change of the state, so nothing waits
// for a tick.
func (w *Worker) advance() {
	if w.stopped {
		return
	}
	for w.running < w.o.Concurrency && len(w.ready) > 0 {
		go w.work(w.next())
	}
	for w.canExchange() {
		w.exchanges++
		batch, want := w.batch(), w.want()
		if batch[0].alone {
			want = 0 // it is on trial: nothing else in the request may be at fault
		}
		w.reserved += want
		go w.exchange(batch, want)
	}
	switch {
	case w.canAskAgain():
		w.polling = true
		claim := w.unclear[0]
		w.unclear = w.unclear[1:]
		go w.poll(claim)
	case w.canPoll():
		w.polling = true
		want := w.want()
		w.reserved += want
		go w.poll(w.claimRequest(want, w.o.PollWait))
	}
	if w.draining && w.running == 0 && len(w.ready) == 0 && len(w.reports) == 0 && w.exchanges == 0 && !w.polling && len(w.unclear) == 0 {
		w.closeIdle()
	}
}

func (w *Worker) closeIdle() {
	select {
	case <-w.idle:
	default:
		close(w.idle)
	}
}

// next takes the oldest ready attempt to a free place.
func (w *Worker) next() *attempt {
	a := w.ready[0]
	w.ready[0] = nil
	w.ready = w.ready[1:]
	w.running++
	w.begin(a)
	return a
}

// exchangesMax: one request on its way while the next gathers. More would only make the batches smaller.
const exchangesMax = 2

func (w *Worker) canExchange() bool {
	return len(w.reports) > 0 && w.exchanges < exchangesMax && !w.paused(&w.reportPause)
}

// canAskAgain: attempts that an unanswered claim may have started run out of their leases, so this comes first, also
// while the worker drains: then they are returned at once.
func (w *Worker) canAskAgain() bool {
	return len(w.unclear) > 0 && !w.polling && !w.paused(&w.claimPause)
}

// canPoll: only when no report is about to ask for tasks anyway.
func (w *Worker) canPoll() bool {
	return !w.polling && w.exchanges == 0 && len(w.reports) == 0 && w.free() > 0 && !w.draining && !w.paused(&w.claimPause)
}

// want is how many tasks a claim that goes now may bring.
func (w *Worker) want() int {
	if w.draining || w.paused(&w.claimPause) {
		return 0
	}
	return min(max(w.free(), 0), claimMax)
}

func (w *Worker) free() int {
	return w.o.Concurrency + w.ahead() - w.running - len(w.ready) - w.reserved
}

// ahead is how many tasks the handlers finish in one round trip: with so many waiting, none of them idles, and none
// waits longer than that (T4: waiting time consumes no lease time).
func (w *Worker) ahead() int {
	if w.handlerTime.value == 0 {
		return 0
	}
	trips := float64(w.roundTrip.value) / float64(w.handlerTime.value)
	return int(min(trips*float64(w.o.Concurrency), float64(w.o.Prefetch)))
}

// paused reports whether b still waits, and sees to it that somebody looks again when it is over.
func (w *Worker) paused(b *backoff) bool {
	now := time.Now()
	if !now.Before(b.until) {
		return false
	}
	if !now.Before(w.wakeAt) || b.until.Before(w.wakeAt) {
		w.wakeAt = b.until
		time.AfterFunc(b.until.Sub(now), func() { w.update(w.advance) })
	}
	return true
}
