package execworker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/gen/client"
)

// Worker claims tasks and runs the command for each.
type Worker struct {
	on      *cli.Session
	opt     Options
	slots   chan struct{} // one for each command that may still start
	running sync.WaitGroup
	started int
	broken  atomic.Pointer[error] // why no command can start

	mu       sync.Mutex
	attempts map[*attempt]bool
}

// New makes a worker.
func New(on *cli.Session, opt Options) *Worker {
	opt.Log = NewLocked(opt.Log)
	w := &Worker{on: on, opt: opt, slots: make(chan struct{}, opt.Concurrency), attempts: map[*attempt]bool{}}
	for range opt.Concurrency {
		w.slots <- struct{}{}
	}
	return w
}

// Run works until ctx ends, then drains: nothing more is started, what runs
// may end within the grace or until hurry is closed, and is then stopped.
func (w *Worker) Run(ctx context.Context, hurry <-chan struct{}) error {
	work := context.WithoutCancel(ctx)
	renewing, stop := context.WithCancel(work)
	defer stop()
	var renewer sync.WaitGroup
	renewer.Go(func() { w.renew(renewing) })
	err := w.claimAll(ctx, work)
	w.drain(ctx, hurry)
	stop()
	renewer.Wait()
	if err == nil && w.broken.Load() != nil {
		err = *w.broken.Load()
	}
	return err
}

func (w *Worker) claimAll(ctx, work context.Context) error {
	for failures := 0; ctx.Err() == nil && w.broken.Load() == nil; {
		free := w.take(ctx)
		if free == 0 {
			return nil
		}
		begun := time.Now()
		tasks, err := w.claim(work, free)
		w.give(free - len(tasks))
		for _, task := range tasks {
			w.begin(ctx, work, newAttempt(task, begun, w.opt.Lease))
		}
		switch {
		case err != nil && cli.ExitCodeOf(err) != cli.ExitUnavailable:
			return err
		case err != nil:
			w.log("claim: %s", err)
			_ = cli.Sleep(ctx, cli.Backoff(failures, err))
			failures++
		default:
			failures = 0
		}
		if err == nil && len(tasks) == 0 && w.opt.UntilEmpty {
			return nil
		}
	}
	return nil
}

// take waits for a free slot and takes all there are; 0 when the worker stops
// or has done enough.
func (w *Worker) take(ctx context.Context) (free int) {
	most := w.opt.Concurrency
	if w.opt.MaxTasks > 0 {
		most = min(most, w.opt.MaxTasks-w.started)
	}
	if most == 0 {
		return 0
	}
	select {
	case <-ctx.Done():
		return 0
	case <-w.slots:
	}
	for free = 1; free < most; free++ {
		select {
		case <-w.slots:
		default:
			return free
		}
	}
	return free
}

func (w *Worker) give(n int) {
	for range n {
		w.slots <- struct{}{}
	}
}

func (w *Worker) claim(ctx context.Context, most int) ([]client.ClaimedTask, error) {
	wait := w.opt.Wait
	if w.opt.UntilEmpty {
		wait = 0
	}
	body, err := json.Marshal(client.ClaimRequest{Worker: w.opt.Name, Queues: w.opt.Queues, Handlers: w.opt.Handlers,
		MaxTasks: int32(most), WaitMs: wait.Milliseconds(), LeaseMs: w.opt.Lease.Milliseconds()})
	if err != nil {
		return nil, err
	}
	// Not repeated by itself: the server may have started tasks for an answer
	// that was lost, and they come back when their lease ends.
	answer, err := w.on.Once(ctx, func(ctx context.Context) (*http.Response, error) {
		return w.on.API.ClaimTasksWithBody(ctx, "application/json", bytes.NewReader(body))
	})
	if err != nil {
		return nil, err
	}
	result, err := cli.Decode[client.ClaimResult](answer)
	return result.Tasks, err
}

// begin runs the command of one attempt, or hands the task back when the
// worker is stopping.
func (w *Worker) begin(ctx, work context.Context, a *attempt) {
	if ctx.Err() != nil || w.broken.Load() != nil {
		w.running.Go(func() { w.report(work, a, report{outcome: client.ReportOutcomeRETURNED}); w.give(1) })
		return
	}
	w.started++
	w.keep(a, true)
	w.running.Go(func() {
		defer w.give(1)
		defer w.keep(a, false)
		begun := time.Now()
		e, err := a.run(w.opt)
		r := judge(e, w.opt.Otherwise)
		if err != nil { // it never began, and the next one would not either
			r = report{outcome: client.ReportOutcomeRETURNED}
			err = cli.Usage("the command cannot be started: %v", err)
			w.broken.Store(&err)
		}
		w.log("%s %s@%s attempt %d: %s after %s%s", a.task.TaskId, a.task.Handler, a.task.HandlerVersion, a.task.AttemptNo, r.outcome, time.Since(begun).Round(time.Millisecond), r.why())
		w.report(work, a, r)
	})
}

func (w *Worker) keep(a *attempt, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if on {
		w.attempts[a] = true
	} else {
		delete(w.attempts, a)
	}
}

func (w *Worker) all() []*attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]*attempt, 0, len(w.attempts))
	for a := range w.attempts {
		out = append(out, a)
	}
	return out
}

// drain waits for what runs.
func (w *Worker) drain(ctx context.Context, hurry <-chan struct{}) {
	done := make(chan struct{})
	go func() { w.running.Wait(); close(done) }()
	var grace <-chan time.Time
	stopping := ctx.Done()
	for {
		select {
		case <-done:
			return
		case <-stopping:
			stopping = nil
			if n := len(w.all()); n > 0 {
				w.log("draining: %d running, at most %s", n, w.opt.Grace)
			}
			grace = time.After(w.opt.Grace)
		case <-grace:
			w.stopAll()
		case <-hurry:
			hurry = nil
			w.stopAll()
		}
	}
}

func (w *Worker) stopAll() {
	for _, a := range w.all() {
		a.stop(stoppedShutdown)
	}
}

func (w *Worker) log(format string, args ...any) {
	fmt.Fprintf(w.opt.Log, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+"  "+format+"\n", args...)
}
