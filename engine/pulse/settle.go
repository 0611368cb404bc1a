package pulse

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
)

var zeroTime time.Time

// Digest identifies the content of a report, so that a repeat is told from a contradiction.
func (r *Report) Digest() [32]byte {
	h := sha256.New()
	number(h, "outcome", int64(r.Outcome))
	field(h, "output", string(r.Output))
	field(h, "code", r.FailureCode)
	field(h, "message", r.FailureMessage)
	field(h, "details", string(r.FailureDetails))
	return [32]byte(h.Sum(nil))
}

func (p *planner) reports() {
	for i := range p.b.Reports {
		p.out.Reports[i] = p.report(&p.b.Reports[i])
	}
}

func (p *planner) report(r *Report) ReportOutcome {
	if refusal := p.judge(r.Credential, "worker:claim"); refusal != nil {
		return ReportOutcome{Refusal: refusal}
	}
	w := p.task(r.Task)
	if w == nil || w.gone || w.now.Application != r.Application || !p.holds(w, r) {
		return p.staleReport(r)
	}
	if r.Outcome == Cancelled && w.now.CancelRequestedAt.IsZero() {
		return ReportOutcome{Refusal: engine.Refuse("cancel_not_requested", "nobody asked this attempt to stop; report FAILED, UNKNOWN or RETURNED").At("/outcome")}
	}
	return ReportOutcome{Status: ReportAccepted, TaskState: p.accept(w, r)}
}

// holds is the fence: the report must carry the number and the token of the attempt that runs now. An expired lease
// that nobody has superseded still holds (pulse.md Completion).
func (p *planner) holds(w *work, r *Report) bool {
	return w.now.State == Running && w.now.Queue == r.Queue && w.now.AttemptNo == r.AttemptNo && w.now.Token == r.Token
}

// accept applies what a worker says about its own attempt.
func (p *planner) accept(w *work, r *Report) Public {
	attempt := p.attempt(w, r.Outcome, r.FailureCode, r.FailureMessage)
	attempt.FailureDetails, attempt.Output, attempt.Digest = r.FailureDetails, r.Output, r.Digest()
	attempt.Consumed = r.Outcome != Returned || w.now.AttemptNo >= engine.AttemptNumberMax
	settled := verdict{attemptNo: r.AttemptNo, code: r.FailureCode, message: r.FailureMessage, output: r.Output}
	stopping := !w.now.CancelRequestedAt.IsZero()
	broken := ""
	if w.now.HasContract && r.Outcome == Succeeded {
		broken = brokenContract(p.s.Rules[w.now.ID].OutputContract, r.Output)
	}
	switch {
	case broken != "":
		settled.on, settled.kind, settled.code, settled.message = OnBroken, EventReview, "output_contract_broken", broken
		p.settle(w, settled)
	case r.Outcome == Succeeded:
		settled.on, settled.kind = OnSucceed, EventSucceeded
		p.settle(w, settled)
	case r.Outcome == Unknown:
		p.unknown(w, settled, EventReview)
	case r.Outcome == Cancelled, stopping && r.Outcome != Permanent:
		settled.code = orElse(settled.code, "cancelled")
		p.conclude(w, settled, OnStopped, EventCancelled)
	case r.Outcome == Returned && attempt.Consumed && w.now.AttemptsUsed >= w.now.MaxAttempts:
		settled.code = "returned_too_often"
		p.conclude(w, settled, OnFail, EventFailed)
	case r.Outcome == Returned:
		p.giveBack(w, attempt.Consumed)
	case r.Outcome == Retryable && p.retry(w):
	default:
		p.conclude(w, settled, OnFail, EventFailed)
	}
	attempt.TaskState = w.public
	p.ch.Attempts = append(p.ch.Attempts, attempt)
	return attempt.TaskState
}

