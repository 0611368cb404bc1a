package pulse

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

func (p *planner) submissions() {
	for i := range p.b.Submissions {
		p.out.Submissions[i] = p.submit(i, &p.b.Submissions[i])
	}
}

// submit replays a known key before any limit is looked at, and only then admits (pulse.md Submission).
func (p *planner) submit(i int, s *Submission) SubmitOutcome {
	if refusal := p.judge(s.Credential, "tasks:submit"); refusal != nil {
		return SubmitOutcome{Refusal: refusal}
	}
	key := ReceiptKey{s.Application, ReceiptSubmit, s.Key}
	digest := s.Digest()
	if r, ok := p.known(key); ok {
		return replay(r, digest)
	}
	if held, ok := p.taken(s); ok {
		r := Receipt{digest, held.Task, deduplicated(held.Receipt)}
		p.writeReceipt(key, r)
		return SubmitOutcome{TaskID: held.Task, Receipt: r.Body}
	}
	first, old := p.waitingFor(s)
	if refusal := p.usage.replace(old, s); refusal != nil {
		return SubmitOutcome{Refusal: refusal}
	}
	if old != nil {
		p.supersede(old, s.TaskID)
	}
	w := p.admit(s, first)
	r := Receipt{digest, w.now.ID, s.receipt(&w.now, p.s.Now)}
	p.writeReceipt(key, r)
	p.occupy(s, &w.now, first, r.Body)
	return SubmitOutcome{TaskID: w.now.ID, Receipt: r.Body}
}

// known finds the receipt of a key, in the rows or earlier in this batch.
func (p *planner) known(key ReceiptKey) (Receipt, bool) {
	if r, ok := p.s.Receipts[key]; ok {
		return r, true
	}
	if at, ok := p.accepted[key]; ok {
		return p.ch.Receipts[at].Receipt, true
	}
	return Receipt{}, false
}

func replay(r Receipt, digest [32]byte) SubmitOutcome {
	if r.Digest != digest {
		refusal := engine.Refuse("submission_conflict", "this key was used for another request; read the first task or use a new key")
		refusal.Subject = r.Subject.Text("task")
		return SubmitOutcome{Refusal: refusal}
	}
	return SubmitOutcome{TaskID: r.Subject, Receipt: r.Body, Replayed: true}
}

// admit makes the open row of an accepted task and its full row. first is when the round of a debounced one began.
func (p *planner) admit(s *Submission, first time.Time) *work {
	task := accept(s, p.s.Now, s.startAt(first, p.s.Now))
	w := &work{now: task, fresh: true, sub: s}
	p.tasks[task.ID], p.order = w, append(p.order, w)
	p.ch.NewTasks = append(p.ch.NewTasks, NewTask{task, *s, p.s.Now})
	p.ch.Events = append(p.ch.Events, EventWrite{Task: task.ID, No: 1, Kind: EventSubmitted})
	if task.State == Delayed {
		p.ch.DelayedUntil = append(p.ch.DelayedUntil, QueueTime{task.Queue, task.AvailableAt})
	} else if task.ResourceKey != "" {
		// Behind a key that is held the task would only be met, and moved away, by every claim's candidate list.
		if r := p.resource(task.ResourceKey); !r.free(task.ID) {
			p.park(w, r)
		}
	}
	return w
}

// Accept computes the first open row of a submission that is not debounced. The delay becomes a time here, once, by the
// database's clock; a replay returns the receipt and computes nothing.
func Accept(s *Submission, now time.Time) Task { return accept(s, now, s.startAt(now, now)) }

func accept(s *Submission, now, at time.Time) Task {
	t := Task{
		ID: s.TaskID, Application: s.Application, Queue: s.Queue, State: Queued, Version: 1, Priority: s.Priority,
		MaxAttempts: s.Retry.MaxAttempts, Lost: s.Lost, HasContract: len(s.OutputContract) > 0,
		HandlerHash: HandlerHash(s.Handler, s.HandlerVersion), AttemptTimeout: time.Duration(s.AttemptTimeoutMS) * time.Millisecond,
		InputBytes: uint32(len(s.Input)), AvailableAt: at,
		DeadlineAt: s.DeadlineAt, ResourceKey: s.ResourceKey, Gate: s.Gate,
	}
	if s.Source == SourceWorkflow {
		t.Owner = s.Owner // who is told of the end; a retry and a schedule ask for no inbox
	}
	if t.DeadlineAt.IsZero() {
		t.DeadlineAt = now.Add(time.Duration(s.DeadlineMS) * time.Millisecond)
	}
	if t.AvailableAt.After(now) {
		t.State = Delayed
	}
	return t
}
