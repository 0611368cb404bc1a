package weave

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// Class says what became of an inbox row; the names are stable (weave.md Runtime, inbox table).
type Class string

// Consumed moved its step. The second group is confirmed and moves nothing. The third contradicts the graph: the row
// is quarantined and a live instance goes to a person.
const (
	Consumed Class = "CONSUMED"

	StaleActivation Class = "STALE_ACTIVATION" // of an earlier activation of the step
	StaleVersion    Class = "STALE_VERSION"    // a later version of the same task was processed before
	StepIsSettled   Class = "STEP_SETTLED"     // the step has its outcome; it is not reopened
	StepInReview    Class = "STEP_IN_REVIEW"   // a person decides the step; the result is evidence

	SnapshotBroken    Class = "SNAPSHOT_BROKEN"    // the stored snapshot is not what was written
	ActivationUnknown Class = "ACTIVATION_UNKNOWN" // of no activation of this instance
	TaskMismatch      Class = "TASK_MISMATCH"      // not the task of its activation
	StateInvalid      Class = "STATE_INVALID"      // no result a task can have
	StepMismatch      Class = "STEP_MISMATCH"      // its activation is current, but the step never started or the instance has ended around it
	OutputUnreadable  Class = "OUTPUT_UNREADABLE"  // the output is not JSON within the bounds
)

var quarantines = []Class{SnapshotBroken, ActivationUnknown, TaskMismatch, StateInvalid, StepMismatch, OutputUnreadable}

// Quarantined reports whether the class is a contradiction.
func (c Class) Quarantined() bool { return slices.Contains(quarantines, c) }

// fact is a result or a signal, and when it came true.
type fact struct {
	at     time.Time
	result *Result
	signal engine.ID
}

// consume judges pending results and awaited signals in the order in which they came true and settles what they settle.
func (p *planner) consume() {
	facts := make([]fact, 0, len(p.g.Results))
	for i := range p.g.Results {
		facts = append(facts, fact{at: p.g.Results[i].OccurredAt, result: &p.g.Results[i]})
	}
	for _, s := range p.pendingSignals() {
		facts = append(facts, fact{at: s.AcceptedAt, signal: s.ID})
	}
	slices.SortStableFunc(facts, compareFacts)
	for _, f := range facts {
		s := p.signals.rows[f.signal]
		switch {
		case f.result == nil && !p.awaited(&s):
			continue // early, or its wait ended by an earlier fact
		case !p.spend():
			return
		case f.result != nil:
			p.confirm(f.result, p.classify(f.result))
		default:
			p.kind(s.Step).(signalled).receive(p, p.node(s.Step), s)
		}
	}
}

// compareFacts orders by time; at the same microsecond results come before signals.
func compareFacts(a, b fact) int {
	if order := a.at.Compare(b.at); order != 0 || a.result == nil && b.result == nil {
		return order
	}
	switch {
	case a.result == nil:
		return 1
	case b.result == nil:
		return -1
	}
	return compareResults(a.result, b.result)
}

func compareResults(a, b *Result) int {
	return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), bytes.Compare(a.Task[:], b.Task[:]), cmp.Compare(a.Version, b.Version))
}

// classify judges a row against the graph, contradictions first, then staleness; what is left is the step's own.
func (p *planner) classify(r *Result) Class {
	a, known := p.g.Activations[r.Activation]
	switch {
	case !r.Sealed:
		return SnapshotBroken
	case !known || int(a.Step) >= len(p.steps) || a.Step == RootStep:
		return ActivationUnknown
	case a.Task != r.Task && p.rounds.rows[r.Task].Activation != a.ID:
		return TaskMismatch
	case !r.TaskState.Terminal() && r.TaskState != pulse.PublicReview:
		return StateInvalid
	}
	s := &p.steps[a.Step]
	switch {
	case s.Activation != r.Activation:
		return StaleActivation
	case r.Version <= p.g.Handled[r.Task]:
		return StaleVersion
	case s.State.Settled():
		return StepIsSettled
	case s.State == StepReview:
		return StepInReview
	case s.State != StepActive, p.now.State.Terminal():
		return StepMismatch
	}
	return p.kind(a.Step).collect(p, p.node(a.Step), r)
}

func (p *planner) confirm(r *Result, class Class) {
	c := Confirmation{Task: r.Task, Version: r.Version, State: InboxConfirmed, Classification: string(class)}
	if class.Quarantined() {
		c.State = InboxQuarantined
		p.contradict(reasonQuarantined)
	}
	p.confirmed, p.collected = append(p.confirmed, c), append(p.collected, r)
}

// trust refuses a checkpoint that cannot have been written for this graph: of a later version than the root step's,
// or of another kind or activation. An old one is only a reason to look.
func (p *planner) trust() {
	for i := range p.g.Checkpoints {
		c := &p.g.Checkpoints[i]
		good := c.Kind == CheckpointRoot && c.Activation.Zero() && c.StepVersion <= p.steps[RootStep].Version
		if c.Step != RootStep {
			good = p.trustClock(c)
		}
		if !good {
			p.contradict(reasonCheckpoint)
		}
	}
}

const (
	reasonQuarantined = "result_quarantined"
	reasonCheckpoint  = "checkpoint_contradiction"
)

// contradict hands the instance to a person. One that is stopping stays so, but does not end on contradicting facts.
func (p *planner) contradict(reason string) {
	p.review(reason)
	if p.now.State == InstanceCancelling {
		p.now.Reason = reason
	}
}

// contradicted reports whether facts contradict each other and nobody has decided about it.
func (p *planner) contradicted() bool {
	return p.now.Reason == reasonQuarantined || p.now.Reason == reasonCheckpoint || p.now.Reason == reasonWait || p.now.Reason == reasonSignal || p.now.Reason == reasonPoll
}
