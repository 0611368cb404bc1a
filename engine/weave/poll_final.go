package weave

import (
	"time"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// receive lets a final signal end the POLL: at once when nothing is in flight, else as soon as the running query has
// its real outcome. Facts come here in the order in which they came true, so a result that was earlier has won already.
func (poll) receive(p *planner, n *definition.Node, s Signal) {
	q, ok := p.poll(n)
	if !ok {
		return
	}
	w, ok := p.wait(n.Number, q.DeadlineAt)
	if !ok {
		return
	}
	class := p.match(&s, &w)
	if class == "" && w.State != WaitPending {
		class = SignalDuplicate
	}
	if class != "" {
		p.settleSignal(s, class)
		return
	}
	at := p.applySignal(s, w)
	u := p.ruleSignal(n, &s)
	q.Verdict, q.Reason, q.Output = u.verdict, u.reason, u.output
	if q.Current.Zero() {
		p.win(n, q, at, true)
		return
	}
	p.polls.put(p, q.Activation, q)
}

// ruleSignal sorts a final signal as the definition says. Its content has been held against its contract already.
func (p *planner) ruleSignal(n *definition.Node, s *Signal) ruling {
	content, bad := exact.Parse(s.Content, exact.PayloadLimits)
	if bad != nil {
		return reviewing(RoundReview, StepOnReview, "content_unreadable", "content_unreadable")
	}
	f := n.Poll.FinalSignal
	return p.sort(n, &f.Classify, f.Output, expr.Scope{Signal: &content})
}

// verdictEvents is what the verdict of a final signal makes of the step and of the instance.
var verdictEvents = map[Verdict]struct {
	on     StepEvent
	effect func(p *planner, reason string)
}{
	VerdictDone:   {StepOnSucceed, func(*planner, string) {}},
	VerdictFailed: {StepOnFail, func(p *planner, _ string) { p.fail("step_failed") }},
	VerdictReview: {StepOnReview, func(p *planner, reason string) { p.review(reason) }},
}

// win settles the step by the stored verdict of the final signal.
func (p *planner) win(n *definition.Node, q Poll, at time.Time, ends bool) {
	v := verdictEvents[q.Verdict]
	s := p.closePoll(n, q, v.on, q.Reason, at, ends)
	if v.on == StepOnSucceed {
		s.Output = q.Output
	}
	v.effect(p, q.Reason)
}

const reasonContradict = "poll_outcomes_contradict"

// afterWinner meets the real outcome of a query that a final signal has overtaken. One that says nothing about the
// matter (PENDING, a failed or cancelled request) leaves the signal's verdict; one that is unknown or says something
// else is a person's.
func (p *planner) afterWinner(n *definition.Node, q Poll, r *Result, u *ruling, answered bool) {
	switch {
	case r.TaskState == pulse.PublicReview:
		p.rule(n, q, r, *u)
	case answered && u.verdict != VerdictPending && u.verdict != q.Verdict:
		p.rule(n, q, r, reviewing(u.round, StepOnReview, reasonContradict, reasonContradict))
	default:
		w := p.waits.rows[q.Activation]
		p.win(n, q, w.SettledAt, true)
	}
}

// overtaken lists the queries that a final signal has overtaken and whose outcome is still awaited. They are cancelled
// by Pulse's ordinary cancel; their permits stay until the real outcome.
func (p *planner) overtaken() []Overtaken {
	var out []Overtaken
	for i := 1; i < len(p.steps); i++ {
		if s := &p.steps[i]; s.State == StepActive {
			q := p.polls.rows[s.Activation]
			if q.Verdict != VerdictNone && !q.Current.Zero() {
				out = append(out, Overtaken{p.now.Application, p.g.Version.Queues[p.node(s.No).Poll.Task.Queue], q.Current})
			}
		}
	}
	return out
}
