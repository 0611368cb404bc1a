package weave

import (
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// timer is the TIMER node: a wait for a time. It needs no task and no permit.
type timer struct{}

// activate freezes the start and the end of the wait; whoever looks later, and how often, changes neither.
func (timer) activate(p *planner, n *definition.Node) *Trouble {
	delay, trouble := p.delay(n)
	if trouble != nil {
		return trouble
	}
	a := p.activation(n)
	w := p.openWait(&a, CheckpointTimer, delay, p.now.DeadlineAt)
	a.DeadlineAt = w.DeadlineAt
	p.enter(n, a)
	p.waits.put(p, w.Activation, w)
	return nil
}

// activation is the next execution of a step that has no task of its own.
func (p *planner) activation(n *definition.Node) Activation {
	return Activation{ID: p.ids(), Step: uint16(n.Number), No: p.steps[n.Number].ActivationNo + 1, CreatedAt: p.g.Now}
}

// delay is the length of the wait in milliseconds: written in the definition, or computed as a whole number within
// the instance's time.
func (p *planner) delay(n *definition.Node) (int64, *Trouble) {
	t := n.Timer
	if t.Delay == nil {
		return t.DelayMS, nil
	}
	v, trouble := p.value(t.Delay)
	if trouble != nil {
		return 0, trouble
	}
	if v.Kind() == exact.KindNumber {
		d := exact.DecimalOf(v)
		if ms, ok := d.Int64(); ok && d.IsInteger() && ms >= 1 && ms <= p.def.DeadlineMS {
			return ms, nil
		}
	}
	return 0, &Trouble{
		Reason: "timer_delay_range", Pointer: t.Delay.Pointer, Offset: -1,
		Detail: fmt.Sprintf("a delay is a whole number of milliseconds from 1 to %d", p.def.DeadlineMS),
	}
}

func (timer) walk(*planner, *definition.Node) progress { return ongoing }

// collect: no task belongs to a TIMER, so no result can.
func (timer) collect(*planner, *definition.Node, *Result) Class { return TaskMismatch }

// clock ends the wait at its stored time. One that the instance's deadline cut short was not waited for: that is
// never a success (weave.md TIMER).
func (timer) clock(p *planner, n *definition.Node) {
	w, ok := p.wait(n.Number, p.now.DeadlineAt)
	if !ok || w.State != WaitPending || !p.passed(w.DeadlineAt) || !p.spend() {
		return
	}
	if w.DeadlineAt.Before(w.end()) {
		p.settleWait(w, WaitExpired, w.DeadlineAt)
		p.finish(n.Number, StepOnReview, "timer_cut_short", w.DeadlineAt)
		p.review("timer_cut_short")
		return
	}
	p.settleWait(w, WaitSatisfied, w.DeadlineAt)
	p.finish(n.Number, StepOnSucceed, "", w.DeadlineAt).Output = []byte("null")
}

func (timer) due(p *planner, n *definition.Node) time.Time {
	return p.waitEnd(n)
}

func (timer) halt(p *planner, n *definition.Node) bool { return p.haltWait(n) }

// haltWait closes the wait of an instance that is stopping.
func (p *planner) haltWait(n *definition.Node) bool {
	if !p.spend() {
		return false
	}
	p.closeWait(n, WaitClosed, p.g.Now)
	p.finish(n.Number, StepOnCancel, "stopped", p.g.Now)
	return true
}
