package pulse_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// drawn makes random operations about tasks that exist, existed, or never did.
type drawn struct {
	t    *rapid.T
	seq  uint64
	subs []pulse.Submission
	runs []pulse.Task // every attempt ever started, newest last
}

func (d *drawn) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, label) }

func (d *drawn) oneOf(label string, values ...string) string {
	return values[d.pick(label, len(values))]
}

func (d *drawn) submission() pulse.Submission {
	if len(d.subs) > 0 && d.pick("repeat", 6) == 0 {
		s := d.subs[d.pick("which", len(d.subs))]
		d.seq++
		s.TaskID = number(d.seq) // a replay comes with a new id, which must not be used
		if d.pick("other content", 3) == 0 {
			s.Priority = (s.Priority + 1) % 10
		}
		d.subs = append(d.subs, s) // accepted after all when the first was refused
		return s
	}
	d.seq++
	s := submission(d.seq)
	s.Priority = uint8(d.pick("priority", 3) * 4)
	s.ResourceKey = d.oneOf("key", "", "", "r", "s")
	s.Handler = d.oneOf("handler", "h", "h", "g")
	s.DelayMS = int64(d.pick("delay", 3)) * 20_000
	s.DeadlineMS = int64(1+d.pick("deadline", 4)) * 90_000
	s.AttemptTimeoutMS = int64(1+d.pick("timeout", 2)) * 45_000
	s.Lost = pulse.LostPolicy(1 + d.pick("lost", 2))
	s.Retry = pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: uint16(1 + d.pick("attempts", 3)), DelayMS: int64(d.pick("retry", 3)) * 15_000}
	if d.pick("contract", 4) == 0 {
		s.OutputContract = []byte(`{"type":"integer"}`)
	}
	if d.pick("queue", 3) == 0 {
		s.Queue, s.QueueName = queueB, "b"
	}
	if d.pick("application", 5) == 0 {
		s.Credential, s.Application, s.Queue, s.QueueName = otherKey, otherApp, queueOfOther, "o"
	}
	d.subs = append(d.subs, s)
	return s
}

func (d *drawn) claim() pulse.Claim {
	c := claim(1 + d.pick("tasks", 3))
	c.Queues = [][]uint64{{queueA}, {queueB}, {queueA, queueB}}[d.pick("queues", 3)]
	c.Handlers = [][]uint64{{pulse.HandlerHash("h", "1")}, {pulse.HandlerHash("g", "1")}, {pulse.HandlerHash("g", "1"), pulse.HandlerHash("h", "1")}}[d.pick("handlers", 3)]
	c.Lease = time.Duration(5+d.pick("lease", 40)) * time.Second
	if d.pick("application", 5) == 0 {
		c.Credential, c.Application, c.Queues = otherKey, otherApp, []uint64{queueOfOther}
	}
	return c
}

// attempt is one that was started some time, or one that never was.
func (d *drawn) attempt() pulse.Task {
	if len(d.runs) == 0 || d.pick("stranger", 12) == 0 {
		return pulse.Task{ID: number(1 + uint64(d.pick("id", 8))), Application: app, Queue: queueA, AttemptNo: 1, Token: number(99)}
	}
	recent := min(len(d.runs), 6)
	return d.runs[len(d.runs)-1-d.pick("run", recent)]
}

func (d *drawn) report() pulse.Report {
	t := d.attempt()
	r := pulse.Report{Credential: key, Application: t.Application, Queue: t.Queue, Task: t.ID, AttemptNo: t.AttemptNo, Token: t.Token, Outcome: pulse.Outcome(1 + d.pick("outcome", 6))}
	if t.Application == otherApp {
		r.Credential = otherKey
	}
	switch r.Outcome {
	case pulse.Succeeded:
		r.Output = []byte(d.oneOf("output", "1", `"text"`))
	case pulse.Retryable, pulse.Permanent:
		r.FailureCode = d.oneOf("code", "", "broken")
	}
	r.Text = []byte(fmt.Sprintf(`{"outcome":%d}`, r.Outcome))
	return r
}

func (d *drawn) renewal() pulse.Renewal {
	t := d.attempt()
	r := pulse.Renewal{Credential: key, Application: t.Application, Task: t.ID, AttemptNo: t.AttemptNo, Token: t.Token, Extend: time.Duration(1+d.pick("extend", 60)) * time.Second}
	if t.Application == otherApp {
		r.Credential = otherKey
	}
	return r
}

func (d *drawn) cancel() pulse.Cancel {
	c := pulse.Cancel{Credential: key, Application: app, Key: d.oneOf("cancel key", "", "c1", "c2"), Reason: "because"}
	if len(d.subs) == 0 {
		c.Task = number(1)
		return c
	}
	s := d.subs[d.pick("which", len(d.subs))]
	c.Task, c.Queue, c.Application, c.Credential = s.TaskID, s.Queue, s.Application, s.Credential
	return c
}

// dues are all that the clock brings now, and now and then one that it does not.
func (d *drawn) dues(r *rows, now time.Time) []pulse.Due {
	var dues []pulse.Due
	for i := range d.subs {
		s := &d.subs[i]
		t, open := r.open[s.TaskID]
		due := pulse.Due{Application: s.Application, Queue: s.Queue, Task: s.TaskID}
		switch {
		case open && t.State == pulse.Running && !t.LeaseUntil.Add(engine.LeaseGrace).After(now):
			due.Kind = pulse.DueLost
		case open && t.State.Waiting() && !t.DeadlineAt.After(now):
			due.Kind = pulse.DueExpired
		case open && t.State == pulse.Delayed && !t.AvailableAt.After(now):
			due.Kind = pulse.DueDelayed
		case d.pick("spurious", 40) == 0:
			due.Kind = pulse.DueKind(1 + d.pick("kind", 3))
		default:
			continue
		}
		dues = append(dues, due)
	}
	return dues
}

// remember keeps what claims were given.
func (d *drawn) remember(out pulse.Outcomes) {
	for _, c := range out.Claims {
		for _, s := range c.Started {
			d.runs = append(d.runs, s.Task)
		}
	}
}
