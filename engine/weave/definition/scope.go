package definition

import (
	"fmt"

	"github.com/orbitrun/orbit/engine/weave/expr"
)

// stepSet holds the steps certainly finished at some point of the document.
type stepSet map[*Node]bool

func (s stepSet) with(more ...*Node) stepSet {
	out := make(stepSet, len(s)+len(more))
	for n := range s {
		out[n] = true
	}
	for _, n := range more {
		out[n] = true
	}
	return out
}

// scopes holds, for every node, what is finished when it starts and what is
// finished once its parts are (definition.md §3 "Definitely finished").
type scopes struct {
	entry map[*Node]stepSet
	arms  map[*Arm]stepSet // after the arm's body
	items map[*Node]stepSet
	end   stepSet // after the document's body
}

func newScopes(d *Definition) *scopes {
	s := &scopes{entry: map[*Node]stepSet{}, arms: map[*Arm]stepSet{}, items: map[*Node]stepSet{}}
	s.end = s.body(d.Body, stepSet{})
	return s
}

// body walks one sequence and returns what is finished after it.
func (s *scopes) body(nodes []*Node, before stepSet) stepSet {
	for _, n := range nodes {
		s.entry[n] = before
		before = before.with(s.done(n, before)...)
	}
	return before
}

// done returns what a node adds once it is finished. Nothing a branch arm or a
// map body ran is certain afterwards; only what the node itself puts out is.
func (s *scopes) done(n *Node, before stepSet) []*Node {
	switch n.Kind {
	case KindParallel:
		var all []*Node
		for _, lane := range n.Parallel.Branches {
			all = append(all, added(s.body(lane.Body, before), before)...)
		}
		return all
	case KindBranch:
		for _, arm := range n.Branch.Arms() {
			s.arms[arm] = s.body(arm.Body, before)
		}
		if !n.Branch.HasOutput() {
			return nil
		}
	case KindMap:
		s.items[n] = s.body(n.Map.Body, before)
	case KindScope:
		return added(s.body(n.Scope.Body, before), before)
	}
	return []*Node{n}
}

func added(after, before stepSet) (nodes []*Node) {
	for n := range after {
		if !before[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// at returns what a place that computes something may read.
func (s *scopes) at(where *site) stepSet {
	switch where.role {
	case roleDocument:
		return s.end
	case roleArm:
		return s.arms[where.arm]
	case roleItem:
		return s.items[where.node]
	case roleCompensation:
		return s.entry[where.node].with(where.node)
	default:
		return s.entry[where.node]
	}
}

// scope judges every read of every expression that could be parsed.
func (c *checker) scope() {
	c.scopes = newScopes(c.def)
	for _, where := range c.sites {
		if c.full() {
			return
		}
		if where.refused {
			continue
		}
		for _, ref := range where.template.Refs() {
			if c.full() {
				return
			}
			c.read(where, ref)
		}
	}
}

func (c *checker) read(where *site, ref expr.Ref) {
	if ref.Path.Root != expr.RootSteps {
		if !where.allows(ref.Path.Root) {
			c.refuse(where, ref, "scope_root", quote(ref.Path.Root)+" does not exist here", rootHint(ref.Path.Root))
		}
		return
	}
	target := c.def.nodes[ref.Path.Step]
	if target == nil && c.lost {
		where.refused = true
		return
	}
	if target == nil {
		c.refuse(where, ref, "scope_unknown_step", "there is no step "+quote(ref.Path.Step), didYouMean(ref.Path.Step, c.def.stepNames()))
		return
	}
	if code, detail, hint := c.unreadable(where, target); code != "" {
		c.refuse(where, ref, code, detail, hint)
	}
}

// unreadable says why a step cannot be read from a place, or "" when it can.
func (c *checker) unreadable(where *site, target *Node) (code, detail, hint string) {
	reader, name := where.node, quote(target.Name)
	switch {
	case c.scopes.at(where)[target]:
		return "", "", ""
	case reader == nil:
		return hidden(target, nil)
	case target == reader || target.contains(reader):
		return "scope_self", name + " is not finished here", selfHint(where)
	case reader.contains(target):
		return inside(where, target)
	}
	common := reader.Parent
	for common != nil && !common.contains(target) {
		common = common.Parent
	}
	mine, theirs := outermost(reader, common), outermost(target, common)
	switch {
	case mine.Part != theirs.Part:
		return sibling(target, theirs, common)
	case theirs.Position > mine.Position:
		return "scope_forward", name + " runs later", ""
	}
	return hidden(target, common)
}

// inside explains a branch or map that reads one of its own inner steps.
func inside(where *site, target *Node) (code, detail, hint string) {
	theirs := outermost(target, where.node)
	switch {
	case where.role == roleArm && where.node.Branch.Arms()[theirs.Part] != where.arm:
		return sibling(target, theirs, where.node)
	case where.role == roleArm || where.role == roleItem:
		return hidden(target, where.node)
	}
	return "scope_forward", quote(target.Name) + " runs later, inside " + quote(where.node.Name), ""
}

func sibling(target, theirs, common *Node) (code, detail, hint string) {
	if common.Kind == KindParallel {
		return "scope_sibling", fmt.Sprintf("%s runs beside this, in branch %s of %s", quote(target.Name), quote(common.Parallel.Branches[theirs.Part].Label), quote(common.Name)),
			"read it after " + quote(common.Name)
	}
	return "scope_sibling", fmt.Sprintf("%s runs in another arm, %s of %s", quote(target.Name), common.armName(theirs.Part), quote(common.Name)), ""
}

// hidden explains a step that ran before, inside something that does not let
// it out: an arm, a map, or a node without an output of its own.
func hidden(target, common *Node) (code, detail, hint string) {
	name, keeper := quote(target.Name), (*Node)(nil)
	for n := target.Parent; n != common; n = n.Parent {
		if n.Kind == KindBranch || n.Kind == KindMap {
			keeper = n
		}
	}
	switch {
	case keeper == nil:
		return "scope_no_output", name + " is a " + string(target.Kind) + " and has no output", noOutputHint(target)
	case keeper.Kind == KindMap:
		return "scope_branch_arm", name + " runs once per item of " + quote(keeper.Name), readInstead(keeper)
	}
	return "scope_branch_arm", fmt.Sprintf("%s runs only in %s of %s", name, keeper.armName(outermost(target, keeper).Part), quote(keeper.Name)), readInstead(keeper)
}

func readInstead(keeper *Node) string {
	if keeper.Kind == KindBranch && !keeper.Branch.HasOutput() {
		return "give " + quote(keeper.Name) + " an output"
	}
	return "read ${steps." + keeper.Name + ".output}"
}

func noOutputHint(n *Node) string {
	switch n.Kind {
	case KindBranch:
		return "give every arm of it an output"
	default:
		return "read the steps inside it"
	}
}

func selfHint(where *site) string {
	if where.role == roleResult {
		return "the answer of this round is ${result}"
	}
	if where.role == roleSignal {
		return "the content of the signal is ${signal}"
	}
	return ""
}

func rootHint(root string) string {
	switch root {
	case "result":
		return "result exists only in classify and output of a POLL"
	case "signal":
		return "signal exists only in final_signal of a POLL"
	case "item", "index":
		return root + " exists only inside a MAP"
	}
	return "one of input, steps, instance"
}
