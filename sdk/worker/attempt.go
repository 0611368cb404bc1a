package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// attempt is one claimed task from its claim to the answer to its report. Times are local and monotonic.
type attempt struct {
	task     *Task
	arrived  time.Time
	renewed  time.Time // when the lease was last known to be whole
	leaseEnd time.Time
	deadline time.Time // of the attempt: its timeout or the task's deadline
	started  time.Time // zero while it waits
	ctx      context.Context
	cancel   context.CancelCauseFunc // nil while it waits
	over     bool                    // lost, or past its deadline: not renewed any more
	reported bool                    // its report is made
	// abandoned handlers were given up by a drain; what they say later is too late, and their place is free already.
	abandoned bool
}

// admit takes claimed tasks in. arrived is when the answer came: the database's clock and ours are compared only as
// differences.
func (w *Worker) admit(tasks []orbit.ClaimedTask) {
	arrived := time.Now()
	for i := range tasks {
		t := &Task{ClaimedTask: tasks[i]}
		a := &attempt{
			task: t, arrived: arrived, renewed: arrived,
			leaseEnd: arrived.Add(t.LeaseUntil.Sub(t.StartedAt)),
			deadline: arrived.Add(earlier(t.AttemptDeadlineAt, t.DeadlineAt).Sub(t.StartedAt)),
		}
		w.held[a] = struct{}{}
		if w.draining || w.handlers[t.ref()] == nil {
			w.report(a, returned(t, "not_started"))
			continue
		}
		w.ready = append(w.ready, a)
	}
}

func (t *Task) ref() orbit.HandlerRef {
	return orbit.HandlerRef{Handler: t.Handler, HandlerVersion: t.HandlerVersion}
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

func returned(t *Task, code string) orbit.Completion {
	return failed(t, orbit.OutcomeReturned, code, "the handler was never called", nil)
}

func (w *Worker) begin(a *attempt) {
	a.started = time.Now()
	ctx, cancel := context.WithCancelCause(w.base)
	a.ctx, a.cancel = ctx, cancel
}

// work runs a and then whatever waits, until nothing does. A handler that ends its goroutine is reported too.
func (w *Worker) work(a *attempt) {
	defer func() {
		if a != nil {
			c := failed(a.task, orbit.OutcomeUnknown, "handler_exited", "the handler ended its goroutine", nil)
			if next := w.finish(a, c); next != nil {
				go w.work(next)
			}
		}
	}()
	for a != nil {
		c := w.run(a)
		a = w.finish(a, c)
	}
}

func (w *Worker) run(a *attempt) orbit.Completion {
	if w.o.Hooks.Started != nil {
		w.o.Hooks.Started(a.task)
	}
	ctx, cancel := context.WithDeadlineCause(a.ctx, a.deadline, ErrDeadline)
	defer cancel()
	out, err, panicked := call(ctx, w.handlers[a.task.ref()], a.task)
	if panicked != nil {
		w.log.ErrorContext(ctx, "handler panicked", "task", a.task.TaskID, "handler", a.task.Handler, "panic", panicked.message, "stack", panicked.stack)
		return failed(a.task, orbit.OutcomeUnknown, "panic", panicked.message, map[string]any{"stack": cut(panicked.stack, 4<<10)})
	}
	return judge(ctx, a.task, out, err)
}

type panicking struct{ message, stack string }

// call protects the worker from the handler. What a panicking handler had already done, nobody knows: UNKNOWN (T7).
func call(ctx context.Context, h HandlerFunc, t *Task) (out json.RawMessage, err error, p *panicking) { //nolint:revive // a panic is no error
	defer func() {
		if v := recover(); v != nil {
			p = &panicking{fmt.Sprint(v), string(debug.Stack())}
		}
	}()
	out, err = h(ctx, t)
	return out, err, nil
}

// finish makes the report and gives the place to the next ready attempt, if there is one.
func (w *Worker) finish(a *attempt, c orbit.Completion) (next *attempt) {
	took := time.Since(a.started)
	w.update(func() {
		if a.abandoned {
			return
		}
		w.running--
		a.cancel(nil)
		w.handlerTime.add(took)
		w.report(a, c)
		if hook := w.o.Hooks.Finished; hook != nil {
			w.calls = append(w.calls, func() { hook(a.task, c, took) })
		}
		if len(w.ready) > 0 && w.running < w.o.Concurrency {
			next = w.next()
		}
		w.advance()
	})
	return next
}

func (w *Worker) report(a *attempt, c orbit.Completion) {
	a.reported = true
	w.reports = append(w.reports, &report{a: a, c: c})
}

// withdraw takes an attempt that has not begun out of the worker, with a report that says so. It reports whether it was
// still waiting.
func (w *Worker) withdraw(a *attempt, c orbit.Completion) bool {
	i := slices.Index(w.ready, a)
	if i < 0 {
		return false
	}
	w.ready = slices.Delete(w.ready, i, i+1)
	w.report(a, c)
	return true
}
