package weave

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// SignalRequest asks to keep a signal for one step of one instance. Where it goes is fixed by step, activation and
// contract; whether it is applied is decided by the wait, by order of acceptance.
type SignalRequest struct {
	Credential, Application uint64
	ID                      engine.ID // becomes the signal's only if the key has no receipt
	Audit                   engine.ID
	Instance                engine.ID
	Key                     string // exact bytes, unique per application
	Step                    string
	ActivationNo            uint16
	Name, Version           string
	Correlation             string
	Content                 []byte   // exact JSON
	ContentDigest           [32]byte // structural digest of Content
	Reason                  string
}

// By is who sends it.
func (r *SignalRequest) By() (credential, application uint64) { return r.Credential, r.Application }

// Target is the instance.
func (r *SignalRequest) Target() engine.ID { return r.Instance }

// Scope is never implied by another.
func (r *SignalRequest) Scope() string { return "workflows:signal" }

// ReceiptKey is where its receipt is kept.
func (r *SignalRequest) ReceiptKey() pulse.ReceiptKey {
	return pulse.ReceiptKey{Application: r.Application, Kind: pulse.ReceiptSignal, Key: r.Key}
}

// Digest is the structural digest of the request.
func (r *SignalRequest) Digest() [32]byte {
	h := sha256.New()
	for _, f := range []struct{ name, value string }{
		{"instance", string(r.Instance[:])}, {"step", r.Step}, {"activation", strconv.Itoa(int(r.ActivationNo))}, {"name", r.Name},
		{"version", r.Version}, {"correlation", r.Correlation}, {"content", string(r.ContentDigest[:])}, {"reason", r.Reason},
	} {
		field(h, f.name, f.value)
	}
	return [32]byte(h.Sum(nil))
}

// Bytes is what it writes, for the bound of a transaction.
func (r *SignalRequest) Bytes() int { return len(r.Content) }

// apply keeps the signal, or says why it can never be meant. One that is early, late or a duplicate is kept too: the
// plan that follows classifies it.
func (r *SignalRequest) apply(d *decider, g *Graph) ([]byte, engine.ID, *engine.Refusal) {
	n := g.Version.Definition.Node(r.Step)
	if n == nil || receives(n) == nil {
		return nil, r.ID, engine.Refuse("step_takes_no_signal", "the instance's definition has no such step that waits for a signal").At("/step")
	}
	for _, check := range []func(*Graph, *definition.Node) *engine.Refusal{r.meant, r.content, r.room} {
		if refusal := check(g, n); refusal != nil {
			return nil, r.ID, refusal
		}
	}
	s := Signal{
		ID: r.ID, Step: uint16(n.Number), ActivationNo: r.ActivationNo, Name: r.Name, Version: r.Version, Correlation: r.Correlation,
		Content: r.Content, State: SignalPending, AcceptedAt: g.Now, ExpiresAt: g.expiry(n), Audit: r.Audit, Sealed: true,
	}
	s.Digest = s.Seal(g.Instance.ID)
	g.Accepted = append(g.Accepted, s)
	d.ch.Audits = append(d.ch.Audits, r.audit(&s))
	return r.receipt(&s), s.ID, nil
}

// meant holds the target against the fixed version and the step as it stands.
func (r *SignalRequest) meant(g *Graph, n *definition.Node) *engine.Refusal {
	want, last := receives(n), max(g.Steps[n.Number].ActivationNo, 1)
	switch {
	case r.Name != want.Signal || r.Version != want.SignalVersion:
		return engine.Refuse("signal_contract_mismatch", fmt.Sprintf("the step waits for %s version %s", want.Signal, want.SignalVersion)).At("/signal")
	case r.ActivationNo > last:
		return engine.Refuse("activation_unknown", "the step has no such activation yet; read the step for its number").At("/activation_no").Over(int64(last), int64(r.ActivationNo))
	}
	return nil
}

