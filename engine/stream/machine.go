package stream

import (
	"fmt"
	"time"
)

// State is where a delivery stands; see the package comment.
type State uint8

// The states of a delivery.
const (
	Held State = iota
	Expired
	Delayed
	Ready
	Dead
	Settled
	statesEnd
)

func (s State) String() string {
	return [...]string{"HELD", "EXPIRED", "DELAYED", "READY", "DEAD", "SETTLED"}[s]
}

// Event is what happens to a delivery.
type Event uint8

// The events. "Latest" and "Older" speak of the generation that was named; "Spent" means that the budget is used up.
const (
	AckLatest Event = iota
	AckOlder
	NackLatest
	NackSpent
	NackOlder
	Release
	Offer
	OfferSpent
	Redeliver
	eventsEnd
)

func (e Event) String() string {
	return [...]string{"ack", "ack older", "nack", "nack spent", "nack older", "release", "offer", "offer spent", "redeliver"}[e]
}

// Step is what to do about it.
type Step uint8

// The steps. None is for pairs that callers cannot make; meeting one is a bug.
const (
	None       Step = iota
	Settle          // delete the row, count down
	Same            // the same answer again, nothing changes
	Superseded      // refuse: a newer generation is out
	Postpone        // nobody has it, due after the delay
	Return          // nobody has it, due now, and the try is given back
	Gone            // refuse to postpone what was acknowledged
	Pass            // not to be had now
	HandOut         // next generation, to this consumer
	Bury            // to the dead letters
	Revive          // from the dead letters, with a new budget
	NotDead         // there is no such dead letter
)

func (s Step) String() string {
	return [...]string{"none", "settle", "same", "superseded", "postpone", "return", "gone", "pass", "hand out", "bury", "revive", "not dead"}[s]
}

// machine is the whole behaviour of a delivery. A nack that comes again finds the row without holder and changes
// nothing, so its delay does not start anew; an ack after a nack of the same generation is believed.
var machine = map[State]map[Event]Step{
	Held:    {AckLatest: Settle, AckOlder: Superseded, NackLatest: Postpone, NackSpent: Bury, NackOlder: Superseded, Release: Return, Offer: Pass, OfferSpent: Pass, Redeliver: NotDead},
	Expired: {AckLatest: Settle, AckOlder: Superseded, NackLatest: Postpone, NackSpent: Bury, NackOlder: Superseded, Release: Return, Offer: HandOut, OfferSpent: Bury, Redeliver: NotDead},
	Delayed: {AckLatest: Settle, AckOlder: Superseded, NackLatest: Same, NackSpent: Same, NackOlder: Superseded, Release: Same, Offer: Pass, OfferSpent: Pass, Redeliver: NotDead},
	Ready:   {AckLatest: Settle, AckOlder: Superseded, NackLatest: Same, NackSpent: Same, NackOlder: Superseded, Release: Same, Offer: HandOut, OfferSpent: Bury, Redeliver: NotDead},
	Dead:    {AckLatest: Settle, AckOlder: Superseded, NackLatest: Same, NackSpent: Same, NackOlder: Superseded, Release: Same, Redeliver: Revive},
	Settled: {AckLatest: Same, AckOlder: Same, NackLatest: Gone, NackSpent: Gone, NackOlder: Gone, Release: Gone, Redeliver: NotDead},
}

// decide looks a pair up.
func decide(s State, e Event) Step {
	step := machine[s][e]
	if step == None {
		panic(fmt.Sprintf("stream: %s in state %s", e, s))
	}
	return step
}

// StateAt is where a delivery stands at a time.
func (d *Delivery) StateAt(now time.Time) State {
	due := !now.Before(d.DueAt)
	switch {
	case d.Dead:
		return Dead
	case d.Holder != 0 && !due:
		return Held
	case d.Holder != 0:
		return Expired
	case !due:
		return Delayed
	}
	return Ready
}
