package stream

import (
	"time"
)

// Claim names one delivery and shows its proof.
type Claim struct {
	Seq        uint64
	Generation uint32
	Proof      string
}

// Nack is a claim that refuses the delivery.
type Nack struct {
	Claim
	Delay    time.Duration
	Reason   string
	Returned bool // it was never begun; the try is given back and Delay does not count
}

// Outcome of one claim. The same claim again gets the same outcome as long as nothing else happened in between.
type Outcome string

// Outcomes.
const (
	Acknowledged Outcome = "ACKNOWLEDGED"
	WasReplaced  Outcome = "SUPERSEDED" // a newer generation is out; this consumer's is void
	Unknown      Outcome = "UNKNOWN"    // never handed out, or before the position was changed
	Postponed    Outcome = "POSTPONED"
	IsDead       Outcome = "DEAD_LETTER"
)

// settling is one batch of claims on its way.
type settling struct {
	c    Changes
	now  time.Time
	rows map[uint64]*Delivery // rows that were touched are as they will be
	put  map[uint64]bool
}

func newSettling(s Subscription, rows []Delivery, now time.Time) *settling {
	w := &settling{c: Changes{After: s}, now: now, rows: map[uint64]*Delivery{}, put: map[uint64]bool{}}
	for i := range rows {
		w.rows[rows[i].Seq] = &rows[i]
	}
	return w
}

// find is the delivery a claim speaks of: its row (nil when settled), its state, and whether the generation is the latest.
func (w *settling) find(c Claim) (d *Delivery, state State, latest bool) {
	d = w.rows[c.Seq]
	if d == nil {
		return nil, Settled, true
	}
	return d, d.StateAt(w.now), d.Generation == c.Generation
}

// AckPlan acknowledges. rows are the deliveries and dead letters of the claims, as they are held.
func AckPlan(s Subscription, rows []Delivery, claims []Claim, now time.Time) (Changes, []Outcome) {
	w := newSettling(s, rows, now)
	out := make([]Outcome, len(claims))
	for i, c := range claims {
		out[i] = w.ack(c)
	}
	return w.done(), out
}

func (w *settling) ack(c Claim) Outcome {
	if !w.c.After.Proves(c) {
		return Unknown
	}
	d, state, latest := w.find(c)
	event := AckOlder
	if latest {
		event = AckLatest
	}
	switch decide(state, event) {
	case Superseded:
		return WasReplaced
	case Settle:
		if d.Dead {
			w.c.Cleared = append(w.c.Cleared, c.Seq)
			w.c.After.Dead--
		} else {
			w.c.Settled = append(w.c.Settled, c.Seq)
			w.c.After.Pending--
		}
		delete(w.rows, c.Seq)
	}
	return Acknowledged
}

// NackPlan refuses deliveries: each comes again after its delay, or goes to the dead letters with its reason.
func NackPlan(s Subscription, rows []Delivery, nacks []Nack, now time.Time) (Changes, []Outcome) {
	w := newSettling(s, rows, now)
	out := make([]Outcome, len(nacks))
	for i := range nacks {
		out[i] = w.nack(&nacks[i])
	}
	return w.done(), out
}

func (w *settling) event(n *Nack, d *Delivery, latest bool) Event {
	switch {
	case !latest:
		return NackOlder
	case n.Returned:
		return Release
	case d != nil && d.Tries >= w.c.After.Generations:
		return NackSpent
	}
	return NackLatest
}

func (w *settling) nack(n *Nack) Outcome {
	if !w.c.After.Proves(n.Claim) {
		return Unknown
	}
	d, state, latest := w.find(n.Claim)
	switch decide(state, w.event(n, d, latest)) {
	case Superseded:
		return WasReplaced
	case Gone:
		return Acknowledged
	case Postpone:
		d.Holder, d.DueAt = 0, w.now.Add(n.Delay)
		w.put[d.Seq] = true
	case Return:
		d.Holder, d.DueAt, d.Tries = 0, w.now, max(d.Tries-1, 0)
		w.put[d.Seq] = true
	case Bury:
		d.Dead, d.DueAt, d.Holder = true, w.now, 0
		w.c.Buried = append(w.c.Buried, Letter{*d, n.Reason})
		w.c.After.Pending--
		w.c.After.Dead++
	}
	if d.Dead {
		return IsDead
	}
	return Postponed
}

func (w *settling) done() Changes {
	for seq := range w.put {
		w.c.Put = append(w.c.Put, *w.rows[seq])
	}
	sortBySeq(w.c.Put)
	w.c.Empty = len(w.c.Put)+len(w.c.Settled)+len(w.c.Buried)+len(w.c.Cleared) == 0
	return w.c
}
