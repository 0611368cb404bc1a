package cron

import "time"

// Overlap says what a slot does while the task of an earlier slot has not ended. The numbers are those of
// schedule_version.overlap.
type Overlap uint8

// Misfire says what becomes of slots older than the catch-up window. The numbers are those of schedule_version.misfire.
type Misfire uint8

// Outcome is what became of a slot. The numbers are those of schedule_trigger.outcome.
type Outcome uint8

// The policies and outcomes (pulse.md Schedules).
const (
	OverlapAllow    Overlap = 1
	OverlapSkip     Overlap = 2
	OverlapQueueOne Overlap = 3

	MisfireSkip     Misfire = 1
	MisfireFireOnce Misfire = 2

	Fired          Outcome = 1 // has a task
	SkippedMisfire Outcome = 2 // its time was over before it could fire
	SkippedOverlap Outcome = 3 // an earlier task had not ended
	SkippedPaused  Outcome = 4 // the schedule was paused
	SkippedClock   Outcome = 5 // a wall-clock time that does not exist, or its second occurrence
	Merged         Outcome = 6 // another slot stands for it
)

// Policy is what one version declares.
type Policy struct {
	Overlap Overlap
	Misfire Misfire
	CatchUp time.Duration // how late a slot may still fire
}

// SlotsPerDecision bounds one transaction; what is left is decided by the next.
const SlotsPerDecision = 200

// BytesPerDecision bounds the inputs of the tasks one decision fires.
const BytesPerDecision = 1 << 20

// Plan is everything a decision may look at.
type Plan struct {
	Timing     Timing
	Policy     Policy
	Now        time.Time // of the database
	Last       time.Time // the slot before Next, or when the version came into force
	Next       time.Time // first slot that is not decided; zero: none
	Until      time.Time // slots from here on belong to the next version; zero: there is none
	Paused     bool
	SkipBefore time.Time // slots before it came while the schedule was paused
	Waiting    time.Time // the slot that waits for the task before it; zero: none
	Open       bool      // the task of the last slot that fired has not ended
	InputBytes int       // of one task
	// Admit counts one more task, or says why there is no room. It is asked once for each slot that would fire; waited
	// means the waiting slot, whose version may be an older one.
	Admit func(waited bool) (refusal string, ok bool)
}

// Slot is a decided slot.
type Slot struct {
	At      time.Time
	Outcome Outcome
	Into    time.Time // of Merged
	Reason  string    // code of what stood in the way; or the wall-clock time
	Clock   bool      // not a slot but a wall-clock time that did not become one
	Waited  bool      // it was the waiting slot
}

// Decision leaves no choice.
type Decision struct {
	Slots   []Slot
	Last    time.Time
	Next    time.Time // first slot that is not decided; zero: none is left in this version
	Ended   bool      // what comes belongs to the next version
	Waiting time.Time
	Blocked string // why the decision stopped: a limit is met, the slot is tried again
	More    bool   // the decision was cut
}

// decider is a decision in the making.
type decider struct {
	Plan
	out     Decision
	fired   int
	waiting time.Time
	stand   time.Time // what stands in for slots that are too late
}

// Decide judges every slot that has come, oldest first, until none is left, the decision is full, or a limit stands in
// the way of a slot that may still fire later.
func Decide(p Plan) Decision {
	d := &decider{Plan: p, waiting: p.Waiting}
	d.out.Last, d.out.Next = p.Last, p.Next
	d.wake()
	for d.due() && d.out.Blocked == "" {
		if len(d.out.Slots) >= SlotsPerDecision || d.fired*max(p.InputBytes, 1) >= BytesPerDecision {
			d.out.More = true
			break
		}
		at := d.out.Next
		slot, decided := d.judge(at)
		if !decided {
			break
		}
		d.silences(at)
		if !slot.At.IsZero() {
			d.out.Slots = append(d.out.Slots, slot)
		}
		d.advance(at)
	}
	d.end()
	d.out.Waiting = d.waiting
	return d.out
}

func (d *decider) due() bool {
	return !d.out.Next.IsZero() && d.mine(d.out.Next) && !d.out.Next.After(d.Now)
}

