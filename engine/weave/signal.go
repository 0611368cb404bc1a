package weave

import (
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// signalled is a kind that may be sent signals.
type signalled interface {
	clocked
	// receives is what the node waits for; nil when it waits for none.
	receives(n *definition.Node) *definition.Receive
	// receive judges a signal of the ACTIVE step's current activation.
	receive(p *planner, n *definition.Node, s Signal)
}

// receives is what a node waits for; nil when it takes no signal.
func receives(n *definition.Node) *definition.Receive {
	if k, ok := kinds[n.Kind].(signalled); ok {
		return k.receives(n)
	}
	return nil
}

// signal is the SIGNAL node: a wait for content that somebody sends.
type signal struct{}

func (signal) receives(n *definition.Node) *definition.Receive { return &n.Signal.Receive }

// activate freezes name, version, correlation and deadline, and looks at what was sent before anybody waited.
func (k signal) activate(p *planner, n *definition.Node) *Trouble {
	correlation, trouble := p.correlation(n.Signal.Correlation)
	if trouble != nil {
		return trouble
	}
	a := p.activation(n)
	w := p.openWait(&a, CheckpointSignal, n.Signal.DeadlineMS, p.now.DeadlineAt)
	w.expect(&n.Signal.Receive, correlation)
	a.DeadlineAt = w.DeadlineAt
	p.enter(n, a)
	p.waits.put(p, w.Activation, w)
	p.receiveEarly(k, n)
	return nil
}

// receiveEarly applies what was sent before the step began to wait.
func (p *planner) receiveEarly(k signalled, n *definition.Node) {
	for _, s := range p.pendingSignals() {
		if int(s.Step) == n.Number && p.awaited(&s) {
			k.receive(p, n, s)
		}
	}
}

// correlation computes the exact text that a signal must carry.
func (p *planner) correlation(t *definition.Template) (string, *Trouble) {
	return p.text(t, "a correlation", engine.CorrelationBytesMax)
}

func (signal) walk(*planner, *definition.Node) progress { return ongoing }

// collect: no task belongs to a SIGNAL, so no result can.
func (signal) collect(*planner, *definition.Node, *Result) Class { return TaskMismatch }

// match holds a signal against the wait; empty when it is what was waited for, in time.
func (p *planner) match(s *Signal, w *Wait) SignalClass {
	switch {
	case !s.Sealed:
		p.contradict(reasonSignal)
		return SignalAltered
	case s.Name != w.Signal || s.Version != w.Version:
		return SignalOtherContract
	case s.Correlation != w.Correlation:
		return SignalMiscorrelated
	case s.AcceptedAt.After(w.DeadlineAt):
		return SignalAfterDeadline
	}
	return ""
}

const reasonSignal = "signal_contradiction"

// receive ends the wait with the first signal that fits. Its content is the step's output.
func (signal) receive(p *planner, n *definition.Node, s Signal) {
	w, ok := p.wait(n.Number, p.now.DeadlineAt)
	if !ok {
		return // nothing is decided on a contradiction; the signal stays
	}
	if class := p.match(&s, &w); class != "" {
		p.settleSignal(s, class)
		return
	}
	at := p.applySignal(s, w)
	p.finish(n.Number, StepOnSucceed, "", at).Output = s.Content
}

// applySignal makes a signal the winner of its wait and returns when that came true.
func (p *planner) applySignal(s Signal, w Wait) time.Time {
	at := later(s.AcceptedAt, w.StartedAt)
	p.settleSignal(s, SignalClassApplied)
	w.Winner = s.ID
	p.settleWait(w, WaitSatisfied, at)
	return at
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// clock ends a wait nobody answered in time. A definition may say what that means, but only for the wait's own
// deadline: one that the instance's deadline cut short is a person's (definition.md 2, SIGNAL).
func (signal) clock(p *planner, n *definition.Node) {
	w, ok := p.wait(n.Number, p.now.DeadlineAt)
	if !ok || w.State != WaitPending || !p.g.Now.After(w.DeadlineAt) || !p.spend() {
		return
	}
	p.settleWait(w, WaitExpired, w.DeadlineAt)
	own := w.DeadlineAt.Equal(w.end())
	if !own || n.Signal.ExpiryOutput == nil {
		reason := map[bool]string{true: "signal_expired", false: "signal_cut_short"}[own]
		p.finish(n.Number, StepOnReview, reason, w.DeadlineAt)
		p.review(reason)
		return
	}
	output, trouble := p.value(n.Signal.ExpiryOutput)
	if trouble == nil {
		trouble = obeys(n.Signal.ContentContract, output, n.Signal.ExpiryOutput, "computed_output_broken")
	}
	if trouble != nil {
		p.finish(n.Number, StepOnReview, trouble.Reason, w.DeadlineAt)
		p.troubled(trouble)
		return
	}
	p.finish(n.Number, StepOnSucceed, "", w.DeadlineAt).Output = output.Append(nil)
}

// due is just after the deadline: a signal that is accepted at it still counts.
func (signal) due(p *planner, n *definition.Node) time.Time {
	end := p.waitEnd(n)
	if end.IsZero() {
		return end
	}
	return end.Add(time.Microsecond)
}

func (signal) halt(p *planner, n *definition.Node) bool { return p.haltWait(n) }
