package pulse

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// ReviewRequest is a person's decision about a task in NEEDS_REVIEW (pulse.md Review). Queue is the task's, found by the
// caller; zero means that there is no such task. Evidence and Output are exact JSON.
type ReviewRequest struct {
	Credential, Application uint64
	Queue                   uint64
	Task                    engine.ID
	Key                     string // idempotency key
	Decision                Public // PublicSucceeded or PublicFailed
	ExpectedVersion         uint32 // state_version the decision was made about
	AllExecutionsEnded      bool   // the reviewer's own statement, never assumed
	Reason                  string
	Evidence                []byte
	Output                  []byte // PublicSucceeded only
	FailureCode             string // PublicFailed only; empty: review_failed
	FailureMessage          string
	FailureDetails          []byte
}

// ReviewOutcome is the answer to one review.
type ReviewOutcome struct {
	Receipt  []byte
	Replayed bool
	Refusal  *engine.Refusal
}

// Reviewed says who decided about a task that has left review.
type Reviewed struct {
	By       string
	Decision Public
	At       time.Time
}

// ReviewWrite is the stored decision. It stands beside attempts and late evidence and rewrites neither.
type ReviewWrite struct {
	Task                        engine.ID
	Version                     uint32
	Reviewed                    Reviewed
	Reason                      string
	Evidence, Output            []byte
	FailureCode, FailureMessage string
	FailureDetails              []byte
}

// Check refuses what can be judged without a row. Field names are those of the API.
func (r *ReviewRequest) Check() *engine.Refusal {
	failure := r.FailureCode != "" || r.FailureMessage != "" || len(r.FailureDetails) > 0
	switch {
	case r.Decision != PublicSucceeded && r.Decision != PublicFailed:
		return invalid("/decision", "decision is SUCCEEDED or FAILED")
	case !r.AllExecutionsEnded:
		return invalid("/all_executions_ended", "make sure that no execution of the task is still under way, then say true")
	case len(r.Reason) < 1 || len(r.Reason) > engine.ReasonBytesMax:
		return invalid("/reason", fmt.Sprintf("reason is 1 to %d bytes", engine.ReasonBytesMax))
	case len(r.Evidence) < 1 || len(r.Evidence) > engine.EvidenceBytesMax:
		return invalid("/evidence", fmt.Sprintf("evidence is 1 to %d bytes of JSON", engine.EvidenceBytesMax))
	case r.Decision == PublicFailed && len(r.Output) > 0:
		return invalid("/output", "an output goes with SUCCEEDED only")
	case r.Decision == PublicSucceeded && failure:
		return invalid("/failure", "a failure goes with FAILED only")
	}
	return nil
}

// Digest identifies the content of a review.
func (r *ReviewRequest) Digest() [32]byte {
	h := sha256.New()
	field(h, "task", string(r.Task[:]))
	number(h, "decision", int64(r.Decision))
	number(h, "expected_version", int64(r.ExpectedVersion))
	field(h, "reason", r.Reason)
	field(h, "evidence", string(r.Evidence))
	field(h, "output", string(r.Output))
	field(h, "code", r.FailureCode)
	field(h, "message", r.FailureMessage)
	field(h, "details", string(r.FailureDetails))
	return [32]byte(h.Sum(nil))
}

func (p *planner) reviews() {
	for i := range p.b.Reviews {
		p.out.Reviews[i] = p.reviewOnce(&p.b.Reviews[i])
	}
}

// reviewOnce answers a repeated key as the first time, permission checked again, and then decides.
func (p *planner) reviewOnce(r *ReviewRequest) ReviewOutcome {
	if refusal := p.judge(r.Credential, "tasks:review"); refusal != nil {
		return ReviewOutcome{Refusal: refusal}
	}
	key := ReceiptKey{r.Application, ReceiptReview, r.Key}
	if first, ok := p.known(key); ok {
		if first.Digest != r.Digest() {
			return ReviewOutcome{Refusal: engine.Refuse("idempotency_conflict", "this key was used for another request; use a new key")}
		}
		return ReviewOutcome{Receipt: first.Body, Replayed: true}
	}
	w, refusal := p.reviewable(r)
	if refusal != nil {
		return ReviewOutcome{Refusal: refusal}
	}
	p.decide(w, r)
	receipt := fmt.Appendf(nil, `{"task_id":%q,"state":%q,"state_version":%d,"decided_by":%q,"at":%q}`,
		r.Task.Text("task"), w.public, w.now.Version, engine.CredentialText(r.Credential), Time(p.s.Now))
	p.writeReceipt(key, Receipt{r.Digest(), r.Task, receipt})
	return ReviewOutcome{Receipt: receipt}
}