// conclude ends a task without success. What an attempt says is about itself only: while an earlier one is UNKNOWN its
// effect may still be under way, so a person decides, and permit and key stay (O1; docs/adr/0012).
func (p *planner) conclude(w *work, v verdict, on Event, kind EventKind) {
	v.on, v.kind = on, kind
	if p.s.Unsettled[w.now.ID] {
		v.on, v.kind, v.unknown = OnUnknown, EventReview, true
	}
	p.settle(w, v)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (p *planner) attempt(w *work, o Outcome, code, message string) AttemptWrite {
	return AttemptWrite{
		Task: w.now.ID, No: w.now.AttemptNo, Outcome: o, Consumed: true, Token: w.now.Token, Worker: w.now.Worker,
		StartedAt: w.now.StartedAt, LeaseUntil: w.now.LeaseUntil, FailureCode: code, FailureMessage: message,
	}
}

// unknown decides what follows an outcome nobody knows: a declared-safe repeat while budget and time last, else a
// person. Across a repeat the permit and the key stay with the task, because the first effect may still be running.
func (p *planner) unknown(w *work, v verdict, kind EventKind) {
	at, ok := p.retryAt(w)
	if ok && w.now.Lost == LostRetry && w.now.CancelRequestedAt.IsZero() {
		p.requeue(w, at, kind, fmt.Sprintf(`{"available_at":%q,"rule":"lost_policy RETRY"}`, Time(at)))
		w.now.PermitHeld = true
		return
	}
	v.on, v.kind, v.unknown = OnUnknown, kind, true
	v.code = orElse(v.code, "outcome_unknown")
	p.settle(w, v)
}

// retry puts a known failure back if attempts and time are left. It reports whether it did.
func (p *planner) retry(w *work) bool {
	at, ok := p.retryAt(w)
	if ok {
		p.requeue(w, at, EventRetryScheduled, fmt.Sprintf(`{"available_at":%q}`, Time(at)))
		p.handBack(w)
	}
	return ok
}

// handBack gives permit and key back between two attempts, unless an earlier attempt left an effect that nobody has
// confirmed: what the attempt after it says is about itself only.
func (p *planner) handBack(w *work) {
	w.now.PermitHeld = p.s.Unsettled[w.now.ID]
	p.release(w, w.now.PermitHeld)
}

// retryAt is when the next attempt may start, and whether the budget and the deadline allow one.
func (p *planner) retryAt(w *work) (time.Time, bool) {
	at := p.s.Now.Add(p.s.Rules[w.now.ID].Retry.Delay(w.now.ID, w.now.AttemptsUsed))
	return at, w.now.AttemptsUsed < w.now.MaxAttempts && at.Before(w.now.DeadlineAt)
}

// giveBack returns a task that was never started: its place is kept and no attempt is used.
func (p *planner) giveBack(w *work, consumed bool) {
	if !consumed {
		w.now.AttemptsUsed--
	}
	p.requeue(w, w.now.AvailableAt, EventReturned, "")
	p.handBack(w)
}

// requeue takes a running task back to waiting.
func (p *planner) requeue(w *work, at time.Time, kind EventKind, detail string) {
	p.usage.run(&w.now, -1)
	p.event(w, kind, w.now.AttemptNo, detail)
	w.public = PublicQueued
	w.now.State, w.now.AvailableAt, w.now.PermitHeld = Queued, at, false
	if at.After(p.s.Now) {
		w.now.State = Delayed
		p.ch.DelayedUntil = append(p.ch.DelayedUntil, QueueTime{w.now.Queue, at})
	}
	w.now.StartedAt, w.now.LeaseUntil, w.now.CancelRequestedAt = zeroTime, zeroTime, zeroTime
	w.now.Token, w.now.Worker = engine.ID{}, ""
}

// staleReport answers a report whose attempt no longer runs: a repeat gets its first answer, anything else that can
// prove its token is kept as evidence, and a stranger learns nothing.
func (p *planner) staleReport(r *Report) ReportOutcome {
	ended, application, state, ok := p.ended(r)
	if !ok || ended.Token != r.Token || application != r.Application {
		return ReportOutcome{Refusal: engine.Refuse("lease_unknown", "no attempt with this number and token exists; claim again")}
	}
	digest := r.Digest()
	if ended.Digest == digest {
		return ReportOutcome{Status: ReportReplayed, TaskState: ended.TaskState}
	}
	p.ch.Late = append(p.ch.Late, LateWrite{r.Task, r.AttemptNo, digest, r.Outcome, ended.Worker, r.Text})
	return ReportOutcome{Status: ReportLate, TaskState: state}
}

// ended finds the attempt of a report that came too late: ended in this very plan, or before it. A client that sends
// one report twice may well meet itself in one transaction.
func (p *planner) ended(r *Report) (EndedAttempt, uint64, Public, bool) {
	for i := range p.ch.Attempts {
		if a := &p.ch.Attempts[i]; a.Task == r.Task && a.No == r.AttemptNo {
			w := p.tasks[r.Task]
			return EndedAttempt{a.Outcome, a.Token, a.Digest, a.TaskState, a.Worker}, w.now.Application, w.state(), true
		}
	}
	ended, ok := p.s.Attempts[AttemptKey{r.Task, r.AttemptNo}]
	rules := p.s.Rules[r.Task]
	if w := p.tasks[r.Task]; w != nil {
		return ended, rules.Application, w.state(), ok
	}
	return ended, rules.Application, rules.State, ok
}
