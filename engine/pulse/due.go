package pulse

import (
	"fmt"

	"github.com/orbitrun/orbit/engine"
)

// dues judges again what a scan found without locks. What has moved on meanwhile is left alone.
func (p *planner) dues() {
	for i := range p.b.Dues {
		d := &p.b.Dues[i]
		if d.Kind == DueKey {
			p.freed = append(p.freed, d.Key)
			continue
		}
		if w := p.task(d.Task); w != nil && !w.gone {
			p.due(w, d.Kind)
		}
	}
}

func (p *planner) due(w *work, kind DueKind) {
	switch {
	case kind == DueLost && w.now.State == Running && !p.s.Now.Before(w.now.LeaseUntil.Add(engine.LeaseGrace)):
		p.lost(w)
	case kind == DueDelayed && w.now.State == Delayed && !w.now.AvailableAt.After(p.s.Now):
		w.now.State = Queued
	case kind == DueExpired && w.now.State.Waiting() && !p.s.Now.Before(w.now.DeadlineAt):
		p.expire(w)
	case kind == DueOvertaken:
		p.stop(w, "system:weave", "overtaken by a final signal")
	}
}

// lost records UNKNOWN for a worker that fell silent: starting counted (T7), the running counters are given back, and
// permit and key stay held while nobody knows what the outside effect does.
func (p *planner) lost(w *work) {
	attempt := p.attempt(w, Unknown, "lease_expired", "the worker stopped renewing its lease")
	p.unknown(w, verdict{attemptNo: attempt.No, code: "lease_expired", message: attempt.FailureMessage}, EventLost)
	attempt.TaskState = w.public
	p.ch.Attempts = append(p.ch.Attempts, attempt)
	p.ch.Audits = append(p.ch.Audits, AuditWrite{
		Application: w.now.Application, Actor: "system:pulse", Action: "task.lost", Subject: w.now.ID.Text("task"),
		Detail: fmt.Sprintf(`{"attempt_no":%d,"state":%q,"lost_policy":%d}`, attempt.No, attempt.TaskState, w.now.Lost),
	})
}

// expire ends a task whose total deadline passed before it could start.
func (p *planner) expire(w *work) {
	p.dismiss(w, verdict{on: OnExpire, kind: EventExpired, code: "deadline_exceeded", message: "the deadline passed before the task could start"})
}
