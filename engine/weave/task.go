package weave

import (
	"time"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// task is the TASK node: one Pulse task per activation.
type task struct{}

// activate computes the input and the keys once; every retry of the task reuses them.
func (task) activate(p *planner, n *definition.Node) *Trouble {
	t := n.Task
	input, trouble := p.value(t.Input)
	if trouble == nil {
		trouble = obeys(t.InputContract, input, t.Input, "input_contract_broken")
	}
	var business, resource string
	if trouble == nil {
		business, trouble = p.key(t.BusinessKey)
	}
	if trouble == nil {
		resource, trouble = p.key(t.ResourceKey)
	}
	if trouble != nil {
		return trouble
	}
	a := Activation{
		ID: p.ids(), Task: p.ids(), Step: uint16(n.Number), No: p.steps[n.Number].ActivationNo + 1, CreatedAt: p.g.Now,
		DeadlineAt: earlier(p.g.Now.Add(time.Duration(t.Policy.DeadlineMS)*time.Millisecond), p.now.DeadlineAt),
	}
	p.enter(n, a)
	s := p.submission(t, &a)
	s.Input, s.BusinessKey, s.ResourceKey = input.Append(nil), business, resource
	p.work = append(p.work, Work{Submission: s, Task: pulse.Accept(&s, p.g.Now)})
	return nil
}

// submission is the task of an activation: its policy is the definition's, its owner the activation, its gate the
// instance.
func (p *planner) submission(t *definition.Task, a *Activation) pulse.Submission {
	return pulse.Submission{
		Application: p.now.Application, TaskID: a.Task, QueueName: t.Queue, Queue: p.g.Version.Queues[t.Queue],
		Handler: t.Handler, HandlerVersion: t.HandlerVersion, Priority: uint8(t.Policy.Priority),
		DeadlineMS: t.Policy.DeadlineMS, AttemptTimeoutMS: t.Policy.AttemptTimeoutMS, Retry: retryOf(&t.Policy.Retry),
		Lost: lostOf[t.Policy.Lost], Traceparent: p.now.Traceparent,
		Source: pulse.SourceWorkflow, Owner: a.ID, Gate: p.now.ID, DeadlineAt: a.DeadlineAt,
	}
}

var lostOf = map[definition.Lost]pulse.LostPolicy{
	definition.LostReview: pulse.LostReview, definition.LostRetry: pulse.LostRetry,
}

func retryOf(r *definition.Retry) pulse.Retry {
	return pulse.Retry{
		Kind: pulse.RetryKind(r.Kind), MaxAttempts: uint16(r.MaxAttempts), JitterPercent: uint8(r.JitterPercent),
		DelayMS: r.DelayMS, StepMS: r.StepMS, Factor: r.Factor, MaxDelayMS: r.MaxDelayMS, DelaysMS: r.DelaysMS,
	}
}

// walk: an active task is in flight.
func (task) walk(*planner, *definition.Node) progress { return ongoing }

// taskVerdict is what a result of a task makes of its step and of the instance.
type taskVerdict struct {
	on     StepEvent
	reason string // of the step
	effect func(p *planner)
}

// taskVerdicts says it for every result but success, whose output must be looked at first (weave.md, inbox table).
var taskVerdicts = map[pulse.Public]taskVerdict{
	pulse.PublicFailed:    {StepOnFail, "task_failed", func(p *planner) { p.fail("step_failed") }},
	pulse.PublicCancelled: {StepOnCancel, "task_cancelled", func(p *planner) { p.review("step_cancelled") }},
	pulse.PublicReview:    {StepOnReview, "task_unknown", func(p *planner) { p.review("task_unknown") }},
}

func (task) collect(p *planner, n *definition.Node, r *Result) Class {
	if r.TaskState != pulse.PublicSucceeded {
		v := taskVerdicts[r.TaskState]
		p.settle(n, r, v.on, v.reason)
		v.effect(p)
		return Consumed
	}
	output, bad := exact.Parse(r.Output, exact.PayloadLimits)
	if bad != nil {
		return OutputUnreadable
	}
	if c := n.Task.OutputContract; c != nil && !c.Schema.Accepts(output) {
		const reason = "output_contract_broken"
		p.settle(n, r, StepOnReview, reason)
		p.review(reason)
		return Consumed
	}
	p.settle(n, r, StepOnSucceed, "").Output = r.Output
	p.outputs[n.Name] = output
	return Consumed
}

// settle applies a result to the step and ends its activation, unless the task itself still waits for a person.
func (p *planner) settle(n *definition.Node, r *Result, on StepEvent, reason string) *Step {
	s := p.move(n.Number, on)
	s.Reason = reason
	if s.State.Settled() {
		s.SettledAt = r.OccurredAt
	}
	if r.TaskState.Terminal() {
		a := p.g.Activations[r.Activation]
		a.SettledAt = r.OccurredAt
		p.ended = append(p.ended, a)
	}
	return s
}
