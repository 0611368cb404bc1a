package weave

import (
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// PollState is where the rounds of one activation stand. The numbers are those of weave_poll.state.
type PollState uint8

// States of a POLL: a round is in flight, the next one waits for its time, or nothing follows.
const (
	PollAsking  PollState = 1
	PollWaiting PollState = 2
	PollSettled PollState = 3
)

var pollNames = map[PollState]string{PollAsking: "ASKING", PollWaiting: "WAITING", PollSettled: "SETTLED"}

func (s PollState) String() string { return pollNames[s] }

// Poll is what a POLL keeps between its rounds. Input, keys and deadline are those of the first round for ever; nothing
// is evaluated again (weave.md POLL).
type Poll struct {
	Activation               engine.ID
	Step                     uint16
	State                    PollState
	UsedRounds               uint16
	Current, Last            engine.ID // the task in flight, zero while none is; the task of the last round
	StartedAt, DeadlineAt    time.Time // deadline = min(StartedAt + deadline_ms, the instance's)
	NextAt                   time.Time // while it waits
	SettledAt                time.Time
	Overdue                  bool    // the deadline passed while a round was in flight, and that was said
	Verdict                  Verdict // of the final signal that was applied, while its query is still in flight
	Reason                   string  // beside it
	Output                   []byte  // beside it
	Input                    []byte
	BusinessKey, ResourceKey string
}

func pollID(q *Poll) engine.ID { return q.Activation }

// RoundState is what became of one round. The numbers are those of weave_poll_round.state.
type RoundState uint8

// States of a round. Only one that was answered PENDING is followed by another.
const (
	RoundAsking    RoundState = 1
	RoundPending   RoundState = 2 // POLL_PENDING
	RoundDone      RoundState = 3
	RoundFailed    RoundState = 4 // the answer says that it failed
	RoundReview    RoundState = 5 // request failed, effect unknown, answer invalid or for a person
	RoundCancelled RoundState = 6
)

var roundNames = map[RoundState]string{
	RoundAsking: "ASKING", RoundPending: "POLL_PENDING", RoundDone: "DONE", RoundFailed: "FAILED", RoundReview: "NEEDS_REVIEW", RoundCancelled: "CANCELLED",
}

func (s RoundState) String() string { return roundNames[s] }

// Round is one business round: one task, whatever number of attempts that takes.
type Round struct {
	Task, Activation     engine.ID
	No                   uint16
	State                RoundState
	CreatedAt, SettledAt time.Time
	DeadlineAt           time.Time
}

func roundID(r *Round) engine.ID { return r.Task }

// Verdict is what a definition makes of an answer or a final signal. The numbers are those of weave_poll.verdict.
type Verdict uint8

// Verdicts. Review carries a reason: a listed value, one that is not listed, or one that cannot be computed.
const (
	VerdictNone    Verdict = 0
	VerdictPending Verdict = 1
	VerdictDone    Verdict = 2
	VerdictFailed  Verdict = 3
	VerdictReview  Verdict = 4
)

const reasonPoll = "poll_contradiction"

// poll finds the sound state of a POLL step's current activation. What cannot have been stored is a contradiction, and
// nothing is decided on it.
func (p *planner) poll(n *definition.Node) (Poll, bool) {
	a := p.g.Activations[p.steps[n.Number].Activation]
	q, ok := p.polls.rows[p.steps[n.Number].Activation]
	if ok && (p.polls.touched[q.Activation] || p.soundPoll(n, &q, &a)) {
		return q, true
	}
	p.unsound[n.Number] = true
	p.contradict(reasonPoll)
	return q, false
}

func (p *planner) soundPoll(n *definition.Node, q *Poll, a *Activation) bool {
	end := q.StartedAt.Add(time.Duration(n.Poll.DeadlineMS) * time.Millisecond)
	return int(q.Step) == n.Number && !q.StartedAt.After(a.CreatedAt) && q.DeadlineAt.Equal(earlier(end, p.now.DeadlineAt)) &&
		q.UsedRounds >= 1 && int64(q.UsedRounds) <= n.Poll.MaxRounds && q.Current.Zero() == (q.State != PollAsking)
}

// continuous reports whether the rounds so far allow another: without a gap, none in flight, the last one answered
// PENDING.
func (p *planner) continuous(q *Poll) bool {
	last, ok := p.rounds.rows[q.Last]
	return ok && q.Current.Zero() && last.Activation == q.Activation && last.No == q.UsedRounds && last.State == RoundPending &&
		p.g.RoundCounts[q.Activation] == int(q.UsedRounds)
}
