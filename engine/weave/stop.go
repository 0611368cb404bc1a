package weave

// settleStop closes an instance whose stop is frozen: what never started is skipped, what is in flight is waited for,
// and only when every outcome is known does the instance end. An unknown effect or a contradiction never ends by itself.
func (p *planner) settleStop() {
	waiting := p.contradicted()
	for i := 1; i < len(p.steps); i++ {
		switch s := &p.steps[i]; {
		case s.State == StepWaiting && !p.spend():
			return
		case s.State == StepWaiting:
			p.move(i, StepOnSkip)
		case s.State == StepActive && p.halt(i):
		case s.State == StepActive, s.State == StepReview && !s.Activation.Zero():
			waiting = true
		}
	}
	if waiting || !p.spend() {
		return
	}
	if p.now.Stop == StopFailure {
		p.move(RootStep, StepOnFail).Reason = p.now.Reason
		p.end(OnFailed)
		return
	}
	p.move(RootStep, StepOnCancel).Reason = p.now.Reason
	p.end(OnCancelled)
}