func (d *decider) advance(at time.Time) {
	next, ok := d.Timing.Next(at)
	if !ok {
		next = time.Time{}
	}
	d.out.Last, d.out.Next = at, next
}

// end closes a version whose slots are all decided.
func (d *decider) end() {
	if d.out.Blocked != "" || d.out.More || d.Until.IsZero() || d.due() {
		return
	}
	d.silences(d.Until)
	d.out.Ended = true
}

// silences records the wall-clock times between the last slot and a time that did not become slots.
func (d *decider) silences(until time.Time) {
	d.out.Slots = append(d.out.Slots, Silences(d.Timing, d.out.Last, until)...)
}

// Silences are the records of what a timing's declarations took away or moved in [from, until).
func Silences(t Timing, from, until time.Time) []Slot {
	var out []Slot
	for _, s := range t.Silent(from, until) {
		slot := Slot{At: s.At, Outcome: SkippedClock, Into: s.Into, Reason: s.Local, Clock: true}
		if !s.Into.IsZero() {
			slot.Outcome = Merged
		}
		out = append(out, slot)
	}
	return out
}

// judge decides one slot. An empty slot that is decided has become the waiting one.
func (d *decider) judge(at time.Time) (slot Slot, decided bool) {
	if d.Paused || at.Before(d.SkipBefore) {
		return Slot{At: at, Outcome: SkippedPaused}, true
	}
	late := d.late(at)
	if late {
		if d.Policy.Misfire == MisfireSkip {
			return Slot{At: at, Outcome: SkippedMisfire}, true
		}
		if stands := d.standIn(at); !stands.Equal(at) {
			return Slot{At: at, Outcome: Merged, Into: stands}, true
		}
	}
	if d.Open {
		switch d.Policy.Overlap {
		case OverlapSkip:
			return Slot{At: at, Outcome: SkippedOverlap}, true
		case OverlapQueueOne:
			if !d.waiting.IsZero() {
				return Slot{At: at, Outcome: Merged, Into: d.waiting}, true
			}
			d.waiting = at
			return Slot{}, true
		}
	}
	return d.fire(at, late, false)
}

func (d *decider) late(at time.Time) bool { return d.Now.Sub(at) > d.Policy.CatchUp }

// standIn is the slot that fires once for a slot that is too late: the first that is not, else the last that has come.
func (d *decider) standIn(at time.Time) time.Time {
	if at.Before(d.stand) {
		return d.stand
	}
	d.stand = d.findStandIn(at)
	return d.stand
}

func (d *decider) findStandIn(at time.Time) time.Time {
	if next, ok := d.Timing.Next(d.Now.Add(-d.Policy.CatchUp - time.Nanosecond)); ok && !next.After(d.Now) && d.mine(next) {
		return next
	}
	last := at
	for n := 0; n < SlotsPerDecision; n++ {
		next, ok := d.Timing.Next(last)
		if !ok || next.After(d.Now) || !d.mine(next) {
			return last
		}
		last = next
	}
	return last // there are more: the next decision goes on from here
}

func (d *decider) mine(slot time.Time) bool { return d.Until.IsZero() || slot.Before(d.Until) }

// fire makes a task, or keeps the slot for another try while it is not too late.
func (d *decider) fire(at time.Time, late, waited bool) (Slot, bool) {
	refusal, ok := d.Admit(waited)
	switch {
	case ok:
		d.fired++
		d.Open = true
		return Slot{At: at, Outcome: Fired, Waited: waited}, true
	case late:
		return Slot{At: at, Outcome: SkippedMisfire, Reason: refusal, Waited: waited}, true
	}
	d.out.Blocked = refusal
	return Slot{}, false
}

// wake fires the waiting slot once the task before it has ended. It was in time when it came; a full queue may still
// make it too late.
func (d *decider) wake() {
	if d.waiting.IsZero() || d.Open || d.Paused {
		return
	}
	slot, decided := d.fire(d.waiting, d.late(d.waiting), true)
	if decided {
		d.out.Slots = append(d.out.Slots, slot)
		d.waiting = time.Time{}
	}
}
