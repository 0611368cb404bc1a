package worker

import (
	"errors"
	"net/http"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// batchBytesMax keeps a request under the server's 1 MiB.
const batchBytesMax = 900 << 10

// batch takes the reports that go together, oldest first.
func (w *Worker) batch() []*report {
	n, size := 0, 0
	for n < len(w.reports) && n < batchMax {
		r := w.reports[n]
		size += r.bytes()
		if n > 0 && (size > batchBytesMax || r.alone) {
			break
		}
		n++
		if r.alone {
			break
		}
	}
	batch := append([]*report(nil), w.reports[:n]...)
	w.reports = append([]*report(nil), w.reports[n:]...)
	return batch
}

// exchange reports a batch and claims want tasks in the same request.
func (w *Worker) exchange(batch []*report, want int) {
	completions := make([]orbit.Completion, len(batch))
	for i, r := range batch {
		completions[i] = r.c
	}
	var claim *orbit.ClaimRequest
	if want > 0 {
		claim = w.claimRequest(want, 0)
	}
	sent := time.Now()
	answer, err := w.client.Complete(w.base, w.o.Name, completions, claim)
	w.update(func() {
		w.exchanges--
		w.claimed(claim, err)
		if err != nil {
			w.unanswered(batch, err)
		} else {
			w.roundTrip.add(time.Since(sent))
			w.answered(batch, answer, want > 0)
		}
		w.advance()
	})
}

func (w *Worker) claimRequest(want int, wait time.Duration) *orbit.ClaimRequest {
	return &orbit.ClaimRequest{Worker: w.o.Name, Queues: w.o.Queues, Handlers: w.refs, MaxTasks: want,
		WaitMS: wait.Milliseconds(), LeaseMS: w.o.Lease.Milliseconds(), ClaimKey: orbit.NewKey()}
}

// claimed frees the places of an answered claim. One without an answer keeps them and is asked again under its key: it
// may have started attempts that only this worker can run. A refusal is an answer.
func (w *Worker) claimed(claim *orbit.ClaimRequest, err error) {
	if claim == nil {
		return
	}
	refusal, answered := errors.AsType[*orbit.Error](err)
	if err == nil || answered && refusal.Status < http.StatusInternalServerError || w.stopped {
		w.reserved -= claim.MaxTasks
		return
	}
	again := *claim
	again.Question, again.WaitMS = claim.Question+1, 0
	w.unclear = append(w.unclear, &again)
}

func (w *Worker) answered(batch []*report, answer *orbit.CompletionAnswer, claimed bool) {
	w.reportPause.succeeded()
	for i, r := range batch {
		if i >= len(answer.Items) {
			w.again(r, errors.New("the answer has no outcome for this report"))
			continue
		}
		w.settle(r, answer.Items[i])
	}
	switch {
	case answer.ClaimProblem != nil:
		w.log.Warn("claim refused", "error", answer.ClaimProblem)
		w.claimPause.failed(answer.ClaimProblem)
	case claimed:
		w.claimPause.succeeded()
	}
	w.admit(answer.Tasks)
}

func (w *Worker) settle(r *report, o orbit.CompletionOutcome) {
	if o.Outcome == orbit.ReportRefused {
		w.refused(r, o.Problem)
		return
	}
	delete(w.held, r.a)
	task, hooks := r.a.task, w.o.Hooks
	if o.Outcome == orbit.ReportLate {
		w.log.Warn("report came late and is kept as evidence", "task", task.TaskID, "attempt", task.AttemptNo, "said", r.c.Outcome, "state", o.State)
		if hooks.Late != nil {
			w.calls = append(w.calls, func() { hooks.Late(task, r.c) })
		}
		return
	}
	if hooks.Accepted != nil {
		w.calls = append(w.calls, func() { hooks.Accepted(task, o) })
	}
}

// refused repeats a report that met a passing trouble, replaces one whose content the server cannot take by UNKNOWN, and
// gives up one that it does not know.
func (w *Worker) refused(r *report, problem *orbit.Error) {
	if problem == nil {
		problem = &orbit.Error{Code: "refused"}
	}
	switch {
	case orbit.Repeatable(problem):
		w.again(r, problem)
		return
	case problem.Code != "lease_unknown" && !r.fallback:
		w.log.Error("report refused, reporting UNKNOWN instead", "task", r.a.task.TaskID, "said", r.c.Outcome, "error", problem)
		w.reports = append(w.reports, r.replacement(problem))
	default:
		w.log.Error("report refused", "task", r.a.task.TaskID, "attempt", r.a.task.AttemptNo, "said", r.c.Outcome, "error", problem)
		delete(w.held, r.a)
	}
	if hook := w.o.Hooks.Refused; hook != nil {
		w.calls = append(w.calls, func() { hook(r.a.task, r.c, problem) })
	}
}

func (w *Worker) again(r *report, err error) {
	w.reports = append(w.reports, r)
	w.reportPause.failed(err)
}

// unanswered puts the reports of a failed request back, unchanged and in front. What is wrong with one of them must not
// hold up the others: after a refusal of the whole request each goes alone.
func (w *Worker) unanswered(batch []*report, err error) {
	if w.stopped {
		return
	}
	w.log.Warn("reports not answered, repeating them", "reports", len(batch), "error", err)
	refusal, ok := errors.AsType[*orbit.Error](err)
	if ok && !orbit.Repeatable(err) && aboutContent(refusal.Status) {
		if len(batch) == 1 && batch[0].alone {
			w.refused(batch[0], refusal)
			return
		}
		for _, r := range batch {
			r.alone = true
		}
	}
	w.reports = append(batch, w.reports...)
	w.reportPause.failed(err)
	w.claimPause.failed(err)
}

func aboutContent(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusConflict:
		return true
	}
	return false
}

// quickPoll is under what an empty answer to a poll counts as early: the server does not wait, so we do.
const quickPoll = 100 * time.Millisecond

// poll waits for tasks when nothing else would bring them, or asks an unanswered claim again.
func (w *Worker) poll(claim *orbit.ClaimRequest) {
	sent := time.Now()
	tasks, err := w.client.Claim(w.base, *claim)
	w.update(func() {
		w.polling = false
		w.claimed(claim, err)
		switch {
		case err != nil:
			w.log.Warn("claim not answered", "error", err)
			w.claimPause.failed(err)
		case len(tasks) == 0 && claim.Question == 0 && time.Since(sent) < min(quickPoll, w.o.PollWait):
			w.claimPause.failed(nil)
		default:
			w.claimPause.succeeded()
		}
		w.admit(tasks)
		w.advance()
	})
}
