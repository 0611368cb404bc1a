package expr

import "github.com/orbitrun/orbit/engine/exact"

// Part is one subexpression that was evaluated, with its value or the reason
// it has none. Left-out sides of &&, ||, ?: and ?? do not appear.
type Part struct {
	At, End int // bytes of the expression
	Text    string
	Value   exact.Value
	Err     *EvalError
}

// Explain evaluates the expression and tells every step in the order it was
// taken; the last part is the whole expression. It is for people who ask why,
// never for a plan.
func (x *Expression) Explain(scope *Scope) []Part {
	var parts []Part
	e := &evaluator{scope: scope, left: BudgetMax}
	e.seen = func(n *node, v exact.Value, err *EvalError) {
		if n.op == opLiteral || n.op == opList {
			return
		}
		parts = append(parts, Part{At: n.at, End: n.end, Text: x.text[n.at:n.end], Value: v, Err: err})
	}
	_, _ = e.eval(x.root) // the last part holds both
	return parts
}
