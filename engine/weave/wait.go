package weave

import (
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// WaitState is where a wait stands. The numbers are those of step_wait.state.
type WaitState uint8

// States of a wait. Closed: what it waited for no longer matters, because its step ended otherwise.
const (
	WaitPending   WaitState = 1
	WaitSatisfied WaitState = 2
	WaitExpired   WaitState = 3
	WaitClosed    WaitState = 4
)

var waitNames = map[WaitState]string{
	WaitPending: "PENDING", WaitSatisfied: "SATISFIED", WaitExpired: "EXPIRED", WaitClosed: "CLOSED",
}

func (s WaitState) String() string { return waitNames[s] }

// Wait is what one activation waits for: a time, or a signal until a time. Everything is fixed at activation; no
// pause, restart or recovery moves it (weave.md TIMER, SIGNAL).
type Wait struct {
	Activation  engine.ID
	Step        uint16
	Kind        CheckpointKind
	State       WaitState
	StartedAt   time.Time
	DurationMS  int64
	DeadlineAt  time.Time // min(StartedAt + DurationMS, what encloses it)
	SettledAt   time.Time
	Signal      string // name and version of the contract; empty for a TIMER
	Version     string
	Correlation string
	Winner      engine.ID // the signal that was applied
}

func waitID(w *Wait) engine.ID { return w.Activation }

// openWait opens a wait of a new activation, cut at the deadline of what encloses it.
func (p *planner) openWait(a *Activation, kind CheckpointKind, durationMS int64, within time.Time) Wait {
	w := Wait{Activation: a.ID, Step: a.Step, Kind: kind, State: WaitPending, StartedAt: p.g.Now, DurationMS: durationMS}
	w.DeadlineAt = earlier(w.end(), within)
	return w
}

// expect freezes which signal ends the wait.
func (w *Wait) expect(r *definition.Receive, correlation string) {
	w.Signal, w.Version, w.Correlation = r.Signal, r.SignalVersion, correlation
}

// end is when the wait would be over if nothing enclosed it.
func (w *Wait) end() time.Time { return w.StartedAt.Add(milliseconds(w.DurationMS)) }

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// sound verifies the equation a wait was stored with, against the activation and what encloses it.
func (w *Wait) sound(a *Activation, within time.Time) bool {
	return w.StartedAt.Equal(a.CreatedAt) && w.DeadlineAt.Equal(earlier(w.end(), within)) && w.Step == a.Step
}

// wait finds the sound wait of a step's current activation. What cannot have been stored is a contradiction, and
// nothing is decided on it.
func (p *planner) wait(step int, within time.Time) (Wait, bool) {
	a := p.g.Activations[p.steps[step].Activation]
	w, ok := p.waits.rows[p.steps[step].Activation]
	if ok && (p.waits.touched[w.Activation] || w.sound(&a, within)) {
		return w, true
	}
	p.unsound[step] = true
	p.contradict(reasonWait)
	return w, false
}

const reasonWait = "wait_contradiction"

// settleWait ends a wait; its activation has an end of its own.
func (p *planner) settleWait(w Wait, state WaitState, at time.Time) {
	w.State, w.SettledAt = state, at
	p.waits.put(p, w.Activation, w)
}

// waitEnd is when the wait of an ACTIVE step ends; zero when it has ended or nothing is decided on it.
func (p *planner) waitEnd(n *definition.Node) time.Time {
	w := p.waits.rows[p.steps[n.Number].Activation]
	if w.State != WaitPending || p.unsound[n.Number] {
		return time.Time{}
	}
	return w.DeadlineAt
}

// closeWait ends the wait of an ACTIVE step, if there is one and it is open.
func (p *planner) closeWait(n *definition.Node, state WaitState, at time.Time) {
	w, ok := p.waits.rows[p.steps[n.Number].Activation]
	if ok && w.State == WaitPending {
		p.settleWait(w, state, at)
	}
}

// finish settles an active step that has no task, and its activation: its outcome came true at a time.
func (p *planner) finish(no int, on StepEvent, reason string, at time.Time) *Step {
	s := p.settleStep(no, on, reason, at)
	p.endActivation(s.Activation, at)
	return s
}

// settleStep moves a step by what came true at a time.
func (p *planner) settleStep(no int, on StepEvent, reason string, at time.Time) *Step {
	s := p.move(no, on)
	s.Reason = reason
	if s.State.Settled() {
		s.SettledAt = at
	}
	return s
}

// endActivation settles an activation, which may be one of this very plan.
func (p *planner) endActivation(id engine.ID, at time.Time) {
	for i := range p.activations {
		if p.activations[i].ID == id {
			p.activations[i].SettledAt = at
			return
		}
	}
	a := p.g.Activations[id]
	a.SettledAt = at
	p.ended = append(p.ended, a)
}
