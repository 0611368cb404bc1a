package definition

import (
	"fmt"

	"github.com/orbitrun/orbit/engine/exact"
)

// structure is the last phase: what only the document as a whole can break.
func (c *checker) structure() {
	c.counts()
	for _, p := range c.def.Policies {
		c.policy(p)
	}
	for _, n := range c.def.order {
		c.nesting(n)
		c.compensation(n)
		switch n.Kind {
		case KindBranch:
			c.branch(n)
		case KindTimer:
			if n.Timer.DelayMS > 0 && c.def.DeadlineMS > 0 && n.Timer.DelayMS >= c.def.DeadlineMS {
				c.add("timer_over_deadline", n.place().member("delay_ms"), fmt.Sprintf("waits %d ms, the instance lives %d ms", n.Timer.DelayMS, c.def.DeadlineMS), "")
			}
		case KindPoll:
			c.poll(n)
		}
	}
	c.reachable()
}

func (c *checker) counts() {
	queues := c.def.Queues()
	if n := len(queues); n > QueuesMax {
		c.add("limit_queues", place{pointer: "/body"}, fmt.Sprintf("%d distinct queues, at most %d", n, QueuesMax), "")
	}
}

// nesting reports only the first level too many of each subtree.
func (c *checker) nesting(n *Node) {
	if n.depth() == NestingMax+1 {
		c.add("limit_nesting", n.place(), fmt.Sprintf("nested %d levels deep, at most %d", n.depth(), NestingMax), "move the inner part into another definition")
	}
}

// compensation belongs to a scope, which says when it runs.
func (c *checker) compensation(n *Node) {
	if n.Task == nil || n.Task.Compensation == nil {
		return
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Kind == KindScope {
			return
		}
	}
	c.add("field_unknown", n.place().member("compensation").key(), "a compensation exists only inside a SCOPE", "put the task into a SCOPE, or remove the field")
}

func (c *checker) policy(p *Policy) {
	if p.AttemptTimeoutMS > 0 && p.DeadlineMS > 0 && p.AttemptTimeoutMS > p.DeadlineMS {
		c.add("deadline_order", p.at.member("attempt_timeout_ms"), fmt.Sprintf("one attempt may take %d ms, the whole task %d ms", p.AttemptTimeoutMS, p.DeadlineMS), "")
	}
	r := p.Retry
	if c.broken(r.at.pointer) {
		return
	}
	if r.Kind == RetryList && int64(len(r.DelaysMS)) != r.MaxAttempts-1 {
		c.add("retry_attempts_mismatch", r.at.member("delays_ms"), fmt.Sprintf("%d delays for %d attempts, needs %d", len(r.DelaysMS), r.MaxAttempts, r.MaxAttempts-1), "")
	}
}

func (c *checker) branch(n *Node) {
	b := n.Branch
	switch {
	case b.HasOutput():
		for _, arm := range b.Arms() {
			if arm.Runs && arm.Output == nil && !c.broken(arm.at.pointer) {
				c.add("branch_output_partial", arm.at, "this arm has no output, another arm has", "every arm with a body has an output, or none has")
			}
		}
	case b.OutputContract != nil:
		c.add("branch_output_partial", n.place().member("output_contract"), "a branch without outputs has no output contract", "write null, or give every arm an output")
	}
}

// poll checks the lists of one POLL against each other, its contracts and its
// deadline.
func (c *checker) poll(n *Node) {
	p := n.Poll
	deadline := p.DeadlineMS
	if c.def.DeadlineMS > 0 {
		deadline = min(deadline, c.def.DeadlineMS)
	}
	if deadline > 0 && p.IntervalMS > 0 && (p.MaxRounds-1)*p.IntervalMS >= deadline {
		c.add("poll_rounds_unreachable", n.place().member("max_rounds"),
			fmt.Sprintf("%d rounds every %d ms do not fit into %d ms", p.MaxRounds, p.IntervalMS, deadline), "")
	}
	c.lists(p.Classify)
	if p.FinalSignal != nil {
		c.lists(p.FinalSignal.Classify)
	}
}

// lists checks one classify against itself and against the values the contract
// lists, when it lists any.
func (c *checker) lists(k Classify) {
	if c.broken(k.at.pointer) {
		return
	}
	seen := []exact.Value{}
	for _, list := range k.lists() {
		for i, v := range list.values {
			at := k.at.member(list.name).item(i)
			switch {
			case holds(seen, v):
				c.add("poll_values_overlap", at, v.String()+" is listed twice", "")
			case k.listed != nil && !holds(k.listed, v):
				c.add("poll_value_not_in_contract", at, "the contract never gives "+v.String(), "")
			}
			seen = append(seen, v)
		}
	}
	for _, v := range k.listed {
		if !holds(seen, v) {
			c.add("poll_value_unlisted", k.at, v.String()+" is in the contract and in no list: it goes to review", "")
		}
	}
}

type namedValues struct {
	name   string
	values []exact.Value
}

func (k Classify) lists() []namedValues {
	return []namedValues{{"pending", k.Pending}, {"done", k.Done}, {"failed", k.Failed}, {"review", k.Review}}
}

func holds(list []exact.Value, v exact.Value) bool {
	for _, one := range list {
		if exact.Equal(one, v) {
			return true
		}
	}
	return false
}
