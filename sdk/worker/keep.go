package worker

import (
	"context"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

const (
	tickMin = 10 * time.Millisecond
	tickMax = time.Second
	// staleAfter is how long a task may wait here for a place while another worker may have one.
	staleAfter = time.Second
)

// keep looks after all held attempts until the worker stops: renews in time, notices the end of leases, returns what
// waits too long.
func (w *Worker) keep() {
	ticker := time.NewTicker(min(max(w.o.Lease/12, tickMin), tickMax))
	defer ticker.Stop()
	for {
		select {
		case <-w.base.Done():
			return
		case <-ticker.C:
			w.update(func() { w.look(time.Now()) })
		}
	}
}

func (w *Worker) look(now time.Time) {
	due := false
	for a := range w.held {
		switch {
		case a.over:
		case !now.Before(a.deadline):
			w.expire(a)
		case !now.Before(a.leaseEnd):
			w.log.Warn("lease ran out without a renewal", "task", a.task.TaskID, "attempt", a.task.AttemptNo)
			w.lose(a)
		case a.started.IsZero() && !a.reported && now.Sub(a.arrived) > staleAfter:
			w.handlerTime.value = max(w.handlerTime.value, now.Sub(a.arrived)) // handlers are slow: claim nothing ahead
			w.withdraw(a, returned(a.task, "no_free_handler"))
		default:
			due = due || now.Sub(a.renewed) >= w.o.Lease/3 || a.tells(now)
		}
	}
	if due && !w.renewing {
		w.renewing = true
		go w.renew(w.renewable(now))
	}
	w.advance()
}

// renewable are the attempts one request can carry along: all that are not fresh.
func (w *Worker) renewable(now time.Time) []*attempt {
	var batch []*attempt
	for a := range w.held {
		if !a.over && (now.Sub(a.renewed) >= w.o.Lease/6 || a.tells(now)) && len(batch) < batchMax {
			batch = append(batch, a)
		}
	}
	return batch
}

// tells reports progress that waits to be sent; once a second is often enough for people.
func (a *attempt) tells(now time.Time) bool {
	return !a.over && !a.reported && a.task.unsent.Load() != nil && now.Sub(a.renewed) >= time.Second
}

// renew extends the leases of a batch in one request. A failed one is repeated at the next tick; four fit into what is
// left of a lease.
func (w *Worker) renew(batch []*attempt) {
	leases := make([]orbit.Renewal, len(batch))
	for i, a := range batch {
		// What is not sent now is not sent again: the handler will have newer progress to tell.
		leases[i] = orbit.Renewal{Lease: a.task.Lease, Progress: a.task.unsent.Swap(nil)}
	}
	sent := time.Now()
	ctx, cancel := context.WithTimeout(w.base, max(w.o.Lease/6, time.Second/2))
	defer cancel()
	outcomes, err := w.client.RenewWith(ctx, leases, w.o.Lease)
	w.update(func() {
		w.renewing = false
		if err != nil {
			w.log.Warn("leases not renewed", "leases", len(batch), "error", err)
			return
		}
		for i, a := range batch {
			if i < len(outcomes) {
				w.renewed(a, sent, outcomes[i])
			}
		}
		w.advance()
	})
}

func (w *Worker) renewed(a *attempt, sent time.Time, o orbit.RenewalOutcome) {
	switch o.Outcome {
	case orbit.RenewalContinue, orbit.RenewalCancelRequested:
		// From when we asked, not from when the answer came: the server counted from a moment in between.
		a.renewed, a.leaseEnd = sent, sent.Add(w.o.Lease)
		if a.leaseEnd.After(a.deadline) {
			a.leaseEnd = a.deadline
		}
		if o.Outcome == orbit.RenewalCancelRequested {
			w.askToStop(a)
		}
	case orbit.RenewalLost:
		w.lose(a)
	default:
		w.log.Error("renewal refused", "task", a.task.TaskID, "error", o.Problem)
		if o.Problem != nil && o.Problem.Code == "lease_unknown" {
			w.lose(a)
		}
	}
}

func (w *Worker) askToStop(a *attempt) {
	if w.withdraw(a, failed(a.task, orbit.OutcomeCancelled, "cancel_requested", "cancelled before the handler was called", nil)) {
		return
	}
	if a.cancel != nil {
		a.cancel(ErrCancelRequested)
	}
}

// lose stops an attempt that is no longer ours. What the handler says is still reported: if nobody has superseded the
// attempt it counts, else it is evidence.
func (w *Worker) lose(a *attempt) {
	if _, held := w.held[a]; !held || a.over {
		return
	}
	a.over = true
	if a.reported {
		return // probably our own report has ended it; its answer tells
	}
	if !w.withdraw(a, returned(a.task, "lease_lost")) && a.cancel != nil {
		a.cancel(ErrLeaseLost)
	}
	if hook := w.o.Hooks.LeaseLost; hook != nil {
		w.calls = append(w.calls, func() { hook(a.task) })
	}
}

// expire is the end of the attempt's time. A running handler's context has ended by itself at this moment.
func (w *Worker) expire(a *attempt) {
	a.over = true
	w.withdraw(a, returned(a.task, "deadline_reached"))
}
