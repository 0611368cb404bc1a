package definition

import "fmt"

// reachable adds up the literal delays of the cheapest way through the
// document. More than the deadline means no instance can ever succeed.
func (c *checker) reachable() {
	least := c.leastBody(c.def.Body)
	if c.def.DeadlineMS > 0 && least > c.def.DeadlineMS {
		c.add("deadline_unreachable", place{pointer: "/body"},
			fmt.Sprintf("the timers alone take %d ms, the instance lives %d ms", least, c.def.DeadlineMS), "")
	}
}

func (c *checker) leastBody(nodes []*Node) (total int64) {
	for _, n := range nodes {
		total += c.least(n)
	}
	return total
}

// least is the shortest time a node takes when every wait but a literal timer
// ends at once. A timer already reported counts nothing.
func (c *checker) least(n *Node) int64 {
	switch n.Kind {
	case KindTimer:
		if n.Timer.DelayMS < c.def.DeadlineMS {
			return n.Timer.DelayMS
		}
	case KindParallel:
		var longest int64
		for _, lane := range n.Parallel.Branches {
			longest = max(longest, c.leastBody(lane.Body))
		}
		return longest
	case KindBranch:
		return c.leastArm(n.Branch)
	case KindScope:
		return c.leastBody(n.Scope.Body)
	}
	return 0
}

// leastArm ignores arms that fail or ask a person: they do not lead on.
func (c *checker) leastArm(b *Branch) int64 {
	least, found := int64(0), false
	for _, arm := range b.Arms() {
		if !arm.Runs {
			continue
		}
		if cost := c.leastBody(arm.Body); !found || cost < least {
			least, found = cost, true
		}
	}
	return least
}
