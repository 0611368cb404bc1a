package weave

import (
	"fmt"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// Plan decides one instance within a budget of structural changes. Usage is the transaction's working copy of the
// counters: new work is admitted against it as a whole. ids yields fresh ids; the engine invents none.
func Plan(g *Graph, usage *pulse.Usage, ids func() engine.ID, budget int) Decision {
	p := newPlanner(g, usage, ids, budget)
	p.trust()
	p.consume()
	p.clocks()
	if p.now.State == InstanceRunning {
		p.advance()
	}
	if p.now.State == InstanceCancelling {
		p.settleStop()
	}
	p.sweepSignals()
	return p.seal()
}

// planner is one plan in progress. Everything a withheld round takes back is in round; the rest only grows.
type planner struct {
	g     *Graph
	def   *definition.Definition
	usage *pulse.Usage
	ids   func() engine.ID

	steps     []Step // working copies, by number
	touched   []bool
	undo      []undone
	confirmed []Confirmation
	collected []*Result // beside confirmed
	ended     []Activation
	withheld  *engine.Refusal
	waits     tracked[Wait]
	signals   tracked[Signal]
	polls     tracked[Poll]
	rounds    tracked[Round]
	puts      []func() // how to undo what was put into tracked tables
	unsound   map[int]bool
	round

	input    *exact.Value
	outputs  map[string]exact.Value
	instance exact.Value
}

// round is what the walk of one plan has decided so far.
type round struct {
	now         Instance
	gate        GateChange
	left        int  // of the budget
	more        bool // the budget is used up
	held        bool // something wants to start and may not now: paused, gate closed, disabled
	expired     bool // something wants to start and the instance's time is over
	trouble     *Trouble
	work        []Work
	activations []Activation
	changes     int // length of undo
	written     int // length of puts
}

type undone struct {
	step    Step
	touched bool
}

func newPlanner(g *Graph, usage *pulse.Usage, ids func() engine.ID, budget int) *planner {
	p := &planner{
		g: g, def: g.Version.Definition, usage: usage, ids: ids,
		steps: slices.Clone(g.Steps), touched: make([]bool, len(g.Steps)),
		round: round{now: g.Instance, left: budget}, outputs: map[string]exact.Value{},
		waits: track(g.Waits, waitID), signals: track(g.Signals, signalID),
		polls: track(g.Polls, pollID), rounds: track(g.Rounds, roundID), unsound: map[int]bool{},
		instance: expr.InstanceValue(g.Instance.ID.Text("inst"), textOrNil(g.Instance.BusinessKey)),
	}
	for i := range g.Accepted {
		p.signals.put(p, g.Accepted[i].ID, g.Accepted[i])
	}
	return p
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// spend takes one structural change from the budget, or notes that more is left to do.
func (p *planner) spend() bool {
	if p.left == 0 {
		p.more = true
		return false
	}
	p.left--
	return true
}

// move changes a step's state by the machine. A transition the machine does not have is a bug of the planner.
func (p *planner) move(no int, on StepEvent) *Step {
	s := &p.steps[no]
	to, ok := StepMachine[s.State][on]
	if !ok {
		panic(fmt.Sprintf("weave: step %s in %s cannot %s", s.Name, s.State, on))
	}
	p.undo = append(p.undo, undone{*s, p.touched[no]})
	p.changes, p.touched[no] = len(p.undo), true
	s.State, s.Version, s.Reason = to, s.Version+1, ""
	if to.Settled() {
		s.SettledAt = p.g.Now
	}
	return s
}

// takeBack restores what it was when the round began.
func (p *planner) takeBack(was round) {
	for i := len(p.undo) - 1; i >= was.changes; i-- {
		u := &p.undo[i]
		p.steps[u.step.No], p.touched[u.step.No] = u.step, u.touched
	}
	p.undo = p.undo[:was.changes]
	for i := len(p.puts) - 1; i >= was.written; i-- {
		p.puts[i]()
	}
	p.puts = p.puts[:was.written]
	p.round = was
}

// happen changes the instance's state by the machine.
func (p *planner) happen(on InstanceEvent) bool {
	to, ok := InstanceMachine[p.now.State][on]
	if ok {
		p.now.State = to
	}
	return ok
}

// review hands the instance to a person. The first reason stays, and a stop in progress keeps its own.
func (p *planner) review(reason string) {
	was := p.now.State
	if !p.happen(OnReview) {
		return
	}
	if was == InstanceRunning {
		p.now.Reason = reason
	}
	p.closeGate()
}

// stop freezes the target of the first stop.
func (p *planner) stop(kind StopKind, reason string) {
	if !p.happen(OnStop) {
		return
	}
	if p.now.Stop == StopNone {
		p.now.Stop, p.now.StopRequestedAt = kind, p.g.Now
		if !p.contradicted() {
			p.now.Reason = reason
		}
	}
	p.closeGate()
}

// fail applies the definition's strategy to a step that failed for good.
func (p *planner) fail(reason string) {
	if p.def.OnFailure == definition.OnFailureFail {
		p.stop(StopFailure, reason)
		return
	}
	p.review(reason)
}

func (p *planner) closeGate() {
	if p.g.GateOpen {
		p.gate = GateClose
	}
}

// end writes the end of an instance.
func (p *planner) end(on InstanceEvent) {
	p.happen(on)
	p.now.EndAt = p.g.Now
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
