package weave

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strconv"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// SignalState is where a signal stands. The numbers are those of weave_signal.state.
type SignalState uint8

// A pending signal waits for its step; every other state is an end.
const (
	SignalPending  SignalState = 1
	SignalApplied  SignalState = 2
	SignalExpired  SignalState = 3
	SignalRejected SignalState = 4
)

var signalNames = map[SignalState]string{
	SignalPending: "PENDING", SignalApplied: "APPLIED", SignalExpired: "EXPIRED", SignalRejected: "REJECTED",
}

func (s SignalState) String() string { return signalNames[s] }

// SignalClass says why a signal ended as it did; the names are stable.
type SignalClass string

// Applied moved its step. The second group came too late for its wait, the third was never what a wait asked for.
const (
	SignalClassApplied SignalClass = "APPLIED"

	SignalAfterDeadline SignalClass = "AFTER_DEADLINE" // accepted after the wait was over
	SignalNotAwaited    SignalClass = "NOT_AWAITED"    // its step had not begun to wait when it expired

	SignalDuplicate     SignalClass = "DUPLICATE"            // another signal was applied before it
	SignalStale         SignalClass = "STALE_ACTIVATION"     // for an earlier activation of the step
	SignalStepSettled   SignalClass = "STEP_SETTLED"         // the step ended without it
	SignalStepInReview  SignalClass = "STEP_IN_REVIEW"       // a person decides the step
	SignalInstanceEnded SignalClass = "INSTANCE_ENDED"       // the instance had ended, or ended before it was needed
	SignalMiscorrelated SignalClass = "CORRELATION_MISMATCH" // of another correlation than the wait's
	SignalOtherContract SignalClass = "CONTRACT_MISMATCH"    // of another name or version than the wait's
	SignalAltered       SignalClass = "ALTERED"              // the stored row is not what was accepted
)

var signalEnds = map[SignalClass]SignalState{
	SignalClassApplied: SignalApplied, SignalAfterDeadline: SignalExpired, SignalNotAwaited: SignalExpired,
}

// end is the state a class ends in.
func (c SignalClass) end() SignalState {
	if s, ok := signalEnds[c]; ok {
		return s
	}
	return SignalRejected
}

// Signal is one accepted signal: what was accepted never changes, only what became of it.
type Signal struct {
	ID                         engine.ID
	Step, ActivationNo         uint16 // the fixed target
	Name, Version, Correlation string
	Content                    []byte
	AcceptedAt, ExpiresAt      time.Time
	Digest                     [32]byte
	Audit                      engine.ID // the record that holds the digest and the times
	Sealed                     bool      // row, digest and audit agree

	State     SignalState
	Class     SignalClass
	SettledAt time.Time
}

func signalID(s *Signal) engine.ID { return s.ID }

// Seal is the digest of everything that was accepted.
func (s *Signal) Seal(instance engine.ID) [32]byte {
	h := sha256.New()
	for _, f := range []struct{ name, value string }{
		{"signal", s.ID.Text("sig")}, {"instance", instanceText(instance)}, {"step", strconv.Itoa(int(s.Step))},
		{"activation", strconv.Itoa(int(s.ActivationNo))}, {"name", s.Name}, {"version", s.Version}, {"correlation", s.Correlation},
		{"content", string(s.Content)}, {"accepted", pulse.Time(s.AcceptedAt)}, {"expires", pulse.Time(s.ExpiresAt)},
	} {
		field(h, f.name, f.value)
	}
	return [32]byte(h.Sum(nil))
}

// settleSignal ends a signal. It is kept, whatever it ends as.
func (p *planner) settleSignal(s Signal, class SignalClass) {
	s.State, s.Class, s.SettledAt = class.end(), class, p.g.Now
	p.signals.put(p, s.ID, s)
}

// pendingSignals lists what waits, in order of acceptance.
func (p *planner) pendingSignals() []Signal {
	var out []Signal
	for _, s := range p.signals.rows {
		if s.State == SignalPending {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Signal) int {
		return cmp.Or(a.AcceptedAt.Compare(b.AcceptedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return out
}

// awaited reports whether a signal is for what its step is doing now.
func (p *planner) awaited(s *Signal) bool {
	if p.now.State.Terminal() || !p.addressed(s) {
		return false
	}
	step := &p.steps[s.Step]
	return step.State == StepActive && step.ActivationNo == s.ActivationNo
}

// addressed reports whether the target can take a signal at all; acceptance has made sure of it.
func (p *planner) addressed(s *Signal) bool {
	return s.Step != RootStep && int(s.Step) < len(p.steps) && receives(p.node(s.Step)) != nil
}

// sweepSignals ends the signals that no step will ever need, once the graph is as the plan leaves it. Their number is
// bounded when they are accepted.
func (p *planner) sweepSignals() {
	for _, s := range p.pendingSignals() {
		if class := p.useless(&s); class != "" {
			p.settleSignal(s, class)
		}
	}
}

// useless says why a pending signal can no longer be applied; empty while it can.
func (p *planner) useless(s *Signal) SignalClass {
	if !p.addressed(s) {
		return SignalAltered
	}
	step := &p.steps[s.Step]
	switch {
	case p.now.State.Terminal():
		return SignalInstanceEnded
	case s.ActivationNo < step.ActivationNo:
		return SignalStale
	case step.State == StepReview:
		return p.late(step, SignalStepInReview)
	case step.State.Settled():
		return p.late(step, SignalStepSettled)
	case p.g.Now.After(s.ExpiresAt):
		return SignalNotAwaited
	}
	return ""
}

// late names what was in the way: another signal, or the end of the wait.
func (p *planner) late(step *Step, otherwise SignalClass) SignalClass {
	w, ok := p.waits.rows[step.Activation]
	switch {
	case ok && !w.Winner.Zero():
		return SignalDuplicate
	case ok && w.State == WaitExpired:
		return SignalAfterDeadline
	}
	return otherwise
}
