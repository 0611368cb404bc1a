package weave

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// How long a ROOT checkpoint waits. A full quota frees quickly; a pause, a closed gate or a disabled application ends
// by an act that wakes the instance itself, so its checkpoint is only the net under that.
const (
	withheldRetry = time.Second
	heldRetry     = 30 * time.Second
)

// seal turns the finished plan into its decision: checkpoint, revision, history, audit.
func (p *planner) seal() Decision {
	d := Decision{
		Instance: p.now, Confirmed: p.confirmed, Activations: p.activations, Ended: p.ended, Tasks: p.work, Gate: p.gate,
		More: p.more, Withheld: p.withheld, Trouble: p.trouble,
	}
	for i, touched := range p.touched {
		if touched {
			d.Steps = append(d.Steps, p.steps[i])
		}
	}
	before := &p.g.Instance
	d.Waits, d.Signals = p.waits.changed(), p.signals.changed()
	d.Polls, d.Rounds = p.polls.changed(), p.rounds.changed()
	d.Rewritten = d.Instance.State != before.State || d.Instance.Reason != before.Reason || d.Instance.Stop != before.Stop
	d.Advanced = d.Rewritten || len(d.Confirmed)+len(d.Steps)+len(d.Waits)+len(d.Signals)+len(d.Polls) > 0
	d.Checkpoint = p.checkpoint()
	d.Clocks, d.DueAt = p.clockCheckpoints()
	d.Overtaken = p.overtaken()
	if d.Instance.State.Terminal() && !before.State.Terminal() {
		p.usage.CloseInstance(d.Instance.Application)
	}
	if d.Advanced {
		d.Instance.Revision++
		d.History = []History{{d.Instance.Revision, p.historyKind(&d), p.g.Now, cmp.Or(p.g.AskedBy, p.g.Actor), p.detail(&d)}}
		d.Audits = p.audits(&d)
	}
	return d
}

// checkpoint keeps a continuation exactly as long as something is left to continue. One that is due later is left
// alone, so a full quota or a long pause moves a time now and then and writes nothing else.
func (p *planner) checkpoint() CheckpointChange {
	existing := p.g.checkpoint(RootStep)
	var due time.Time
	switch running := p.now.State == InstanceRunning; {
	case p.more && !p.now.State.Terminal():
		due = p.g.Now
	case running && p.withheld != nil:
		due = p.g.Now.Add(withheldRetry)
	case running && p.held:
		due = p.g.Now.Add(heldRetry)
	case existing != nil:
		return CheckpointChange{CheckpointDelete, *existing}
	default:
		return CheckpointChange{}
	}
	if existing != nil && existing.DueAt.After(p.g.Now) && !p.more {
		return CheckpointChange{}
	}
	return CheckpointChange{CheckpointWrite, Checkpoint{
		Step: RootStep, Kind: CheckpointRoot, StepVersion: p.steps[RootStep].Version, DueAt: due,
	}}
}

// historyKind names what the revision is remembered for.
func (p *planner) historyKind(d *Decision) string {
	moved := len(d.Steps) > 0
	switch {
	case d.Instance.State != p.g.Instance.State:
		return historyKinds[d.Instance.State]
	case len(d.Activations) > 0:
		return "advanced"
	case moved && len(d.Confirmed) > 0:
		return "result_consumed"
	case moved && p.applied(d):
		return "signal_applied"
	case moved:
		return "advanced"
	}
	for _, c := range d.Confirmed {
		if c.State == InboxQuarantined {
			return "result_quarantined"
		}
	}
	switch {
	case len(d.Polls) > 0 && len(d.Confirmed) > 0:
		return "poll_answered"
	case len(d.Rounds) > 0:
		return "poll_round_started"
	case len(d.Confirmed) > 0:
		return "late_result"
	case len(d.Signals) > 0:
		return "signal_kept"
	}
	return "advanced"
}

func (p *planner) applied(d *Decision) bool {
	return slices.ContainsFunc(d.Signals, func(s Signal) bool { return s.State == SignalApplied })
}

var historyKinds = map[InstanceState]string{
	InstanceSucceeded: "succeeded", InstanceFailed: "failed", InstanceCancelled: "cancelled",
	InstanceReview: "needs_review", InstanceCancelling: "stopping", InstanceRunning: "continued",
}

type historyDetail struct {
	State   string          `json:"state"`
	Reason  string          `json:"reason,omitempty"`
	Results []historyResult `json:"results,omitempty"`
	Steps   []historyStep   `json:"steps,omitempty"`
	Trouble *historyTrouble `json:"trouble,omitempty"`
	Waits   []historyWait   `json:"waits,omitempty"`
	Signals []historySignal `json:"signals,omitempty"`
	Rounds  []historyRound  `json:"rounds,omitempty"`
	Waiting string          `json:"waiting_for,omitempty"`
}

