package pulse_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orbitrun/orbit/engine/pulse"
)

// C43: random commands against the plan and an independent model of it. Every answer and every visible column of every
// task must agree after every command.
func TestPulseAgreesWithAnIndependentModel(t *testing.T) {
	var commands, tasks atomic.Int64
	began := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		d := &duel{drawn: drawn{t: t}, rows: newRows(), model: newModel(), started: map[string]pulse.Task{}}
		d.rows.poolMore = rapid.IntRange(0, 4).Draw(t, "pool") // short candidate lists, as the store's are
		for range 160 {
			d.command()
			d.agree()
		}
		commands.Add(int64(d.commands))
		tasks.Add(int64(len(d.model.tasks)))
	})
	t.Logf("commands %d, tasks %d, mismatches 0, %v", commands.Load(), tasks.Load(), time.Since(began).Round(time.Millisecond))
	if commands.Load() < 10_000 && !t.Failed() {
		t.Errorf("%d commands are too few", commands.Load())
	}
}

type duel struct {
	drawn
	rows     *rows
	model    *model
	started  map[string]pulse.Task
	commands int
}

func (d *duel) command() {
	d.commands++
	switch d.pick("command", 12) {
	case 0, 1, 2:
		s := d.drawn.submission()
		d.same("submit", d.model.submit(s), submitted(d.run(pulse.Batch{Submissions: []pulse.Submission{s}}).Submissions[0]))
	case 3, 4, 5:
		d.claimAll(d.drawn.claim())
	case 6, 7:
		r := d.drawn.report()
		d.same("report", d.model.report(r), reported(d.run(pulse.Batch{Reports: []pulse.Report{r}}).Reports[0]))
	case 8:
		r := d.drawn.renewal()
		d.same("renew", d.model.renew(r), string(d.run(pulse.Batch{Renewals: []pulse.Renewal{r}}).Renewals[0].Answer))
	case 9:
		c := d.drawn.cancel()
		d.same("cancel", d.model.cancelTask(c), cancelled(d.run(pulse.Batch{Cancels: []pulse.Cancel{c}}).Cancels[0]))
	case 10:
		d.limit()
	case 11:
		d.model.now = d.model.now.Add(time.Duration(1+d.pick("seconds", 30)) * time.Second)
		d.clock()
	}
}

// clock brings everything that is due, as the scans do, and now and then something that is not.
func (d *duel) clock() {
	dues := d.dues(d.rows, d.model.now)
	for _, due := range dues {
		t := d.model.find(due.Task, due.Application)
		switch {
		case t == nil:
		case due.Kind == pulse.DueLost:
			d.model.lost(t)
		case due.Kind == pulse.DueExpired:
			d.model.expired(t)
		}
	}
	d.run(pulse.Batch{Dues: dues})
}

// claimAll repeats a claim that met blocked tasks, as a lane does, after everything due and every free key had its scan.
func (d *duel) claimAll(c pulse.Claim) {
	var dues []pulse.Due
	for id, t := range d.rows.open {
		if t.State == pulse.Delayed {
			dues = append(dues, pulse.Due{Kind: pulse.DueDelayed, Application: t.Application, Queue: t.Queue, Task: id})
		}
	}
	d.run(pulse.Batch{Dues: dues})
	d.freeKeys()
	if short := d.rows.poolMore; len(c.Queues) > 1 {
		// a list that blocked tasks have used up lets another queue go first until it is longer
		d.rows.poolMore = 1 << 20
		defer func() { d.rows.poolMore = short }()
	}
	secret := number(uint64(1_000_000 + d.commands))
	want := d.model.claim(c, secret)
	var got []string
	for more := true; more && len(got) < c.Tasks; {
		rest := c
		rest.Tasks -= len(got)
		out, ch, err := d.rows.run(d.model.now, pulse.Batch{Secret: secret, Claims: []pulse.Claim{rest}})
		if err != nil {
			d.t.Fatal(err)
		}
		d.remember(out)
		for _, s := range out.Claims[0].Started {
			got = append(got, fmt.Sprint(s.Task.ID.Text("task"), " ", s.Task.AttemptNo))
		}
		more = ch.MoreForClaims
	}
	d.same("claim", fmt.Sprint(want), fmt.Sprint(got))
}

