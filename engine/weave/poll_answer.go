package weave

import (
	"slices"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// StaleRound is a result of an earlier round than the one in flight.
const StaleRound Class = "STALE_ROUND"

// ruling is what an answer means: for the round, for the step, and for the instance.
type ruling struct {
	round   RoundState
	verdict Verdict
	on      StepEvent
	reason  string
	output  []byte
	effect  func(p *planner)
}

func reviewing(round RoundState, on StepEvent, reason, instance string) ruling {
	return ruling{round: round, verdict: VerdictReview, on: on, reason: reason, effect: func(p *planner) { p.review(instance) }}
}

// unanswered are the results that carry no answer. A new round is never used to dodge the attempts of one.
var unanswered = map[pulse.Public]ruling{
	pulse.PublicFailed:    reviewing(RoundReview, StepOnReview, "poll_round_failed", "poll_round_failed"),
	pulse.PublicCancelled: reviewing(RoundCancelled, StepOnCancel, "task_cancelled", "step_cancelled"),
	pulse.PublicReview:    reviewing(RoundReview, StepOnReview, "task_unknown", "task_unknown"),
}

// collect judges the result of the round in flight.
func (poll) collect(p *planner, n *definition.Node, r *Result) Class {
	q, ok := p.poll(n)
	if !ok {
		return StepMismatch
	}
	if q.Current != r.Task {
		return StaleRound
	}
	u, answered := unanswered[r.TaskState], r.TaskState == pulse.PublicSucceeded
	if answered {
		answer, bad := exact.Parse(r.Output, exact.PayloadLimits)
		if bad != nil {
			return OutputUnreadable
		}
		u = p.ruleAnswer(n, answer)
	}
	round := p.rounds.rows[r.Task]
	round.State, round.SettledAt = u.round, r.OccurredAt
	p.rounds.put(p, r.Task, round)
	switch {
	case q.Verdict != VerdictNone:
		p.afterWinner(n, q, r, &u, answered)
	case answered && r.OccurredAt.After(q.DeadlineAt):
		p.rule(n, q, r, reviewing(u.round, StepOnReview, reasonPollDeadline, reasonPollDeadline))
	case u.verdict == VerdictPending:
		p.pending(n, q, r)
	default:
		p.rule(n, q, r, u)
	}
	return Consumed
}

// rule settles the step by what the answer means.
func (p *planner) rule(n *definition.Node, q Poll, r *Result, u ruling) {
	s := p.closePoll(n, q, u.on, u.reason, r.OccurredAt, r.TaskState.Terminal())
	if u.on == StepOnSucceed {
		s.Output = u.output
	}
	if u.effect != nil {
		u.effect(p)
	}
}

// pending lets the next round wait for its time: that of the authoritative answer and the interval, within the deadline.
func (p *planner) pending(n *definition.Node, q Poll, r *Result) {
	if int64(q.UsedRounds) >= n.Poll.MaxRounds {
		p.rule(n, q, r, reviewing(RoundPending, StepOnReview, "poll_rounds_exhausted", "poll_rounds_exhausted"))
		return
	}
	q.State, q.Current, q.NextAt = PollWaiting, engine.ID{}, earlier(r.OccurredAt.Add(milliseconds(n.Poll.IntervalMS)), q.DeadlineAt)
	p.polls.put(p, q.Activation, q)
}

// ruleAnswer sorts a round's answer as the definition says.
func (p *planner) ruleAnswer(n *definition.Node, answer exact.Value) ruling {
	if c := n.Poll.Task.OutputContract; c != nil && !c.Schema.Accepts(answer) {
		return reviewing(RoundReview, StepOnReview, "output_contract_broken", "output_contract_broken")
	}
	return p.sort(n, &n.Poll.Classify, n.Poll.Output, expr.Scope{Result: &answer})
}

// sort finds what a definition makes of a value, and computes the step's output where it is final.
func (p *planner) sort(n *definition.Node, c *definition.Classify, output *definition.Template, scope expr.Scope) ruling {
	value, trouble := p.valueIn(c.Value, scope)
	if trouble != nil {
		return p.troubledRuling(trouble)
	}
	lists := func(values []exact.Value) bool {
		return slices.ContainsFunc(values, func(v exact.Value) bool { return exact.Equal(v, value) })
	}
	switch {
	case lists(c.Pending):
		return ruling{round: RoundPending, verdict: VerdictPending}
	case lists(c.Failed):
		return ruling{round: RoundFailed, verdict: VerdictFailed, on: StepOnFail, reason: "poll_value_failed", effect: func(p *planner) { p.fail("step_failed") }}
	case lists(c.Review):
		return reviewing(RoundReview, StepOnReview, "poll_value_review", "poll_value_review")
	case !lists(c.Done):
		return reviewing(RoundReview, StepOnReview, "poll_value_unlisted", "poll_value_unlisted")
	}
	v, trouble := p.valueIn(output, scope)
	if trouble == nil {
		trouble = obeys(n.Poll.OutputContract, v, output, "computed_output_broken")
	}
	if trouble != nil {
		return p.troubledRuling(trouble)
	}
	return ruling{round: RoundDone, verdict: VerdictDone, on: StepOnSucceed, output: v.Append(nil)}
}

// troubledRuling is an answer whose meaning cannot be computed.
func (p *planner) troubledRuling(t *Trouble) ruling {
	u := reviewing(RoundReview, StepOnReview, t.Reason, t.Reason)
	u.effect = func(p *planner) { p.troubled(t) }
	return u
}