type historyResult struct {
	Task           string `json:"task_id"`
	Version        uint32 `json:"state_version"`
	State          string `json:"state"`
	Classification string `json:"classification"`
	FailureCode    string `json:"failure_code,omitempty"`
}

type historyStep struct {
	No         uint16 `json:"step_no"`
	Name       string `json:"name"`
	State      string `json:"state"`
	Version    uint32 `json:"version"`
	Activation uint16 `json:"activation_no"`
	Reason     string `json:"reason,omitempty"`
}

type historyWait struct {
	Step       uint16 `json:"step_no"`
	Kind       string `json:"kind"`
	State      string `json:"state"`
	DeadlineAt string `json:"deadline_at"`
}

type historySignal struct {
	ID             string `json:"signal_id"`
	Step           uint16 `json:"step_no"`
	ActivationNo   uint16 `json:"activation_no"`
	State          string `json:"state"`
	Classification string `json:"classification,omitempty"`
}

type historyRound struct {
	Step  uint16 `json:"step_no"`
	No    uint16 `json:"round"`
	Task  string `json:"task_id"`
	State string `json:"state"`
}

type historyTrouble struct {
	Pointer string `json:"pointer"`
	Offset  int    `json:"offset"`
	Detail  string `json:"detail,omitempty"`
}

// detail says which results came and which steps changed, so that the graph of any revision can be drawn again.
func (p *planner) detail(d *Decision) []byte {
	h := historyDetail{State: d.Instance.State.String(), Reason: d.Instance.Reason}
	for i, c := range d.Confirmed {
		r := p.collected[i]
		h.Results = append(h.Results, historyResult{r.Task.Text("task"), r.Version, r.TaskState.String(), c.Classification, r.FailureCode})
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		h.Steps = append(h.Steps, historyStep{s.No, s.Name, s.State.String(), s.Version, s.ActivationNo, s.Reason})
	}
	for i := range d.Waits {
		w := &d.Waits[i]
		h.Waits = append(h.Waits, historyWait{w.Step, w.Kind.String(), w.State.String(), pulse.Time(w.DeadlineAt)})
	}
	for i := range d.Rounds {
		r := &d.Rounds[i]
		h.Rounds = append(h.Rounds, historyRound{p.polls.rows[r.Activation].Step, r.No, r.Task.Text("task"), r.State.String()})
	}
	for i := range d.Signals {
		s := &d.Signals[i]
		h.Signals = append(h.Signals, historySignal{s.ID.Text("sig"), s.Step, s.ActivationNo, s.State.String(), string(s.Class)})
	}
	if t := d.Trouble; t != nil {
		h.Trouble = &historyTrouble{t.Pointer, t.Offset, t.Detail}
	}
	if d.Withheld != nil {
		h.Waiting = d.Withheld.Code
	}
	return text(h)
}

func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of texts and numbers always marshal
	}
	return b
}

type auditDetail struct {
	Revision       uint32 `json:"revision"`
	Task           string `json:"task_id,omitempty"`
	Version        uint32 `json:"state_version,omitempty"`
	Classification string `json:"classification,omitempty"`
	Checkpoint     string `json:"checkpoint,omitempty"`
	Activation     string `json:"activation_id,omitempty"`
	Signal         string `json:"signal_id,omitempty"`
	Round          uint16 `json:"round,omitempty"`
}

// audits writes one record per confirmed result, or one for an advance that no result asked for.
func (p *planner) audits(d *Decision) []pulse.AuditWrite {
	var out []pulse.AuditWrite
	add := func(action string, detail auditDetail) {
		detail.Revision = d.Instance.Revision
		out = append(out, pulse.AuditWrite{
			Application: d.Instance.Application, Actor: p.g.Actor, Action: action, Subject: instanceText(d.Instance.ID),
			Reason: d.Instance.Reason, Detail: string(text(detail)),
		})
	}
	for _, c := range d.Confirmed {
		add("workflow.result_consumed", auditDetail{Task: c.Task.Text("task"), Version: c.Version, Classification: c.Classification})
	}
	for _, s := range d.Signals {
		if s.State != SignalPending {
			add("workflow.signal_settled", auditDetail{Signal: s.ID.Text("sig"), Classification: string(s.Class)})
		}
	}
	for _, r := range d.Rounds {
		if r.State == RoundAsking {
			add("workflow.poll_round_started", auditDetail{Checkpoint: CheckpointPoll.String(), Activation: r.Activation.Text("act"), Task: r.Task.Text("task"), Round: r.No})
		}
	}
	for _, w := range d.Waits {
		if w.State != WaitPending {
			add("workflow.wait_settled", auditDetail{Checkpoint: w.Kind.String(), Classification: w.State.String(), Activation: w.Activation.Text("act")})
		}
	}
	if len(out) == 0 {
		add("workflow.advanced", auditDetail{Checkpoint: rootName})
	}
	return out
}

const rootName = "ROOT"

func instanceText(id engine.ID) string { return id.Text("inst") }
