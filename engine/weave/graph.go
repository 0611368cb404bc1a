package weave

import (
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// RootStep is the number of the internal step of the whole instance; the other steps are numbered as the definition's.
const RootStep = 0

// Version is one published version, compiled, with the queues its names mean in the application that published it.
type Version struct {
	Definition *definition.Definition
	Queues     map[string]uint64
}

// Instance is the instance row. Empty texts and zero times are absent.
type Instance struct {
	ID                           engine.ID
	Application                  uint64
	Definition                   string
	Version                      uint32
	State                        InstanceState
	Paused                       bool
	Revision, ControlRevision    uint32
	Stop                         StopKind
	StopRequestedAt              time.Time
	Reason                       string
	BusinessKey, Traceparent     string
	DeadlineAt, CreatedAt, EndAt time.Time
	Input, Output                []byte
}

// Step is one step row. SettledAt is the time the fact behind it came true: for a result, when Pulse accepted it.
type Step struct {
	No           uint16
	Name         string
	Kind         uint8
	State        StepState
	Version      uint32
	ActivationNo uint16
	Activation   engine.ID // zero: never activated
	Reason       string
	SettledAt    time.Time
	Output       []byte
}

// Activation is one concrete execution of a step.
type Activation struct {
	ID                               engine.ID
	Step, No                         uint16
	Task                             engine.ID
	DeadlineAt, CreatedAt, SettledAt time.Time
}

// Result is one pending inbox row: the frozen outcome of a task at one of its versions.
type Result struct {
	Task                        engine.ID
	Version                     uint32 // of the task when the result came true
	Activation                  engine.ID
	TaskState                   pulse.Public
	AttemptNo                   uint16
	FailureCode, FailureMessage string
	OccurredAt                  time.Time
	Output                      []byte
	Sealed                      bool // the stored snapshot has the digest it was written with
}

// CheckpointKind says who asked to continue later. The numbers are those of weave_pending_advance.kind.
type CheckpointKind uint8

// CheckpointRoot continues the walk of the whole instance.
const CheckpointRoot CheckpointKind = 1

// Checkpoint asks for a plan at a time. It only triggers: what happens is computed from the graph locked then.
type Checkpoint struct {
	Step        uint16
	Kind        CheckpointKind
	Activation  engine.ID // zero for ROOT
	StepVersion uint32    // of the step when it was written
	DueAt       time.Time
}

// Graph is everything a plan of one instance may look at, read under the locks of one transaction.
type Graph struct {
	Now         time.Time
	Actor       string // system:weave:<node>, for history and audit
	Version     *Version
	Active      bool // the namespace and the application are enabled
	Instance    Instance
	GateOpen    bool
	Steps       []Step // by number
	Activations map[engine.ID]Activation
	Results     []Result
	Handled     map[engine.ID]uint32 // task → highest version already confirmed, where a late row made it worth knowing
	Checkpoints []Checkpoint
	Waits       []Wait
	Cut         bool     // more results may be pending than were read
	Signals     []Signal // pending
	SignalCount int      // of the whole history, when a signal is to be accepted
	Accepted    []Signal // in this transaction
	AskedBy     string   // who asked for what this transaction does; empty: nobody
	Polls       []Poll
	Rounds      []Round           // the last one of each poll, and those of pending results
	RoundCounts map[engine.ID]int // of activations whose next round may begin
}

func (g *Graph) checkpoint(step uint16) *Checkpoint {
	for i := range g.Checkpoints {
		if g.Checkpoints[i].Step == step {
			return &g.Checkpoints[i]
		}
	}
	return nil
}

// Sound refuses rows that are not the steps of the fixed version; no plan can be made on them.
func (g *Graph) Sound() error {
	steps := g.Version.Definition.Flatten()
	if len(steps) != len(g.Steps) {
		return fmt.Errorf("weave: the version has %d steps, the instance %d", len(steps), len(g.Steps))
	}
	for i := range steps {
		if s := &g.Steps[i]; int(s.No) != steps[i].Number || s.Name != steps[i].Name || s.Kind != kindNumbers[steps[i].Kind] {
			return fmt.Errorf("weave: step %d is not %s of the version", i, steps[i].Name)
		}
	}
	return nil
}

// HasLate reports whether a result came for a step that is not active, so that processed versions are worth reading.
func (g *Graph) HasLate() bool {
	for i := range g.Results {
		a, ok := g.Activations[g.Results[i].Activation]
		if ok && int(a.Step) < len(g.Steps) && g.Steps[a.Step].State != StepActive {
			return true
		}
	}
	return false
}
