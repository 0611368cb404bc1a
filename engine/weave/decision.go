package weave

import (
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// Decision is what one plan writes for one instance, all of it or none. It leaves no choice.
type Decision struct {
	Instance    Instance       // after the plan
	Advanced    bool           // the revision rose; without it only a checkpoint may have moved
	Rewritten   bool           // more than the revision changed: the row is written whole
	Confirmed   []Confirmation // inbox rows that will not be looked at again
	Steps       []Step         // changed rows, whole, by number
	Activations []Activation   // new
	Ended       []Activation   // settled now, whole
	Tasks       []Work         // new tasks, one per new activation of a kind that has one
	Gate        GateChange
	Checkpoint  CheckpointChange
	Clocks      []CheckpointChange // of steps
	DueAt       time.Time          // the earliest of the step's clocks; zero: none runs
	Waits       []Wait             // changed or new rows, whole
	Signals     []Signal           // accepted or ended now, whole
	Polls       []Poll             // changed or new rows, whole
	Rounds      []Round            // changed or new rows, whole
	History     []History
	Audits      []pulse.AuditWrite
	Overtaken   []Overtaken     // to be cancelled by Pulse once this is written; nothing to write here
	More        bool            // the budget is used up; plan again
	Withheld    *engine.Refusal // the successors of this round did not fit and were all taken back
	Trouble     *Trouble        // values that could not be computed, for Start
}

// Empty reports whether nothing is to be written.
func (d *Decision) Empty() bool {
	return !d.Advanced && d.Checkpoint.Kind == CheckpointKeep && len(d.Clocks) == 0
}

// Overtaken is a task whose answer no longer matters. Its cancel may be lost: every plan asks again.
type Overtaken struct {
	Application, Queue uint64
	Task               engine.ID
}

// Work is a new task and the version-1 open row it begins with.
type Work struct {
	Submission pulse.Submission
	Task       pulse.Task
}

// InboxState is the end of an inbox row. The numbers are those of weave_inbox.state.
type InboxState uint8

// Pending rows wait; the others are never looked at again.
const (
	InboxPending     InboxState = 1
	InboxConfirmed   InboxState = 2
	InboxQuarantined InboxState = 3
)

// Confirmation ends one inbox row.
type Confirmation struct {
	Task           engine.ID
	Version        uint32
	State          InboxState
	Classification string
}

// GateChange opens or closes the gate of the instance's tasks.
type GateChange uint8

// GateKeep leaves the gate alone.
const (
	GateKeep GateChange = iota
	GateOpen
	GateClose
)

// CheckpointChangeKind says what becomes of a checkpoint.
type CheckpointChangeKind uint8

// What becomes of a checkpoint.
const (
	CheckpointKeep CheckpointChangeKind = iota
	CheckpointWrite
	CheckpointDelete
)

// CheckpointChange is what becomes of one checkpoint; of a row that goes only the step matters.
type CheckpointChange struct {
	Kind CheckpointChangeKind
	Row  Checkpoint
}

// History is one revision of an instance.
type History struct {
	Revision uint32
	Kind     string
	At       time.Time
	Actor    string
	Detail   []byte // JSON
}

// Trouble is a value of the definition that could not be computed: a stable reason, where it stands in the document,
// and what was found there; never the value itself.
type Trouble struct {
	Reason  string
	Pointer string
	Offset  int // byte inside the expression, −1 when the reason is not about one
	Detail  string
}

// Refusal is the trouble as the answer to a start.
func (t *Trouble) Refusal() *engine.Refusal {
	detail := "the definition's value at " + t.Pointer + " cannot be computed from this input"
	if t.Detail != "" {
		detail += ": " + t.Detail
	}
	return engine.Refuse(t.Reason, detail)
}