// reviewable finds the task a review may decide about, or says why there is none. A task of a workflow is decided by
// the recovery of its instance, which has to decide about the step as well.
func (p *planner) reviewable(r *ReviewRequest) (*work, *engine.Refusal) {
	rules, known := p.s.Rules[r.Task]
	w := p.task(r.Task)
	switch {
	case !known || rules.Application != r.Application:
		return nil, engine.Refuse("task_not_found", "no such task in this application")
	case rules.Source == SourceWorkflow:
		return nil, engine.Refuse("task_owned_by_workflow", "the task belongs to a workflow instance; recover the instance instead")
	case w == nil || w.gone:
		return nil, p.reviewOver(r.Task, rules.State)
	case w.now.State != Review:
		return nil, engine.Refuse("review_not_needed", "the task is "+w.state().String()+"; only NEEDS_REVIEW is reviewed")
	case w.now.Version != r.ExpectedVersion:
		return nil, stale(r.ExpectedVersion, w.now.Version)
	case r.Decision == PublicSucceeded && w.now.HasContract && len(r.Output) == 0:
		return nil, engine.Refuse("output_contract_broken", "the task has an output contract, so a success needs an output").At("/output")
	case r.Decision == PublicSucceeded && w.now.HasContract:
		if broken := brokenContract(rules.OutputContract, r.Output); broken != "" {
			return nil, engine.Refuse("output_contract_broken", "the output breaks the task's contract: "+broken).At("/output")
		}
	}
	return w, nil
}

// reviewOver names who decided before.
func (p *planner) reviewOver(task engine.ID, state Public) *engine.Refusal {
	by, ok := p.s.Reviewed[task]
	for i := range p.ch.Reviews {
		if p.ch.Reviews[i].Task == task {
			by, ok = p.ch.Reviews[i].Reviewed, true
		}
	}
	if !ok {
		if w := p.tasks[task]; w != nil {
			state = w.state()
		}
		return engine.Refuse("review_not_needed", "the task is "+state.String()+"; only NEEDS_REVIEW is reviewed")
	}
	refusal := engine.Refuse("review_decided", fmt.Sprintf("%s decided %s at %s", by.By, by.Decision, Time(by.At)))
	refusal.Subject = by.By
	return refusal
}

// decide ends the task as the reviewer says: the permit and the key that the unknown effect kept are given back.
func (p *planner) decide(w *work, r *ReviewRequest) {
	v := verdict{on: OnApprove, kind: EventReviewed, output: r.Output, message: r.FailureMessage}
	if r.Decision == PublicFailed {
		v.on, v.code = OnDisprove, orElse(r.FailureCode, "review_failed")
	}
	v.detail = fmt.Sprintf(`{"decision":%q,"by":%q}`, r.Decision, engine.CredentialText(r.Credential))
	p.settle(w, v)
	p.ch.Reviews = append(p.ch.Reviews, ReviewWrite{
		Task: r.Task, Version: w.now.Version, Reviewed: Reviewed{engine.CredentialText(r.Credential), r.Decision, p.s.Now}, Reason: r.Reason,
		Evidence: r.Evidence, Output: r.Output, FailureCode: v.code, FailureMessage: r.FailureMessage, FailureDetails: r.FailureDetails,
	})
	p.ch.Audits = append(p.ch.Audits, AuditWrite{
		Application: r.Application, Actor: engine.CredentialText(r.Credential), Action: "task.reviewed", Subject: r.Task.Text("task"), Reason: r.Reason,
		Detail: fmt.Sprintf(`{"decision":%q,"state_version":%d,"all_executions_ended":true,"evidence":%s}`, r.Decision, w.now.Version, r.Evidence),
	})
}

// stale refuses a decision about a version that is not the present one.
func stale(expected, version uint32) *engine.Refusal {
	return engine.Refuse("revision_conflict", fmt.Sprintf("the task is at state_version %d, the request was made about %d; read it again", version, expected)).At("/expected_version")
}