func (r *SignalRequest) content(_ *Graph, n *definition.Node) *engine.Refusal {
	return fits(receives(n).ContentContract, r.Content, "/content", "content_contract_broken")
}

// room bounds the whole history of an instance, and what may wait unread in it at one time.
func (r *SignalRequest) room(g *Graph, _ *definition.Node) *engine.Refusal {
	if n := int64(g.SignalCount + len(g.Accepted)); n >= engine.SignalsPerInstanceMax {
		return engine.Refuse("signals_exhausted", "the instance has had as many signals as it may ever have").Over(engine.SignalsPerInstanceMax, n)
	}
	waiting, bytes := 0, len(r.Content)
	for _, list := range [][]Signal{g.Signals, g.Accepted} {
		for i := range list {
			waiting, bytes = waiting+1, bytes+len(list[i].Content)
		}
	}
	if waiting >= engine.SignalsWaitingMax {
		return engine.Refuse("signals_waiting_full", "as many signals as may wait for steps that have not begun; retry later").Over(engine.SignalsWaitingMax, int64(waiting))
	}
	if bytes > engine.SignalsWaitingBytesMax {
		return engine.Refuse("signals_waiting_full", "the contents of waiting signals would exceed their bytes; retry later").Over(engine.SignalsWaitingBytesMax, int64(bytes))
	}
	return nil
}

// expiry is the end of the wait that is open, or of the instance while nobody waits.
func (g *Graph) expiry(n *definition.Node) time.Time {
	for i := range g.Waits {
		if w := &g.Waits[i]; w.Activation == g.Steps[n.Number].Activation && w.State == WaitPending {
			return w.DeadlineAt
		}
	}
	return g.Instance.DeadlineAt
}

// SignalEvidence is what the audit keeps of an accepted signal, and what it is verified against before it is applied.
type SignalEvidence struct {
	Signal       string `json:"signal_id"`
	Step         string `json:"step"`
	ActivationNo uint16 `json:"activation_no"`
	Name         string `json:"signal"`
	Version      string `json:"signal_version"`
	Digest       string `json:"digest"`
	AcceptedAt   string `json:"accepted_at"`
	ExpiresAt    string `json:"expires_at"`
}

// Agrees reports whether the audit's record is about this signal as it is stored.
func (e *SignalEvidence) Agrees(s *Signal) bool {
	return e.Signal == s.ID.Text("sig") && e.Digest == hex.EncodeToString(s.Digest[:]) &&
		e.AcceptedAt == pulse.Time(s.AcceptedAt) && e.ExpiresAt == pulse.Time(s.ExpiresAt)
}

func (r *SignalRequest) audit(s *Signal) pulse.AuditWrite {
	return pulse.AuditWrite{
		ID: s.Audit, Application: r.Application, Actor: engine.CredentialText(r.Credential), Action: "workflow.signalled",
		Subject: instanceText(r.Instance), Reason: r.Reason, Detail: string(text(SignalEvidence{
			s.ID.Text("sig"), r.Step, s.ActivationNo, s.Name, s.Version, hex.EncodeToString(s.Digest[:]), pulse.Time(s.AcceptedAt), pulse.Time(s.ExpiresAt),
		})),
	}
}

// receipt is the frozen answer, byte for byte what every replay returns. It says that the signal is kept, not what
// will become of it.
func (r *SignalRequest) receipt(s *Signal) []byte {
	return text(struct {
		Signal       string `json:"signal_id"`
		Instance     string `json:"instance_id"`
		Step         string `json:"step"`
		ActivationNo uint16 `json:"activation_no"`
		AcceptedAt   string `json:"accepted_at"`
		ExpiresAt    string `json:"expires_at"`
	}{s.ID.Text("sig"), instanceText(r.Instance), r.Step, s.ActivationNo, pulse.Time(s.AcceptedAt), pulse.Time(s.ExpiresAt)})
}
