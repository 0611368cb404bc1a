package expr

import (
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// evaluator computes one expression. What is left of the budget passes from
// one expression of a template to the next.
type evaluator struct {
	scope   *Scope
	left    int
	pointer string
	omitted bool
	seen    func(n *node, v exact.Value, err *EvalError) // nil unless explaining
}

// Eval computes a bare expression within a budget of BudgetMax units or less.
// Omitted reports that the expression asks to leave its member out; the value
// is then null.
func (x *Expression) Eval(scope *Scope, budget int) (v exact.Value, omitted bool, err *EvalError) {
	e := &evaluator{scope: scope, left: budget}
	v, err = e.eval(x.root)
	return v, e.omitted, err
}

func (e *evaluator) fail(reason string, n *node, path, found string) *EvalError {
	return &EvalError{Reason: reason, Pointer: e.pointer, Offset: n.at, Path: path, Found: found}
}

func (e *evaluator) spend(n *node, units int) *EvalError {
	if e.left -= units; e.left < 0 {
		return e.fail(ReasonBudget, n, "", "")
	}
	return nil
}

func (e *evaluator) eval(n *node) (exact.Value, *EvalError) {
	v, err := e.compute(n)
	if e.seen != nil {
		e.seen(n, v, err)
	}
	return v, err
}

func (e *evaluator) compute(n *node) (exact.Value, *EvalError) {
	if err := e.spend(n, 1); err != nil {
		return exact.Value{}, err
	}
	switch n.op {
	case opLiteral, opList:
		return n.value, nil
	case opOmit:
		e.omitted = true
		return exact.Null(), nil
	case opPath, opDefault, opHas, opMust:
		return e.path(n)
	case opAnd, opOr:
		return e.logic(n)
	case opChoose:
		return e.choose(n)
	}
	return e.strict(n)
}

// strict evaluates every operand, then the operation.
func (e *evaluator) strict(n *node) (exact.Value, *EvalError) {
	var room [4]exact.Value
	args := room[:0]
	for _, kid := range n.kids {
		v, err := e.eval(kid)
		if err != nil {
			return exact.Value{}, err
		}
		args = append(args, v)
	}
	switch n.op {
	case opCall:
		return e.call(n, args)
	case opNot:
		if err := e.wants(n.kids[0], args[0], contract.Boolean); err != nil {
			return exact.Value{}, err
		}
		return exact.Bool(!args[0].Bool()), nil
	case opNegate:
		if err := e.wants(n.kids[0], args[0], contract.Number); err != nil {
			return exact.Value{}, err
		}
		return exact.DecimalOf(args[0]).Neg().Value(), e.spend(n, len(args[0].Token()))
	case opEqual, opUnequal:
		same, err := e.equal(n, args[0], args[1])
		return exact.Bool(same == (n.op == opEqual)), err
	case opIn:
		return e.in(n, args[0], args[1])
	}
	return e.numeric(n, args[0], args[1])
}

// wants refuses an operand of another type. The error names the operand's
// path, so that a person sees which value was wrong.
func (e *evaluator) wants(n *node, v exact.Value, allowed contract.Types) *EvalError {
	if allowed.Has(contract.TypeOf(v)) {
		return nil
	}
	return e.fail(ReasonTypeMismatch, n, n.pathText(), v.Kind().String())
}

func (n *node) pathText() string {
	if n.path == nil {
		return ""
	}
	return n.path.String()
}

func (e *evaluator) logic(n *node) (exact.Value, *EvalError) {
	for i, kid := range n.kids {
		v, err := e.boolean(kid)
		if err != nil || i == 1 || v.Bool() == (n.op == opOr) {
			return v, err
		}
	}
	return exact.Value{}, nil
}

func (e *evaluator) boolean(n *node) (exact.Value, *EvalError) {
	v, err := e.eval(n)
	if err != nil {
		return v, err
	}
	return v, e.wants(n, v, contract.Boolean)
}

func (e *evaluator) choose(n *node) (exact.Value, *EvalError) {
	condition, err := e.boolean(n.kids[0])
	if err != nil {
		return exact.Value{}, err
	}
	if condition.Bool() {
		return e.eval(n.kids[1])
	}
	return e.eval(n.kids[2])
}

func (e *evaluator) call(n *node, args []exact.Value) (exact.Value, *EvalError) {
	for i, arg := range args {
		if err := e.wants(n.kids[i], arg, n.call.argument); err != nil {
			return exact.Value{}, err
		}
	}
	return n.call.run(e, n, args)
}
