package flow

import (
	"fmt"
	"reflect"
)

// BranchNode is a BRANCH: the first case whose condition holds, else the
// default. Out is the type every arm's Output has; None for a branch without.
type BranchNode[Out any] struct {
	step
	arms []*Arm
}

// Branch decides once, when it is reached; the choice is never recomputed.
// The arms are one or more When and, last, one Otherwise.
func Branch[Out any](name string, arms ...*Arm) *BranchNode[Out] {
	n := &BranchNode[Out]{step: newStep(name), arms: arms}
	n.output = func() bool { return n.outputs() > 0 }
	return n
}

// Out is the chosen arm's output; only a branch whose arms have one has it.
func (n *BranchNode[Out]) Out() Value[Out] { return outputOf[Out](&n.step) }

// Describe sets the description (at most 512 characters).
func (n *BranchNode[Out]) Describe(text string) *BranchNode[Out] {
	n.description = text
	return n
}

// Arm is one way through a Branch: a body with an optional Output, or Fail, or
// Review.
type Arm struct {
	condition *Value[bool] // nil in Otherwise
	nodes     []Node
	output    any
	hasOutput bool
	stop      string // "", "fail" or "review"
	reason    string
}

// When is the arm taken if the condition is the first that holds. The body may
// be empty.
func When(condition Value[bool], nodes ...Node) *Arm {
	return &Arm{condition: &condition, nodes: nodes}
}

// Otherwise is the arm taken when no condition held.
func Otherwise(nodes ...Node) *Arm { return &Arm{nodes: nodes} }

// Output is what the branch gives to later steps: the only way out of an arm.
func (a *Arm) Output(template any) *Arm {
	a.output, a.hasOutput = template, true
	return a
}

// Fail ends the branch as FAILED with a stable reason ([a-z0-9_], 1–64).
func (a *Arm) Fail(reason string) *Arm {
	a.stop, a.reason = "fail", reason
	return a
}

// Review hands the branch to a person with a stable reason ([a-z0-9_], 1–64).
func (a *Arm) Review(reason string) *Arm {
	a.stop, a.reason = "review", reason
	return a
}

func (n *BranchNode[Out]) outputs() (count int) {
	for _, a := range n.arms {
		if a != nil && a.hasOutput {
			count++
		}
	}
	return count
}

func (n *BranchNode[Out]) bodies() [][]Node {
	var list [][]Node
	for _, a := range n.arms {
		if a != nil {
			list = append(list, a.nodes)
		}
	}
	return list
}

func (n *BranchNode[Out]) print(b *builder) object {
	contract := b.contracts.reference(reflect.TypeFor[Out]())
	n.checkArms(b)
	cases, otherwise := array{}, any(null)
	for i, a := range n.arms {
		switch {
		case a == nil:
		case a.condition == nil:
			otherwise = n.arm(b, a, "default", object{})
		default:
			where := fmt.Sprintf("case %d", i)
			when := b.value(b.at(&n.step, where+" when"), a.condition, boolType, false, nil)
			cases = append(cases, n.arm(b, a, where, object{{"when", when}}))
		}
	}
	o := n.start("BRANCH").with("output_contract", contract)
	return o.with("cases", cases).with("default", otherwise)
}

func (n *BranchNode[Out]) arm(b *builder, a *Arm, name string, o object) object {
	where := b.at(&n.step, name)
	if a.stop != "" {
		b.checkSyntax(reasonSyntax, a.reason, where+" "+a.stop)
		if len(a.nodes) > 0 || a.hasOutput {
			b.fail("arm_shape", where, a.stop+" stands alone, without body and output")
		}
		return o.with(a.stop, quote(a.reason))
	}
	o = o.with("body", b.body(a.nodes))
	if !a.hasOutput {
		return o
	}
	return o.with("output", b.template(where+" output", a.output, reflect.TypeFor[Out]()))
}

// checkArms holds the rules of the whole: one default, in the last place, and
// an output on every body arm or on none.
func (n *BranchNode[Out]) checkArms(b *builder) {
	where, bodies, defaults := b.at(&n.step, "arms"), 0, 0
	for i, a := range n.arms {
		switch {
		case a == nil:
			b.fail("arm_shape", where, "an arm is nil")
			continue
		case a.condition == nil && i == len(n.arms)-1:
			defaults++
		case a.condition == nil:
			b.fail("arm_shape", where, "Otherwise stands last, once")
		}
		if a.stop == "" {
			bodies++
		}
	}
	if defaults == 0 || len(n.arms) < 2 {
		b.fail("arm_shape", where, "a branch needs at least one When and an Otherwise")
	}
	switch outputs := n.outputs(); {
	case outputs > 0 && outputs < bodies:
		b.fail("branch_output_partial", where, "either every arm with a body has an Output or none has")
	case outputs > 0 && kindOf(reflect.TypeFor[Out]()) == kindNone:
		b.fail("type_mismatch", where, "Branch[flow.None] has no output")
	case outputs == 0 && kindOf(reflect.TypeFor[Out]()) != kindNone:
		b.fail("branch_output_partial", where, "no arm has an Output; make it Branch[flow.None]")
	}
}
