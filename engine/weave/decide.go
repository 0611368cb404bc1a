package weave

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// Start asks to begin an instance. Version 0 means the latest one, found under the quota lock that a publisher takes
// too. The digest covers the version as it was asked for: the same request is the same request although another
// version was published in between, and gets the frozen receipt with the version it began on.
type Start struct {
	Credential, Application uint64
	Instance                engine.ID // becomes the instance's only if the key has no receipt
	Key                     string    // exact bytes, unique per application
	Definition              string
	Version                 uint32
	BusinessKey             string
	Input                   []byte   // exact JSON
	InputDigest             [32]byte // structural digest of Input
	Traceparent             string
}

// Check refuses what can be judged without a row. Field names are those of the API.
func (s *Start) Check() *engine.Refusal {
	for _, f := range []struct {
		pointer, value string
		min, max       int
	}{
		{"/start_key", s.Key, 1, engine.KeyBytesMax},
		{"/definition", s.Definition, 1, 48},
		{"/business_key", s.BusinessKey, 0, engine.KeyBytesMax},
		{"/input", string(s.Input), 1, engine.PayloadBytesMax},
	} {
		if len(f.value) < f.min || len(f.value) > f.max {
			return engine.Refuse("request_invalid", fmt.Sprintf("length is %d to %d bytes, here %d", f.min, f.max, len(f.value))).At(f.pointer)
		}
	}
	return nil
}

// Digest is the structural digest of the request. The trace context is no part of what is asked for.
func (s *Start) Digest() [32]byte {
	h := sha256.New()
	field(h, "definition", s.Definition)
	field(h, "version", string(binary.BigEndian.AppendUint32(nil, s.Version)))
	field(h, "business_key", s.BusinessKey)
	field(h, "input", string(s.InputDigest[:]))
	return [32]byte(h.Sum(nil))
}

func field(h hash.Hash, name, value string) {
	if value == "" {
		return
	}
	for _, part := range []string{name, value} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		h.Write([]byte(part))
	}
}

// ReceiptKey is where the start's receipt is kept.
func (s *Start) ReceiptKey() pulse.ReceiptKey {
	return pulse.ReceiptKey{Application: s.Application, Kind: pulse.ReceiptStart, Key: s.Key}
}

// StartVersion is the version a start begins on, or why there is none.
type StartVersion struct {
	*Version
	Refusal *engine.Refusal
}

// World is everything one transaction has locked and loaded. Versions stand beside the starts; one whose key has a
// receipt needs none.
type World struct {
	Now      time.Time
	Actor    string
	Callers  map[uint64]engine.Caller
	Quotas   map[uint64]pulse.Quota
	Queues   map[uint64]pulse.Queue
	Receipts map[pulse.ReceiptKey]pulse.Receipt
	Versions []StartVersion
	Graphs   []*Graph
}

// StartOutcome is the answer to one start.
type StartOutcome struct {
	Instance engine.ID
	Receipt  []byte
	Replayed bool
	Refusal  *engine.Refusal
}

// New is an instance that begins, with all its steps as they are after the first advance.
type New struct {
	Instance Instance
	Steps    []Step
}

// Changes is what must be written, all of it or none. Decisions of new instances carry only what New does not.
type Changes struct {
	Receipts  []pulse.ReceiptWrite
	New       []New
	Decisions []Decision
	Audits    []pulse.AuditWrite
	Quotas    []pulse.Quota
	Queues    []pulse.Queue
	Answers   []Answer        // to the requests, in their order; nothing to write
	Ready     []uint64        // queues with new waiting tasks, each once
	Again     []engine.ID     // instances whose budget was used up
	Overtaken []Overtaken     // tasks to cancel afterwards
	Late      []time.Duration // how late timers rang, for metrics
	DueAt     time.Time       // when the first clock of these instances rings; zero: none runs
}

