package pulse_test

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// apply writes changes as store.ApplyPulse does: same order, same fences.
func (r *rows) apply(now time.Time, c *pulse.Changes) error {
	var broken []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Errorf(format, args...))
		}
	}
	if c.Empty() {
		must(len(c.Events)+len(c.NewOpen)+len(c.Attempts)+len(c.NewResources)+len(c.FreedResources)+len(c.NewKeyWaits)+len(c.Stream)+len(c.Inbox) == 0,
			"changes that call themselves empty are not")
		return errors.Join(broken...)
	}
	for _, w := range c.Receipts {
		_, exists := r.receipts[w.Key]
		must(!exists, "receipt %v twice", w.Key)
		r.receipts[w.Key] = w.Receipt
	}
	for _, n := range c.NewTasks {
		_, exists := r.full[n.Task.ID]
		must(!exists, "task twice")
		r.full[n.Task.ID] = fullRow{n.Submission.Application, pulse.PublicQueued, 1, 0, "", n.Submission.Retry, string(n.Submission.OutputContract), n.CreatedAt, max(n.Submission.Source, pulse.SourceDirect), n.Submission, n.Task.DeadlineAt}
	}
	for _, t := range c.NewOpen {
		_, exists := r.open[t.ID]
		must(!exists, "open row twice")
		r.open[t.ID] = t
	}
	for _, w := range c.ClaimRecords {
		was, exists := r.claims[w.Key]
		must(exists == w.Known && (!exists || was.Asked < w.Record.Asked), "claim record %v: known %v, exists %v", w.Key, w.Known, exists)
		r.claims[w.Key] = w.Record
	}
	for _, w := range c.Slots {
		r.slots[w.Key] = w.Slot
	}
	for _, w := range c.Progress {
		r.progress[w.Task] = w
	}
	r.applyOpen(c, must)
	for _, e := range c.Ends {
		for _, id := range e.Tasks {
			f := r.full[id]
			must(f.State == pulse.PublicQueued || f.State == pulse.PublicReview, "a task in %s ends", f.State)
			f.State, f.Version, f.AttemptNo, f.Code = e.State, e.Version, e.AttemptNo, e.FailureCode
			r.full[id] = f
		}
	}
	for _, a := range c.Attempts {
		k := pulse.AttemptKey{Task: a.Task, No: a.No}
		_, exists := r.attempts[k]
		must(!exists, "attempt %d twice", a.No)
		r.attempts[k] = a
	}
	for _, e := range c.Events {
		must(int(e.No) == len(r.events[e.Task])+1, "event %d of a task with %d", e.No, len(r.events[e.Task]))
		r.events[e.Task] = append(r.events[e.Task], e)
	}
	for _, l := range c.Late {
		k := fmt.Sprint(l.Task, l.AttemptNo, l.Digest)
		if _, exists := r.late[k]; !exists {
			r.late[k] = l
		}
	}
	r.applyDecisions(c, must)
	for _, op := range c.Bulks {
		must(r.bulks[op.ID].State == pulse.BulkRunning, "an operation that has ended goes on")
		r.bulks[op.ID] = op
	}
	for _, w := range c.BulkItems {
		k := fmt.Sprint(w.Operation, w.Task)
		_, twice := r.bulkItems[k]
		must(!twice, "an operation judged a task twice")
		r.bulkItems[k] = w
	}
	r.applyKeys(c, must)
	for _, q := range c.Quotas {
		r.quotas[q.Application] = q
	}
	for _, w := range c.Rates {
		q := r.queues[w.Queue]
		q.Rate = w.Rate
		r.queues[w.Queue] = q
	}
	for _, q := range c.Queues {
		q.Rate = r.queues[q.ID].Rate
		r.queues[q.ID] = q
	}
	r.inbox, r.stream, r.audits = append(r.inbox, c.Inbox...), append(r.stream, c.Stream...), append(r.audits, c.Audits...)
	return errors.Join(broken...)
}

type demand func(ok bool, format string, args ...any)

// applyOpen changes open rows: starts, renewals, parks, rewrites, closes.
func (r *rows) applyOpen(c *pulse.Changes, must demand) {
	change := func(id engine.ID, from pulse.State, f func(*pulse.Task)) {
		t, ok := r.open[id]
		must(ok && t.State == from, "%s: state %d instead of %d", id.Text("task"), t.State, from)
		f(&t)
		r.open[id] = t
	}
	for _, s := range c.Starts {
		for _, id := range s.Tasks {
			change(id, pulse.Queued, func(t *pulse.Task) {
				t.State, t.PermitHeld, t.CancelRequestedAt = pulse.Running, true, time.Time{}
				t.Version, t.AttemptNo, t.AttemptsUsed = t.Version+1, t.AttemptNo+1, t.AttemptsUsed+1
				t.StartedAt, t.LeaseUntil, t.Worker, t.Token = s.StartedAt, s.LeaseUntil, s.Worker, pulse.AttemptToken(s.Secret, id)
			})
		}
	}
	for _, s := range c.Renewals {
		for _, id := range s.Tasks {
			change(id, pulse.Running, func(t *pulse.Task) { t.LeaseUntil = s.LeaseUntil })
		}
	}
	for _, s := range c.Parks {
		for _, id := range s.Tasks {
			change(id, s.From, func(t *pulse.Task) { t.State = s.To })
		}
	}
	for _, t := range c.Rewrites {
		was, ok := r.open[t.ID]
		must(ok, "a row that does not exist is rewritten")
		fixed := was // columns that UpdateOpenTask leaves alone
		fixed.State, fixed.Version, fixed.AttemptNo, fixed.AttemptsUsed, fixed.PermitHeld = t.State, t.Version, t.AttemptNo, t.AttemptsUsed, t.PermitHeld
		fixed.AvailableAt, fixed.StartedAt, fixed.LeaseUntil = t.AvailableAt, t.StartedAt, t.LeaseUntil
		fixed.CancelRequestedAt, fixed.Token, fixed.Worker = t.CancelRequestedAt, t.Token, t.Worker
		must(fixed == t, "a frozen column changed")
		r.open[t.ID] = t
	}
	for _, id := range c.Closes {
		_, ok := r.open[id]
		must(ok, "a row that does not exist is closed")
		delete(r.open, id)
	}
}

