package pulse

import "github.com/orbitrun/orbit/engine"

// collect turns what every touched task was and is into the fewest statements: sets where rows share their values,
// whole rows where they do not.
func (p *planner) collect() {
	starts, renewals, parks := map[leaseKey]int{}, map[int64]int{}, map[[2]State]int{}
	for _, w := range p.order {
		switch {
		case w.fresh && w.gone:
		case w.fresh:
			p.ch.NewOpen = append(p.ch.NewOpen, w.now)
		case w.gone:
			p.ch.Closes = append(p.ch.Closes, w.now.ID)
		case w.now == w.before:
		case w.started():
			key := leaseKey{w.now.Worker, w.now.LeaseUntil.UnixMicro()}
			set := grouped(&p.ch.Starts, starts, key, StartSet{Secret: p.b.Secret, Worker: w.now.Worker, StartedAt: w.now.StartedAt, LeaseUntil: w.now.LeaseUntil})
			set.Tasks = append(set.Tasks, w.now.ID)
		case w.renewed():
			set := grouped(&p.ch.Renewals, renewals, w.now.LeaseUntil.UnixMicro(), RenewSet{LeaseUntil: w.now.LeaseUntil})
			set.Tasks = append(set.Tasks, w.now.ID)
		case w.now.Version == w.before.Version && w.before.State.Waiting() && w.now.State.Waiting():
			set := grouped(&p.ch.Parks, parks, [2]State{w.before.State, w.now.State}, ParkSet{From: w.before.State, To: w.now.State})
			set.Tasks = append(set.Tasks, w.now.ID)
		default:
			p.ch.Rewrites = append(p.ch.Rewrites, w.now)
		}
	}
	p.keepResources()
	p.ch.Quotas, p.ch.Queues = p.usage.Dirty()
	p.ch.Rates = p.usage.Rates()
}

// grouped returns the set of a key, new or known.
func grouped[K comparable, S any](sets *[]S, index map[K]int, key K, empty S) *S {
	at, ok := index[key]
	if !ok {
		at = len(*sets)
		index[key] = at
		*sets = append(*sets, empty)
	}
	return &(*sets)[at]
}

// started reports a start and nothing else: the row was queued and one version older.
func (w *work) started() bool {
	return w.before.State == Queued && w.now.State == Running && w.now.Version == w.before.Version+1
}

// renewed reports a longer lease and nothing else.
func (w *work) renewed() bool {
	same := w.now
	same.LeaseUntil = w.before.LeaseUntil
	return w.before.State == Running && same == w.before
}

// TaskIDs lists the tasks a batch names, for the locks of its transaction.
func (b *Batch) TaskIDs() []engine.ID {
	var ids []engine.ID
	for i := range b.Reports {
		ids = append(ids, b.Reports[i].Task)
	}
	for i := range b.Renewals {
		ids = append(ids, b.Renewals[i].Task)
	}
	for i := range b.Cancels {
		ids = append(ids, b.Cancels[i].Task)
	}
	for i := range b.Reviews {
		ids = append(ids, b.Reviews[i].Task)
	}
	for i := range b.Pages {
		ids = append(ids, b.Pages[i].Tasks...)
	}
	for i := range b.Dues {
		if b.Dues[i].Kind != DueKey {
			ids = append(ids, b.Dues[i].Task)
		}
	}
	return ids
}