// Decide plans everything of one transaction: first what is asked of instances, then those instances and all others that
// have something waiting, and then new starts, so that they never take the room the successors need.
func Decide(w *World, starts []Start, ids func() engine.ID, budget int, requests ...Request) ([]StartOutcome, Changes) {
	d := &decider{w: w, usage: pulse.NewUsage(w.Quotas, w.Queues), ids: ids, budget: budget, begun: map[pulse.ReceiptKey]pulse.Receipt{}}
	for _, r := range requests {
		d.ch.Answers = append(d.ch.Answers, d.answer(r))
	}
	for _, g := range w.Graphs {
		d.add(Plan(g, d.usage, ids, budget))
	}
	out := make([]StartOutcome, len(starts))
	for i := range starts {
		out[i] = d.start(&starts[i], w.Versions[i])
	}
	d.ch.Quotas, d.ch.Queues = d.usage.Dirty()
	slices.Sort(d.ch.Ready)
	d.ch.Ready = slices.Compact(d.ch.Ready)
	return out, d.ch
}

type decider struct {
	w      *World
	usage  *pulse.Usage
	ids    func() engine.ID
	budget int
	begun  map[pulse.ReceiptKey]pulse.Receipt // in this batch
	ch     Changes
}

func (d *decider) add(dec Decision) {
	if !dec.Empty() {
		d.ch.Decisions = append(d.ch.Decisions, dec)
	}
	if dec.More {
		d.ch.Again = append(d.ch.Again, dec.Instance.ID)
	}
	d.ch.DueAt = engine.Sooner(d.ch.DueAt, dec.DueAt)
	d.ch.Overtaken = append(d.ch.Overtaken, dec.Overtaken...)
	for i := range dec.Waits {
		if w := &dec.Waits[i]; w.Kind == CheckpointTimer && w.State == WaitSatisfied {
			d.ch.Late = append(d.ch.Late, d.w.Now.Sub(w.DeadlineAt))
		}
	}
	for i := range dec.Tasks {
		d.ch.Ready = append(d.ch.Ready, dec.Tasks[i].Submission.Queue)
	}
}

// start replays a known key before anything else is looked at; the permission is judged in any case.
func (d *decider) start(s *Start, v StartVersion) StartOutcome {
	if refusal := d.w.Callers[s.Credential].Judge("workflows:start", d.w.Now); refusal != nil {
		return StartOutcome{Refusal: refusal}
	}
	digest := s.Digest()
	if r, ok := d.known(s.ReceiptKey()); ok {
		return replay(r, digest)
	}
	if v.Refusal != nil {
		return StartOutcome{Refusal: v.Refusal}
	}
	if refusal := acceptable(s, v.Version); refusal != nil {
		return StartOutcome{Refusal: refusal}
	}
	return d.begin(s, v.Version, digest)
}

func (d *decider) known(key pulse.ReceiptKey) (pulse.Receipt, bool) {
	if r, ok := d.w.Receipts[key]; ok {
		return r, true
	}
	r, ok := d.begun[key]
	return r, ok
}

// freeze keeps the answer to a key, for the rows and for the rest of this batch.
func (d *decider) freeze(key pulse.ReceiptKey, r pulse.Receipt) {
	d.begun[key] = r
	d.ch.Receipts = append(d.ch.Receipts, pulse.ReceiptWrite{Key: key, Receipt: r})
}

func replay(r pulse.Receipt, digest [32]byte) StartOutcome {
	if r.Digest != digest {
		refusal := engine.Refuse("start_conflict", "this key was used for another start; read the first instance or use a new key")
		refusal.Subject = instanceText(r.Subject)
		return StartOutcome{Refusal: refusal}
	}
	return StartOutcome{Instance: r.Subject, Receipt: r.Body, Replayed: true}
}

// acceptable holds the input against the definition's contract.
func acceptable(s *Start, v *Version) *engine.Refusal {
	return fits(v.Definition.InputContract, s.Input, "/input", "input_contract_broken")
}

