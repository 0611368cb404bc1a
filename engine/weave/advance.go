package weave

import (
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// progress is how far a part of the graph is.
type progress uint8

const (
	finished progress = iota // everything in it succeeded
	ongoing                  // something is active or waits to start
	stuck                    // something in it ended otherwise; nothing behind it starts
)

// advance walks a running instance. Everything that may start does, and all of it is admitted together: if one
// successor does not fit, the whole round waits and only what was collected stays.
func (p *planner) advance() {
	was := p.round
	switch at := p.body(p.def.Body); {
	case at == finished && p.now.State == InstanceRunning:
		p.complete()
	case at == stuck:
		p.review("step_unresolved") // nobody would ever look at it again
	}
	if p.expired {
		p.review("instance_deadline")
	}
	p.admit(was)
}

func (p *planner) admit(was round) {
	if len(p.work) == 0 {
		return
	}
	subs := make([]pulse.Submission, len(p.work))
	for i := range p.work {
		subs[i] = p.work[i].Submission
	}
	if refusal := p.usage.OpenAll(subs); refusal != nil {
		p.takeBack(was)
		p.withheld = refusal
	}
}

// body runs nodes in order: the next begins when everything before it succeeded.
func (p *planner) body(nodes []*definition.Node) progress {
	for _, n := range nodes {
		if at := p.visit(n); at != finished {
			return at
		}
	}
	return finished
}

func (p *planner) visit(n *definition.Node) progress {
	if p.steps[n.Number].State == StepWaiting && p.mayStart() {
		p.start(n)
	}
	switch p.steps[n.Number].State {
	case StepSucceeded:
		return finished
	case StepActive:
		return kinds[n.Kind].walk(p, n)
	case StepWaiting:
		return ongoing
	}
	return stuck
}

// mayStart says whether one more step may begin now, and remembers why not.
func (p *planner) mayStart() bool {
	switch {
	case p.now.State != InstanceRunning:
		return false
	case !p.g.Now.Before(p.now.DeadlineAt):
		p.expired = true
		return false
	case p.now.Paused || !p.g.GateOpen || !p.g.Active:
		p.held = true
		return false
	}
	return p.spend()
}

// start activates a step. A value that cannot be computed stops the step before anything of it exists.
func (p *planner) start(n *definition.Node) {
	trouble := kinds[n.Kind].activate(p, n)
	if trouble == nil {
		return
	}
	p.move(n.Number, StepOnReview).Reason = trouble.Reason
	p.troubled(trouble)
}

func (p *planner) troubled(t *Trouble) {
	if p.trouble == nil {
		p.trouble = t
	}
	p.review(t.Reason)
}

// enter makes a step active under a new activation.
func (p *planner) enter(n *definition.Node, a Activation) {
	s := p.move(n.Number, StepOnActivate)
	s.ActivationNo, s.Activation, s.SettledAt = a.No, a.ID, a.SettledAt
	p.activations = append(p.activations, a)
}

// complete ends an instance whose steps have all succeeded. Results that came true within the deadline count however
// late they are looked at; one that came true after it does not make a success.
func (p *planner) complete() {
	for i := range p.steps {
		if p.steps[i].SettledAt.After(p.now.DeadlineAt) {
			p.expired = true
			return
		}
	}
	if !p.spend() {
		return
	}
	output, trouble := p.value(p.def.Output)
	if trouble == nil {
		trouble = obeys(p.def.OutputContract, output, p.def.Output, "computed_output_broken")
	}
	if trouble != nil {
		p.troubled(trouble)
		return
	}
	p.move(RootStep, StepOnSucceed)
	p.now.Output = output.Append(nil)
	p.end(OnComplete)
}
