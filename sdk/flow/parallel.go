package flow

import (
	"fmt"
	"time"
)

// ParallelNode is a PARALLEL: all lanes start together, the next node waits
// for all. It has no output of its own; its steps are readable after it.
type ParallelNode struct {
	step
	lanes []LaneSpec
}

// LaneSpec is one lane of a Parallel.
type LaneSpec struct {
	label string
	nodes []Node
}

// Lane is a non-empty body with a label (at most 64 characters).
func Lane(label string, nodes ...Node) LaneSpec { return LaneSpec{label, nodes} }

// Parallel runs 2–32 lanes.
func Parallel(name string, lanes ...LaneSpec) *ParallelNode {
	return &ParallelNode{newStep(name), lanes}
}

// Describe sets the description (at most 512 characters).
func (n *ParallelNode) Describe(text string) *ParallelNode {
	n.description = text
	return n
}

func (n *ParallelNode) bodies() [][]Node {
	var list [][]Node
	for _, l := range n.lanes {
		list = append(list, l.nodes)
	}
	return list
}

func (n *ParallelNode) print(b *builder) object {
	branches := array{}
	for i, l := range n.lanes {
		if len(l.nodes) == 0 {
			b.fail("body_empty", b.at(&n.step, fmt.Sprintf("lane %d", i)), "a lane has at least one node")
		}
		branches = append(branches, object{{"label", quote(l.label)}, {"body", b.body(l.nodes)}})
	}
	if len(n.lanes) < 2 || len(n.lanes) > 32 {
		b.fail("limit_branches", b.at(&n.step, "lanes"), fmt.Sprintf("%d lanes, 2 to 32 are allowed", len(n.lanes)))
	}
	return n.start("PARALLEL").with("branches", branches)
}

// ScopeNode is a SCOPE: a body whose finished tasks are undone when the
// instance stops.
type ScopeNode struct {
	step
	deadline time.Duration
	nodes    []Node
}

// Scope undoes the Compensate side of its succeeded tasks, last finished
// first, within deadline after the stop. Reserved by the language and not yet
// runnable: today's server answers node_kind_unsupported.
func Scope(name string, deadline time.Duration, nodes ...Node) *ScopeNode {
	return &ScopeNode{newStep(name), deadline, nodes}
}

// Describe sets the description (at most 512 characters).
func (n *ScopeNode) Describe(text string) *ScopeNode {
	n.description = text
	return n
}

func (n *ScopeNode) bodies() [][]Node { return [][]Node{n.nodes} }

func (n *ScopeNode) print(b *builder) object {
	b.scopes++
	defer func() { b.scopes-- }()
	if len(n.nodes) == 0 {
		b.fail("body_empty", b.at(&n.step, "body"), "a scope has at least one node")
	}
	deadline := b.positive(b.at(&n.step, "deadline"), n.deadline)
	return n.start("SCOPE").with("compensation_deadline_ms", deadline).with("body", b.body(n.nodes))
}