// fits holds a caller's text at a pointer of the request against a contract; nil accepts any JSON.
func fits(c *definition.Contract, text []byte, pointer, code string) *engine.Refusal {
	value, bad := exact.Parse(text, exact.PayloadLimits)
	if bad != nil {
		return engine.Refuse(bad.Code, bad.Detail).At(pointer + bad.Pointer)
	}
	if c == nil {
		return nil
	}
	if broken := c.Schema.Validate(value); len(broken) > 0 {
		return engine.Refuse(code, broken[0].String()).At(pointer + broken[0].Pointer)
	}
	return nil
}

// begin makes the instance and its first work, or nothing.
func (d *decider) begin(s *Start, v *Version, digest [32]byte) StartOutcome {
	if refusal := d.usage.OpenInstance(s.Application); refusal != nil {
		return StartOutcome{Refusal: refusal}
	}
	g := s.graph(v, d.w)
	p := newPlanner(g, d.usage, d.ids, d.budget)
	if refusal := p.first(); refusal != nil {
		d.usage.CloseInstance(s.Application)
		return StartOutcome{Refusal: refusal}
	}
	dec := p.seal()
	actor := engine.CredentialText(s.Credential)
	d.ch.New = append(d.ch.New, New{dec.Instance, p.steps})
	dec.Steps, dec.Rewritten, dec.Advanced = nil, false, true
	dec.History = append([]History{{1, "started", d.w.Now, actor, text(historyDetail{State: InstanceRunning.String()})}}, dec.History...)
	dec.Audits = []pulse.AuditWrite{{
		Application: s.Application, Actor: actor, Action: "workflow.started", Subject: instanceText(dec.Instance.ID),
		Detail: string(text(auditDetail{Revision: dec.Instance.Revision})),
	}}
	d.add(dec)
	r := pulse.Receipt{Digest: digest, Subject: dec.Instance.ID, Body: receipt(&dec.Instance, d.w.Now)}
	d.freeze(s.ReceiptKey(), r)
	return StartOutcome{Instance: dec.Instance.ID, Receipt: r.Body}
}

// first is the advance inside Start: a value that cannot be computed or work that does not fit refuses the whole
// start (definition.md 4.6).
func (p *planner) first() *engine.Refusal {
	was := p.round
	p.body(p.def.Body)
	if p.trouble != nil {
		return p.trouble.Refusal()
	}
	p.admit(was)
	return p.withheld
}

// graph is the instance before its first advance: revision 1, every step waiting.
func (s *Start) graph(v *Version, w *World) *Graph {
	g := &Graph{
		Now: w.Now, Actor: w.Actor, Version: v, Active: true, GateOpen: true,
		Instance: Instance{
			ID: s.Instance, Application: s.Application, Definition: v.Definition.Name, Version: uint32(v.Definition.Version),
			State: InstanceRunning, Revision: 1, BusinessKey: s.BusinessKey, Traceparent: s.Traceparent,
			CreatedAt: w.Now, DeadlineAt: w.Now.Add(time.Duration(v.Definition.DeadlineMS) * time.Millisecond), Input: s.Input,
		},
	}
	for _, step := range v.Definition.Flatten() {
		g.Steps = append(g.Steps, Step{No: uint16(step.Number), Name: step.Name, Kind: kindNumbers[step.Kind], State: StepWaiting, Version: 1})
	}
	g.Steps[RootStep].State = StepActive
	return g
}

// receipt is the frozen answer to a start, byte for byte what every replay returns.
func receipt(i *Instance, now time.Time) []byte {
	return fmt.Appendf(nil, `{"instance_id":%q,"definition":%q,"version":%d,"state":"RUNNING","revision":%d,"accepted_at":%q,"deadline_at":%q}`,
		instanceText(i.ID), i.Definition, i.Version, i.Revision, pulse.Time(now), pulse.Time(i.DeadlineAt))
}
