package pulse

import (
	"crypto/sha256"
	"fmt"

	"github.com/orbitrun/orbit/engine"
)

// ManualRetry asks for a new task that repeats one which failed or was cancelled (pulse.md Manual retry). Queue is the
// original's, found by the caller; zero means that there is no such task. Successor becomes the new task's id only if
// no receipt exists for the key.
type ManualRetry struct {
	Credential, Application uint64
	Queue                   uint64
	Task, Successor         engine.ID
	Key                     string // submit key of the new task, in the same space as all submit keys
	ExpectedVersion         uint32 // state_version the retry was asked about
	DeadlineMS              int64  // zero: as long as the original had
	Reason                  string
	Traceparent             string
}

// Original is the frozen request of a task and how it ended. Its Submission names nobody: who retries fills that in.
type Original struct {
	State      Public
	Version    uint32
	Source     Source
	Submission Submission
}

// RetryWrite links a task to its only direct successor.
type RetryWrite struct {
	Task, Successor engine.ID
	By, Reason      string
}

// Check refuses what can be judged without a row. Field names are those of the API.
func (r *ManualRetry) Check() *engine.Refusal {
	switch {
	case len(r.Key) < 1 || len(r.Key) > engine.KeyBytesMax:
		return invalid("/submit_key", fmt.Sprintf("submit_key is 1 to %d bytes", engine.KeyBytesMax))
	case len(r.Reason) < 1 || len(r.Reason) > engine.ReasonBytesMax:
		return invalid("/reason", fmt.Sprintf("reason is 1 to %d bytes", engine.ReasonBytesMax))
	case r.DeadlineMS < 0 || r.DeadlineMS > engine.DeadlineMax.Milliseconds():
		return invalid("/deadline_ms", "deadline_ms is 1 ms to 366 days")
	}
	return nil
}

// Digest identifies the content of a retry; no submission has the same.
func (r *ManualRetry) Digest() [32]byte {
	h := sha256.New()
	field(h, "retry_of", string(r.Task[:]))
	number(h, "expected_version", int64(r.ExpectedVersion))
	number(h, "deadline_ms", r.DeadlineMS)
	field(h, "reason", r.Reason)
	return [32]byte(h.Sum(nil))
}

func (p *planner) retries() {
	for i := range p.b.Retries {
		p.out.Retries[i] = p.retryOnce(&p.b.Retries[i])
	}
}

// retryOnce replays a known key, permission checked again, and then admits a new task under today's limits.
func (p *planner) retryOnce(r *ManualRetry) SubmitOutcome {
	if refusal := p.judge(r.Credential, "tasks:retry"); refusal != nil {
		return SubmitOutcome{Refusal: refusal}
	}
	key := ReceiptKey{r.Application, ReceiptSubmit, r.Key}
	if first, ok := p.known(key); ok {
		return replay(first, r.Digest())
	}
	sub, refusal := p.repeatable(r)
	if refusal == nil {
		refusal = p.usage.open(sub)
	}
	if refusal != nil {
		return SubmitOutcome{Refusal: refusal}
	}
	w := p.admit(sub, p.s.Now)
	body := sub.receipt(&w.now, p.s.Now)
	body = fmt.Appendf(body[:len(body)-1], `,"retry_of":%q}`, r.Task.Text("task"))
	p.writeReceipt(key, Receipt{r.Digest(), w.now.ID, body})
	p.ch.Retries = append(p.ch.Retries, RetryWrite{r.Task, w.now.ID, engine.CredentialText(r.Credential), r.Reason})
	p.ch.Audits = append(p.ch.Audits, AuditWrite{
		Application: r.Application, Actor: engine.CredentialText(r.Credential), Action: "task.retried", Subject: r.Task.Text("task"), Reason: r.Reason,
		Detail: fmt.Sprintf(`{"successor":%q,"state_version":%d}`, w.now.ID.Text("task"), r.ExpectedVersion),
	})
	return SubmitOutcome{TaskID: w.now.ID, Receipt: body}
}

// repeatable is the submission a retry repeats, or why there is none. The delay is not repeated: it was a wait before
// the first start, and that is long over.
func (p *planner) repeatable(r *ManualRetry) (*Submission, *engine.Refusal) {
	first, known := p.s.Originals[r.Task]
	state, version := first.State, first.Version
	if w := p.tasks[r.Task]; w != nil {
		state, version = w.state(), w.now.Version
	}
	switch {
	case !known || first.Submission.Application != r.Application:
		return nil, engine.Refuse("task_not_found", "no such task in this application")
	case first.Source == SourceWorkflow:
		return nil, engine.Refuse("task_owned_by_workflow", "the task belongs to a workflow instance; recover the instance instead")
	case first.Source != SourceDirect && first.Source != SourceRetry:
		return nil, engine.Refuse("task_owned_by_schedule", "the task belongs to a schedule; trigger the schedule instead")
	}
	if successor := p.successor(r.Task); !successor.Zero() {
		refusal := engine.Refuse("retry_exists", "the task was retried already; retry its successor if that failed as well")
		refusal.Subject = successor.Text("task")
		return nil, refusal
	}
	switch {
	case !state.Terminal():
		return nil, engine.Refuse("task_not_retryable", "the task has not ended; only FAILED and CANCELLED are retried")
	case state == PublicSucceeded:
		return nil, engine.Refuse("task_not_retryable", "the task is SUCCEEDED; only FAILED and CANCELLED are retried")
	case p.effectUnknown(r.Task):
		return nil, engine.Refuse("retry_effect_unknown", "an attempt of the task ended UNKNOWN, so its effect may have happened; submit a new task once you know that it may")
	case version != r.ExpectedVersion:
		return nil, stale(r.ExpectedVersion, version)
	}
	return p.repetition(r, first.Submission)
}

func (p *planner) repetition(r *ManualRetry, s Submission) (*Submission, *engine.Refusal) {
	s.Credential, s.TaskID, s.Key, s.Traceparent = r.Credential, r.Successor, r.Key, r.Traceparent
	s.Source, s.Owner, s.DelayMS = SourceRetry, r.Task, 0
	s.QueueName = p.s.Queues[s.Queue].Name
	if r.DeadlineMS != 0 {
		s.DeadlineMS = r.DeadlineMS
	}
	if s.DeadlineMS < s.AttemptTimeoutMS {
		return nil, invalid("/deadline_ms", fmt.Sprintf("deadline_ms is at least the task's attempt_timeout_ms, %d", s.AttemptTimeoutMS))
	}
	return &s, nil
}

// successor is the task that already repeats this one, in the rows or earlier in this plan.
func (p *planner) successor(task engine.ID) engine.ID {
	for i := range p.ch.Retries {
		if p.ch.Retries[i].Task == task {
			return p.ch.Retries[i].Successor
		}
	}
	return p.s.Retried[task]
}

// effectUnknown judges from the attempts, because a review decides about the task and rewrites no attempt.
func (p *planner) effectUnknown(task engine.ID) bool {
	for i := range p.ch.Attempts {
		if p.ch.Attempts[i].Task == task && p.ch.Attempts[i].Outcome == Unknown {
			return true
		}
	}
	return p.s.Unsettled[task]
}