// applyKeys changes resource rows and waits: inserts before deletes, as the store writes them.
func (r *rows) applyKeys(c *pulse.Changes, must demand) {
	for _, n := range c.NewResources {
		_, exists := r.resources[n.Key]
		must(!exists, "resource %q twice", n.Key)
		r.resources[n.Key] = n
	}
	for _, n := range c.Resources {
		_, exists := r.resources[n.Key]
		must(exists, "resource %q updated before it exists", n.Key)
		r.resources[n.Key] = n
	}
	for _, k := range c.FreedResources {
		_, exists := r.resources[k]
		must(exists, "resource %q freed twice", k)
		delete(r.resources, k)
	}
	for _, w := range c.NewKeyWaits {
		if r.waits[w.Key] == nil {
			r.waits[w.Key] = map[engine.ID]pulse.KeyWait{}
		}
		_, exists := r.waits[w.Key][w.Task]
		must(!exists, "a task waits twice for %q", w.Key)
		r.waits[w.Key][w.Task] = w
	}
	for _, w := range c.GoneKeyWaits {
		must(reflect.DeepEqual(r.waits[w.Key][w.Task], w), "a wait for %q that is not there is removed", w.Key)
		delete(r.waits[w.Key], w.Task)
	}
}

// check recomputes every counter from the rows it counts, and holds the rows to what must be true at every commit.
func (r *rows) check() error {
	var broken []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Errorf(format, args...))
		}
	}
	type count struct{ open, running, bytes int64 }
	apps, queues, holders := map[uint64]count{}, map[uint64]count{}, map[string]engine.ID{}
	for id, t := range r.open {
		running := int64(0)
		if t.State == pulse.Running {
			running = 1
		}
		a, q := apps[t.Application], queues[t.Queue]
		apps[t.Application] = count{a.open + 1, a.running + running, a.bytes + int64(t.InputBytes)}
		queues[t.Queue] = count{q.open + 1, q.running + running, 0}
		must(int(t.Version) == len(r.events[id]), "version %d, %d events", t.Version, len(r.events[id]))
		must(t.AttemptsUsed <= t.MaxAttempts, "%d attempts used of %d", t.AttemptsUsed, t.MaxAttempts)
		must(t.State != pulse.Running || t.PermitHeld, "a running task holds no permit")
		must((t.State == pulse.Running) == !t.LeaseUntil.IsZero(), "state %d with lease end %v", t.State, t.LeaseUntil)
		must(t.LeaseUntil.IsZero() || !t.LeaseUntil.After(t.AttemptDeadline()), "a lease goes beyond its attempt")
		must(t.State != pulse.Review == (r.full[id].State == pulse.PublicQueued), "open state %d, full state %s", t.State, r.full[id].State)
		_, waits := r.waits[t.ResourceKey][id]
		must(waits == (t.State == pulse.Blocked), "state %d, waiting for its key: %v", t.State, waits)
		if t.ResourceKey != "" && t.PermitHeld {
			_, two := holders[t.ResourceKey]
			must(!two, "two tasks run or are unknown under key %q", t.ResourceKey)
			holders[t.ResourceKey] = id
		}
	}
	for id, f := range r.full {
		_, open := r.open[id]
		must(open != f.State.Terminal(), "full state %s, open row: %v", f.State, open)
	}
	for id, q := range r.quotas {
		want := apps[id]
		must(q.OpenTasks == want.open && q.RunningAttempts == want.running && q.OpenPayloadBytes == want.bytes, "quota %+v, rows %+v", q, want)
	}
	for id, q := range r.queues {
		must(q.OpenTasks == queues[id].open && q.RunningAttempts == queues[id].running, "queue %+v, rows %+v", q, queues[id])
	}
	for k, res := range r.resources {
		must(int(res.Waiters) == len(r.waits[k]), "key %q counts %d waiters of %d", k, res.Waiters, len(r.waits[k]))
		must(res.Holder == holders[k], "key %q is held by %s in its row, by %s in the tasks", k, res.Holder.Text("task"), holders[k].Text("task"))
		must(!res.Holder.Zero() || res.Waiters > 0, "key %q has a row for nobody", k)
		delete(holders, k)
	}
	for k, waits := range r.waits {
		_, exists := r.resources[k]
		must(exists || len(waits) == 0, "tasks wait for key %q, which has no row", k)
	}
	must(len(holders) == 0, "keys held without a row: %v", holders)
	return errors.Join(broken...)
}
