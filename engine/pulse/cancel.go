package pulse

import (
	"crypto/sha256"
	"fmt"

	"github.com/orbitrun/orbit/engine"
)

func (p *planner) cancels() {
	for i := range p.b.Cancels {
		p.out.Cancels[i] = p.cancelOnce(&p.b.Cancels[i])
	}
}

// Digest identifies the content of a cancel request.
func (c *Cancel) Digest() [32]byte {
	h := sha256.New()
	field(h, "task", string(c.Task[:]))
	field(h, "reason", c.Reason)
	return [32]byte(h.Sum(nil))
}

// cancelOnce answers a repeated key as the first time, then cancels.
func (p *planner) cancelOnce(c *Cancel) CancelOutcome {
	if refusal := p.judge(c.Credential, "tasks:cancel"); refusal != nil {
		return CancelOutcome{Refusal: refusal}
	}
	key := ReceiptKey{c.Application, ReceiptCancel, c.Key}
	if r, ok := p.known(key); ok && c.Key != "" {
		if r.Digest != c.Digest() {
			return CancelOutcome{Refusal: engine.Refuse("idempotency_conflict", "this key was used for another request; use a new key")}
		}
		return CancelOutcome{Receipt: r.Body, Replayed: true}
	}
	out := p.cancel(c)
	if out.Refusal == nil {
		out.Receipt = []byte(fmt.Sprintf(`{"task_id":%q,"state":%q,"cancel_requested":%t,"at":%q}`,
			c.Task.Text("task"), out.TaskState, out.Requested, Time(p.s.Now)))
		if c.Key != "" {
			p.writeReceipt(key, Receipt{c.Digest(), c.Task, out.Receipt})
		}
	}
	return out
}

// cancel ends a waiting task at once and asks a running one to stop; its permit stays until the real result. What is
// already decided is returned as it is (pulse.md Cancel).
func (p *planner) cancel(c *Cancel) CancelOutcome {
	w := p.task(c.Task)
	if w == nil || w.gone || w.now.Application != c.Application || w.now.Queue != c.Queue {
		return p.cancelEnded(c)
	}
	return p.stop(w, engine.CredentialText(c.Credential), c.Reason)
}

// stop cancels an open task for a caller or for its workflow.
func (p *planner) stop(w *work, who, reason string) CancelOutcome {
	switch {
	case w.now.State == Review:
		return CancelOutcome{TaskState: PublicReview}
	case w.now.State == Running && w.now.CancelRequestedAt.IsZero():
		w.now.CancelRequestedAt = p.s.Now
		p.event(w, EventCancelRequested, w.now.AttemptNo, "")
		p.auditCancel(w, "task.cancel_requested", who, reason)
		return CancelOutcome{TaskState: PublicRunning, Requested: true}
	case w.now.State == Running:
		return CancelOutcome{TaskState: PublicRunning, Requested: true}
	}
	p.dismiss(w, verdict{on: OnCancel, kind: EventCancelled, code: "cancelled"})
	p.auditCancel(w, "task.cancelled", who, reason)
	return CancelOutcome{TaskState: w.public}
}

// dismiss ends a waiting task, unless an earlier attempt left an unknown effect: then a person decides.
func (p *planner) dismiss(w *work, v verdict) {
	if w.now.PermitHeld {
		v = verdict{on: OnUnknown, kind: EventReview, code: v.code, unknown: true}
	}
	p.settle(w, v)
}

func (p *planner) cancelEnded(c *Cancel) CancelOutcome {
	if w := p.tasks[c.Task]; w != nil && w.gone && w.now.Application == c.Application {
		return CancelOutcome{TaskState: w.public}
	}
	rules, ok := p.s.Rules[c.Task]
	if !ok || rules.Application != c.Application {
		return CancelOutcome{Refusal: engine.Refuse("task_not_found", "no such task in this application")}
	}
	return CancelOutcome{TaskState: rules.State}
}

func (p *planner) auditCancel(w *work, action, who, reason string) {
	p.ch.Audits = append(p.ch.Audits, AuditWrite{
		Application: w.now.Application, Actor: who, Action: action, Subject: w.now.ID.Text("task"), Reason: reason, Detail: "{}",
	})
}

func (p *planner) writeReceipt(key ReceiptKey, r Receipt) {
	p.accepted[key] = len(p.ch.Receipts)
	p.ch.Receipts = append(p.ch.Receipts, ReceiptWrite{key, r})
}
