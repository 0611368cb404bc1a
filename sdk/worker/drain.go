package worker

import (
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// drain ends the worker (Run).
func (w *Worker) drain() error {
	w.update(func() {
		w.draining = true
		w.log.Info("worker drains", "running", w.running, "waiting", len(w.ready))
		for len(w.ready) > 0 {
			w.withdraw(w.ready[0], returned(w.ready[0].task, "worker_draining"))
		}
		w.advance()
	})
	if !w.idleWithin(w.o.DrainTimeout) {
		w.update(w.interrupt)
		if !w.idleWithin(w.o.StopTimeout) {
			w.update(w.abandon)
			w.idleWithin(w.o.ReportTimeout)
		}
	}
	return w.left()
}

func (w *Worker) idleWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.idle:
		return true
	case <-timer.C:
		return false
	}
}

func (w *Worker) interrupt() {
	for a := range w.held {
		if a.cancel != nil {
			a.cancel(ErrDraining)
		}
	}
}

// abandon reports what cannot be stopped. The process is about to end, and with it the handlers; what they have done by
// then, nobody knows.
func (w *Worker) abandon() {
	for a := range w.held {
		if !a.started.IsZero() && !a.reported {
			w.running--
			a.abandoned = true
			w.report(a, failed(a.task, orbit.OutcomeUnknown, "worker_stopped", "the worker ended while the handler ran", nil))
		}
	}
	w.advance()
}

func (w *Worker) left() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if n := len(w.held); n > 0 {
		w.log.Error("worker stopped with attempts unreported", "attempts", n)
		return &UnreportedError{n}
	}
	w.log.Info("worker stopped")
	return nil
}
