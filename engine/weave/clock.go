package weave

import (
	"bytes"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// Clock checkpoints wake one activation of one step. Their numbers are those of weave_pending_advance.kind.
const (
	CheckpointTimer  CheckpointKind = 2
	CheckpointSignal CheckpointKind = 3
	CheckpointPoll   CheckpointKind = 4
)

var checkpointNames = map[CheckpointKind]string{
	CheckpointRoot: rootName, CheckpointTimer: "TIMER", CheckpointSignal: "SIGNAL", CheckpointPoll: "POLL",
}

func (k CheckpointKind) String() string { return checkpointNames[k] }

// clockKinds are the checkpoints that the kinds of nodes write.
var clockKinds = map[definition.Kind]CheckpointKind{
	definition.KindTimer: CheckpointTimer, definition.KindSignal: CheckpointSignal, definition.KindPoll: CheckpointPoll,
}

// clocked is a kind whose ACTIVE step waits for a time, beside or instead of results.
type clocked interface {
	behaviour
	// clock applies the times that have passed for the ACTIVE step. It is called in every plan, whatever woke it, after
	// results and signals, so that what came true in time wins over the time that passed since.
	clock(p *planner, n *definition.Node)
	// due is when the ACTIVE step must be looked at again; zero when no time matters to it.
	due(p *planner, n *definition.Node) time.Time
	// halt spends one change and closes the ACTIVE step of an instance that is stopping, unless something of it is in
	// flight or the budget is used up.
	halt(p *planner, n *definition.Node) bool
}

// clocks lets time pass for every active step, in document order, unless results are still waiting to be judged: a
// clock never denies a result that was accepted in time.
func (p *planner) clocks() {
	if p.more || p.g.Cut || p.now.State.Terminal() {
		return
	}
	for i := 1; i < len(p.steps); i++ {
		if k := p.clockOf(i); k != nil && p.steps[i].State == StepActive {
			k.clock(p, p.node(uint16(i)))
		}
	}
}

func (p *planner) clockOf(step int) clocked {
	if _, ok := clockKinds[KindOf(p.steps[step].Kind)]; !ok {
		return nil
	}
	k, _ := p.kind(uint16(step)).(clocked)
	return k
}

// halt closes a step that waits for nothing but a time or a signal.
func (p *planner) halt(step int) bool {
	k := p.clockOf(step)
	return k != nil && k.halt(p, p.node(uint16(step)))
}

// passed reports whether a time of the database has come.
func (p *planner) passed(at time.Time) bool { return !p.g.Now.Before(at) }

// clockCheckpoints says what becomes of the checkpoints of steps. They follow from the graph as it is after the plan,
// so a stale one is replaced and a superfluous one goes, whoever wrote it.
func (p *planner) clockCheckpoints() (changes []CheckpointChange, next time.Time) {
	for i := 1; i < len(p.steps); i++ {
		s, have := &p.steps[i], p.g.checkpoint(uint16(i))
		var due time.Time
		if k := p.clockOf(i); k != nil && s.State == StepActive && !p.now.State.Terminal() {
			due = k.due(p, p.node(uint16(i)))
		}
		switch {
		case due.IsZero() && have != nil:
			changes = append(changes, CheckpointChange{CheckpointDelete, *have})
		case !due.IsZero():
			want := Checkpoint{uint16(i), clockKinds[KindOf(s.Kind)], s.Activation, s.Version, due}
			if have == nil || have.Kind != want.Kind || have.Activation != want.Activation || !have.DueAt.Equal(want.DueAt) || have.StepVersion > want.StepVersion {
				changes = append(changes, CheckpointChange{CheckpointWrite, want})
			}
			next = engine.Sooner(next, due)
		}
	}
	return changes, next
}

// trustClock refuses a checkpoint of a step that cannot have been written for this graph. One of an earlier
// activation is only late.
func (p *planner) trustClock(c *Checkpoint) bool {
	if int(c.Step) >= len(p.steps) || c.Kind != clockKinds[KindOf(p.steps[c.Step].Kind)] || c.StepVersion > p.steps[c.Step].Version {
		return false
	}
	a, known := p.g.Activations[c.Activation]
	return known && a.Step == c.Step
}

// tracked is a table of working copies that a withheld round can take back. An empty one costs nothing.
type tracked[T any] struct {
	rows    map[engine.ID]T
	touched map[engine.ID]bool
}

func track[T any](rows []T, id func(*T) engine.ID) tracked[T] {
	t := tracked[T]{}
	if len(rows) > 0 {
		t.rows = make(map[engine.ID]T, len(rows))
	}
	for i := range rows {
		t.rows[id(&rows[i])] = rows[i]
	}
	return t
}

// put writes a row and remembers how to undo it.
func (t *tracked[T]) put(p *planner, id engine.ID, row T) {
	if t.rows == nil {
		t.rows = map[engine.ID]T{}
	}
	if t.touched == nil {
		t.touched = map[engine.ID]bool{}
	}
	old, had := t.rows[id]
	touched := t.touched[id]
	t.rows[id], t.touched[id] = row, true
	p.puts = append(p.puts, func() {
		t.touched[id] = touched
		if had {
			t.rows[id] = old
		} else {
			delete(t.rows, id)
		}
	})
	p.written = len(p.puts)
}

// changed lists the rows to write, in the order of their ids.
func (t *tracked[T]) changed() []T {
	if len(t.touched) == 0 {
		return nil
	}
	var ids []engine.ID
	for id, touched := range t.touched {
		if touched {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b engine.ID) int { return bytes.Compare(a[:], b[:]) })
	out := make([]T, 0, len(ids))
	for _, id := range ids {
		out = append(out, t.rows[id])
	}
	return out
}

// Uses reports whether the version has a node of one of the kinds.
func (v *Version) Uses(kinds ...definition.Kind) bool {
	return slices.ContainsFunc(kinds, v.Definition.Has)
}
