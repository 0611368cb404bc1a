package worker

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// Limits of the API (api/openapi.yaml).
const (
	queuesMax   = 16
	handlersMax = 64
	claimMax    = 64
	batchMax    = 256
	leaseMin    = time.Second
	leaseMax    = time.Hour
	pollWaitMax = 30 * time.Second
)

// Options of a worker. Zero fields get the defaults named.
type Options struct {
	Queues      []string      // 1 to 16 queues to look at; those of HandleRef are added
	Concurrency int           // handlers at the same time; default 10
	Lease       time.Duration // how long a silent worker keeps a task; 1 s to 1 h, default 30 s
	Name        string        // what the worker calls itself, for people; default host/pid

	// Prefetch is the most tasks claimed ahead of a free handler. How many really are depends on how fast the handlers
	// are compared with the round trip. Default twice Concurrency, at most 128; negative is none.
	Prefetch int
	// PollWait is how long an idle claim waits for a task. A drain lets it end, because a claim that is cut off may have
	// started tasks. Default 3 s, at most 30 s.
	PollWait time.Duration
	// DrainTimeout is how long running handlers may go on after Run's context has ended. Default 30 s.
	DrainTimeout time.Duration
	// StopTimeout is how long they have after that, their contexts being cancelled with ErrDraining. What then still runs
	// is reported as UNKNOWN. Default 5 s.
	StopTimeout time.Duration
	// ReportTimeout is how long the last reports may take after that. A server that does not answer for so long is down,
	// and a process that is told to end must end. Default 15 s.
	ReportTimeout time.Duration

	Middleware []Middleware // the first is the outermost
	Hooks      Hooks
	Logger     *slog.Logger // default: the client's
}

// Hooks tell what happens to tasks. Every field may be nil. They are called from the worker's own goroutines and should
// return soon.
type Hooks struct {
	Started   func(*Task)                                  // a handler is about to run
	Finished  func(*Task, orbit.Completion, time.Duration) // it returned, and this will be reported
	Accepted  func(*Task, orbit.CompletionOutcome)         // the report is in; replays too
	Late      func(*Task, orbit.Completion)                // it came after the attempt was closed; kept as evidence (T5)
	Refused   func(*Task, orbit.Completion, error)         // it was refused for good; the server decides by the lease
	LeaseLost func(*Task)                                  // the attempt is no longer this worker's
}

func (o Options) withDefaults() Options {
	set(&o.Concurrency, 10)
	set(&o.Lease, 30*time.Second)
	set(&o.PollWait, 3*time.Second)
	set(&o.DrainTimeout, 30*time.Second)
	set(&o.StopTimeout, 5*time.Second)
	set(&o.ReportTimeout, 15*time.Second)
	set(&o.Prefetch, min(2*o.Concurrency, 2*claimMax))
	o.Prefetch = max(o.Prefetch, 0)
	if o.Name == "" {
		host, _ := os.Hostname() // an unknown host is an empty one: the name is for people only
		o.Name = fmt.Sprintf("%s/pid-%d", host, os.Getpid())
	}
	return o
}

func set[T comparable](field *T, otherwise T) {
	var zero T
	if *field == zero {
		*field = otherwise
	}
}

func (o Options) check(handlers int) error {
	switch {
	case len(o.Queues) == 0 || len(o.Queues) > queuesMax:
		return fmt.Errorf("worker: %d queues, not 1 to %d", len(o.Queues), queuesMax)
	case handlers == 0 || handlers > handlersMax:
		return fmt.Errorf("worker: %d handlers, not 1 to %d", handlers, handlersMax)
	case o.Concurrency < 1:
		return fmt.Errorf("worker: concurrency %d", o.Concurrency)
	case o.Lease < leaseMin || o.Lease > leaseMax:
		return fmt.Errorf("worker: lease %v, not %v to %v", o.Lease, leaseMin, leaseMax)
	case o.PollWait < 0 || o.PollWait > pollWaitMax:
		return fmt.Errorf("worker: poll wait %v, not up to %v", o.PollWait, pollWaitMax)
	}
	return nil
}
