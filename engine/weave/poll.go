package weave

import (
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// poll is the POLL node: rounds of one task each, until an answer or a final signal ends it.
type poll struct{}

func (poll) receives(n *definition.Node) *definition.Receive {
	if n.Poll.FinalSignal == nil {
		return nil
	}
	return &n.Poll.FinalSignal.Receive
}

// activate computes input, keys and correlation once and asks the first round at once.
func (k poll) activate(p *planner, n *definition.Node) *Trouble {
	t := n.Poll.Task
	input, trouble := p.value(t.Input)
	if trouble == nil {
		trouble = obeys(t.InputContract, input, t.Input, "input_contract_broken")
	}
	q := Poll{Step: uint16(n.Number), StartedAt: p.g.Now}
	if trouble == nil {
		q.BusinessKey, trouble = p.key(t.BusinessKey)
	}
	if trouble == nil {
		q.ResourceKey, trouble = p.key(t.ResourceKey)
	}
	correlation := ""
	if trouble == nil && n.Poll.FinalSignal != nil {
		correlation, trouble = p.correlation(n.Poll.FinalSignal.Correlation)
	}
	if trouble != nil {
		return trouble
	}
	a := p.activation(n)
	a.DeadlineAt = earlier(p.g.Now.Add(milliseconds(n.Poll.DeadlineMS)), p.now.DeadlineAt)
	q.Activation, q.DeadlineAt, q.Input = a.ID, a.DeadlineAt, input.Append(nil)
	p.enter(n, a)
	if f := n.Poll.FinalSignal; f != nil {
		w := p.openWait(&a, CheckpointPoll, n.Poll.DeadlineMS, p.now.DeadlineAt)
		w.expect(&f.Receive, correlation)
		p.waits.put(p, w.Activation, w)
	}
	q.State = PollWaiting
	p.polls.put(p, q.Activation, q)
	if n.Poll.FinalSignal != nil {
		p.receiveEarly(k, n) // what was sent early may leave nothing to ask
	}
	if p.steps[n.Number].State == StepActive {
		p.ask(n, q)
	}
	return nil
}

// ask creates the task of the next round with what the first round froze.
func (p *planner) ask(n *definition.Node, q Poll) {
	t := n.Poll.Task
	r := Round{
		Task: p.ids(), Activation: q.Activation, No: q.UsedRounds + 1, State: RoundAsking, CreatedAt: p.g.Now,
		DeadlineAt: earlier(p.g.Now.Add(milliseconds(t.Policy.DeadlineMS)), q.DeadlineAt),
	}
	q.State, q.UsedRounds, q.Current, q.Last, q.NextAt = PollAsking, r.No, r.Task, r.Task, time.Time{}
	p.polls.put(p, q.Activation, q)
	p.rounds.put(p, r.Task, r)
	s := p.submission(t, &Activation{ID: q.Activation, Task: r.Task, DeadlineAt: r.DeadlineAt})
	s.Input, s.BusinessKey, s.ResourceKey = q.Input, q.BusinessKey, q.ResourceKey
	p.work = append(p.work, Work{Submission: s, Task: pulse.Accept(&s, p.g.Now)})
}

// walk begins the next round when its time has come and something may start. What stands in the way costs no round and
// moves no deadline.
func (poll) walk(p *planner, n *definition.Node) progress {
	q, ok := p.poll(n)
	if !ok || q.State != PollWaiting || !p.passed(q.NextAt) || !p.g.Now.Before(q.DeadlineAt) || !p.mayStart() {
		return ongoing
	}
	if !p.continuous(&q) {
		p.unsound[n.Number] = true
		p.contradict(reasonPoll)
		return ongoing
	}
	p.ask(n, q)
	return ongoing
}

// clock applies the deadline. A round that is in flight keeps its task, its permit and the step: only its real outcome
// settles it (weave.md POLL).
func (poll) clock(p *planner, n *definition.Node) {
	q, ok := p.poll(n)
	if !ok || q.Overdue || q.Verdict != VerdictNone || !p.g.Now.After(q.DeadlineAt) || !p.spend() {
		return
	}
	if q.State == PollWaiting {
		p.closePoll(n, q, StepOnReview, reasonPollDeadline, q.DeadlineAt, true)
		p.review(reasonPollDeadline)
		return
	}
	q.Overdue = true
	p.polls.put(p, q.Activation, q)
	p.closeWait(n, WaitExpired, q.DeadlineAt)
	p.review(reasonPollDeadline)
}

const reasonPollDeadline = "poll_deadline"

// due is the next round's time while one is awaited, else the deadline; nothing once the deadline was said, because then
// only the outcome of the query matters.
func (poll) due(p *planner, n *definition.Node) time.Time {
	q := p.polls.rows[p.steps[n.Number].Activation]
	end := q.DeadlineAt.Add(time.Microsecond)
	switch {
	case p.unsound[n.Number] || q.State == PollSettled:
		return time.Time{}
	case q.Verdict != VerdictNone:
		return p.again(&q, time.Time{}) // the cancel of the overtaken query may have been lost
	case q.Overdue:
		return time.Time{}
	case q.State == PollAsking || p.now.State != InstanceRunning:
		return end
	case !p.passed(q.NextAt):
		return earlier(q.NextAt, end)
	}
	return p.again(&q, end)
}

// again is when a poll that can do nothing yet is looked at once more, at most at its end. A look that is already to
// come is left alone.
func (p *planner) again(q *Poll, end time.Time) time.Time {
	have := p.g.checkpoint(q.Step)
	if have != nil && have.DueAt.After(p.g.Now) && have.Activation == q.Activation && !have.DueAt.After(p.g.Now.Add(heldRetry)) && (end.IsZero() || !have.DueAt.After(end)) {
		return have.DueAt
	}
	retry := p.g.Now.Add(heldRetry)
	if p.withheld != nil {
		retry = p.g.Now.Add(withheldRetry)
	}
	if end.IsZero() {
		return retry
	}
	return earlier(retry, end)
}

// halt closes a POLL that waits; one in flight is waited for.
func (poll) halt(p *planner, n *definition.Node) bool {
	q := p.polls.rows[p.steps[n.Number].Activation]
	if q.State != PollWaiting || !p.spend() {
		return false
	}
	p.closePoll(n, q, StepOnCancel, "stopped", p.g.Now, true)
	return true
}

// closePoll settles the step and its rounds, and what waited beside them.
func (p *planner) closePoll(n *definition.Node, q Poll, on StepEvent, reason string, at time.Time, ends bool) *Step {
	q.State, q.Current, q.NextAt, q.SettledAt = PollSettled, engine.ID{}, time.Time{}, at
	p.polls.put(p, q.Activation, q)
	state := WaitClosed
	if reason == reasonPollDeadline {
		state = WaitExpired
	}
	p.closeWait(n, state, at)
	s := p.settleStep(n.Number, on, reason, at)
	if ends {
		p.endActivation(s.Activation, at)
	}
	return s
}