// freeKeys wakes whoever waits for a key that nobody holds.
func (d *duel) freeKeys() {
	for again := true; again; {
		again = false
		for k, r := range d.rows.resources {
			if r.Holder.Zero() {
				d.run(pulse.Batch{Dues: []pulse.Due{{Kind: pulse.DueKey, Application: app, Key: k}}})
				again = true
			}
		}
	}
}

func (d *duel) limit() {
	queue := []uint64{queueA, queueB}[d.pick("queue", 2)]
	q, m := d.rows.queues[queue], d.model.limits[queue]
	m.openMax, m.runningMax = []int64{2, 6, 1 << 40}[d.pick("open", 3)], []int64{0, 2, 1 << 40}[d.pick("running", 3)]
	m.paused, m.draining = d.pick("pause", 5) == 0, d.pick("drain", 5) == 0
	q.OpenTasksMax, q.RunningAttemptsMax, q.Paused, q.Draining = m.openMax, m.runningMax, m.paused, m.draining
	d.rows.queues[queue] = q
	a, ma := d.rows.quotas[app], d.model.limits[app]
	ma.openMax, ma.runningMax = []int64{5, 1 << 40}[d.pick("open", 2)], []int64{3, 1 << 40}[d.pick("running", 2)]
	a.OpenTasksMax, a.RunningAttemptsMax = ma.openMax, ma.runningMax
	d.rows.quotas[app] = a
}

func (d *duel) run(b pulse.Batch) pulse.Outcomes {
	out, _, err := d.rows.run(d.model.now, b)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *duel) same(what, want, got string) {
	if want != got {
		d.t.Fatalf("%s: the model says %s, the plan %s", what, want, got)
	}
}

func (d *duel) agree() {
	for _, m := range d.model.tasks {
		id := m.sub.TaskID
		t, open := d.rows.open[id]
		if open == m.over() {
			d.t.Fatalf("%s: the model has it in %s, its open row exists: %v", id.Text("task"), m.state, open)
		}
		want := fmt.Sprintf("%s v%d", m.state, m.version)
		got := fmt.Sprintf("%s v%d", d.rows.full[id].State, d.rows.full[id].Version)
		if open {
			want += fmt.Sprintf(" attempt %d used %d lease %v stopping %v held %v available %v", m.attempt, m.used, m.lease, m.stopping && m.state == "RUNNING", m.running, m.available)
			got = fmt.Sprintf("%s v%d attempt %d used %d lease %v stopping %v held %v available %v", t.State.Public(), t.Version, t.AttemptNo, t.AttemptsUsed, t.LeaseUntil,
				!t.CancelRequestedAt.IsZero() && t.State == pulse.Running, t.PermitHeld, t.AvailableAt)
		}
		if want != got {
			d.t.Fatalf("%s: the model has %s\nthe rows %s", id.Text("task"), want, got)
		}
	}
}

func submitted(o pulse.SubmitOutcome) string {
	switch {
	case o.Refusal != nil && o.Refusal.Subject != "":
		return o.Refusal.Code + " " + o.Refusal.Subject
	case o.Refusal != nil:
		return o.Refusal.Code
	case o.Replayed:
		return "replayed " + o.TaskID.Text("task")
	}
	return "accepted " + o.TaskID.Text("task")
}

func reported(o pulse.ReportOutcome) string {
	if o.Refusal != nil {
		return o.Refusal.Code
	}
	return string(o.Status) + " " + o.TaskState.String()
}

func cancelled(o pulse.CancelOutcome) string {
	switch {
	case o.Refusal != nil:
		return o.Refusal.Code
	case o.Replayed:
		return "replayed"
	}
	return o.TaskState.String()
}
