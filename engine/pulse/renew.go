package pulse

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

// judge re-checks who asks, at the time of this transaction.
func (p *planner) judge(credential uint64, scope string) *engine.Refusal {
	return p.s.Callers[credential].Judge(scope, p.s.Now)
}

func (p *planner) renewals() {
	for i := range p.b.Renewals {
		p.out.Renewals[i] = p.renew(&p.b.Renewals[i])
	}
}

// renew extends a lease from now, never beyond the attempt timeout or the deadline, and never shortens it. Progress is kept only from the
// attempt that holds the lease: what a stale worker believes is not the task's.
func (p *planner) renew(r *Renewal) RenewalOutcome {
	if refusal := p.judge(r.Credential, "worker:claim"); refusal != nil {
		return RenewalOutcome{Refusal: refusal}
	}
	w := p.task(r.Task)
	if w == nil || w.gone || w.now.Application != r.Application || w.now.State != Running ||
		w.now.AttemptNo != r.AttemptNo || w.now.Token != r.Token {
		return RenewalOutcome{Answer: RenewLost}
	}
	p.extend(w, r.Extend)
	if r.Progress != nil {
		p.ch.Progress = append(p.ch.Progress, ProgressWrite{r.Task, r.AttemptNo, *r.Progress})
	}
	answer := RenewContinue
	if !w.now.CancelRequestedAt.IsZero() {
		answer = RenewCancel
	}
	return RenewalOutcome{Answer: answer, LeaseUntil: w.now.LeaseUntil}
}

// extend lets a lease end later: from now, never beyond the attempt timeout or the deadline, and never sooner than it did.
func (p *planner) extend(w *work, by time.Duration) {
	if until := earlier(p.s.Now.Add(by), w.now.AttemptDeadline()); until.After(w.now.LeaseUntil) {
		w.now.LeaseUntil = until
	}
}
