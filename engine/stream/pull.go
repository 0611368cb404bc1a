package stream

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Pull is a consumer asking for deliveries.
type Pull struct {
	Holder  uint64
	Holding uint64 // the highest number the consumer still has in hand; 0: none
	Max     int
}

// PullAnswer is what a pull hands out, in stream order.
type PullAnswer struct {
	Out  []Delivery
	Wake time.Time // when something that waits becomes due; zero: nothing does
	More bool      // the stretch that was looked at is not the end
}

// pulling is one pull on its way.
type pulling struct {
	p       Pull
	now     time.Time
	c       Changes
	answer  PullAnswer
	blocked bool // in order: something earlier is not to be had
	changed bool
}

// PullPlan hands out what is due, oldest first, and then reads on as far as the window allows. rows are all deliveries
// of the subscription in order; entries are the stream from Position.Next on, without a gap; head is the first number
// that is not written yet. A paused subscription hands out nothing. Errors: *engine.Refusal "stream_broken" when the
// entries are not the continuation of what was read before.
func PullPlan(s Subscription, rows []Delivery, entries []Entry, head uint64, p Pull, now time.Time) (Changes, PullAnswer, error) {
	w := &pulling{p: p, now: now, c: Changes{After: s}}
	if s.Paused {
		w.c.Empty = true
		return w.c, w.answer, nil
	}
	for i := range rows {
		w.offer(rows[i])
	}
	if err := w.read(entries, head); err != nil {
		return w.c, PullAnswer{}, err
	}
	w.c.Empty = !w.changed
	return w.c, w.answer, nil
}

func (w *pulling) full() bool { return len(w.answer.Out) >= w.p.Max }

// offer looks at one delivery that is out already.
func (w *pulling) offer(d Delivery) {
	if w.full() || w.blocked {
		return
	}
	state, event := d.StateAt(w.now), Offer
	if d.Tries >= w.c.After.Generations {
		event = OfferSpent
	}
	mine := state == Held && w.c.After.InOrder && d.Holder == w.p.Holder
	if mine && d.Seq > w.p.Holding {
		state = Expired // an answer to this consumer was lost; it says itself that it does not have this one
	}
	switch decide(state, event) {
	case HandOut:
		w.handOut(d)
	case Bury:
		d.Dead, d.DueAt, d.Holder = true, w.now, 0
		w.c.Buried = append(w.c.Buried, Letter{Delivery: d})
		w.c.After.Pending--
		w.c.After.Dead++
		w.changed = true
	default:
		if w.answer.Wake.IsZero() || d.DueAt.Before(w.answer.Wake) {
			w.answer.Wake = d.DueAt
		}
		w.blocked = w.c.After.InOrder && !mine
	}
}

func (w *pulling) handOut(d Delivery) {
	d.Generation++
	d.Tries++
	d.Holder, d.DueAt = w.p.Holder, w.now.Add(w.c.After.AckTimeout)
	w.c.Put = append(w.c.Put, d)
	w.answer.Out = append(w.answer.Out, d)
	w.changed = true
}

// read goes on in the stream. What is not selected is passed for ever.
func (w *pulling) read(entries []Entry, head uint64) error {
	s := &w.c.After
	from := s.Next
	for i := range entries {
		if w.full() || w.blocked || s.Pending >= int64(s.Window) {
			break
		}
		e := &entries[i]
		if err := s.step(e); err != nil {
			return err
		}
		if s.AsksHandler(e) && e.Handler == "" {
			return engine.Refuse("stream_broken", "the task of an entry is gone, so nobody can say whether the entry is selected").Over(int64(e.Seq), 0)
		}
		if !s.Selects(e) {
			continue
		}
		w.handOut(Delivery{Seq: e.Seq, Previous: s.Last})
		s.Last, s.Selected, s.Pending = e.Seq, s.Selected+1, s.Pending+1
	}
	w.changed = w.changed || s.Next-from >= ScanSaveMin
	w.answer.More = s.Next < head && s.Next-from == uint64(len(entries)) && len(entries) > 0
	return nil
}

// step moves the position over one entry, which must be the next link of the chain.
func (p *Position) step(e *Entry) error {
	if e.Seq != p.Next || p.Anchored && Link(p.Hash, e) != e.Hash {
		r := engine.Refuse("stream_broken", "the stream does not continue where this subscription stopped reading; the entries in between are gone or changed")
		return r.Over(int64(p.Next), int64(e.Seq))
	}
	p.Next, p.Hash, p.Anchored = e.Seq+1, e.Hash, true
	return nil
}
