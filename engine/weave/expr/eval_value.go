package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// equal compares two scalars of one type, or anything with null. Unlike types
// are an error, never a silent false.
func (e *evaluator) equal(n *node, a, b exact.Value) (bool, *EvalError) {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() && b.IsNull(), nil
	}
	if err := e.wants(n.kids[0], a, contract.Scalar); err != nil {
		return false, err
	}
	if a.Kind() != b.Kind() {
		return false, e.fail(ReasonTypeMismatch, n.kids[1], n.kids[1].pathText(), b.Kind().String())
	}
	return e.same(n, a, b)
}

// same compares two scalars of one kind and pays for the bytes looked at.
func (e *evaluator) same(n *node, a, b exact.Value) (bool, *EvalError) {
	switch a.Kind() {
	case exact.KindBool:
		return a.Bool() == b.Bool(), nil
	case exact.KindString:
		return a.Str() == b.Str(), e.spend(n, min(len(a.Str()), len(b.Str())))
	}
	if err := e.spend(n, len(a.Token())+len(b.Token())); err != nil {
		return false, err
	}
	return a.Token() == b.Token() || exact.DecimalOf(a).Cmp(exact.DecimalOf(b)) == 0, nil
}

// in looks at every element even after a match, so that a list of mixed types
// is an error whatever the order.
func (e *evaluator) in(n *node, x, list exact.Value) (exact.Value, *EvalError) {
	if err := e.wants(n.kids[1], list, contract.Array); err != nil {
		return exact.Value{}, err
	}
	if err := e.wants(n.kids[0], x, contract.Scalar); err != nil {
		return exact.Value{}, err
	}
	found := false
	for _, item := range list.Items() {
		same, err := e.element(n, x, item)
		if err != nil {
			return exact.Value{}, err
		}
		found = found || same
	}
	return exact.Bool(found), nil
}

func (e *evaluator) element(n *node, x, item exact.Value) (bool, *EvalError) {
	if err := e.spend(n, 1); err != nil {
		return false, err
	}
	switch {
	case item.Kind() >= exact.KindArray:
	case item.IsNull() || x.IsNull():
		return item.IsNull() && x.IsNull(), nil
	case item.Kind() == x.Kind():
		return e.same(n, x, item)
	}
	return false, e.fail(ReasonTypeMismatch, n.kids[1], n.kids[1].pathText(), "a list with "+item.Kind().String())
}

// numeric is ordering and arithmetic: numbers only.
func (e *evaluator) numeric(n *node, a, b exact.Value) (exact.Value, *EvalError) {
	for i, v := range []exact.Value{a, b} {
		if err := e.wants(n.kids[i], v, contract.Number); err != nil {
			return exact.Value{}, err
		}
	}
	if err := e.spend(n, len(a.Token())+len(b.Token())); err != nil {
		return exact.Value{}, err
	}
	x, y := exact.DecimalOf(a), exact.DecimalOf(b)
	if compute := arithmetic[n.op]; compute != nil {
		result, ok := compute(x, y)
		if !ok {
			return exact.Value{}, e.fail(ReasonNumberRange, n, "", "")
		}
		return result.Value(), nil
	}
	return exact.Bool(ordering[n.op](x.Cmp(y))), nil
}

var arithmetic = map[op]func(a, b exact.Decimal) (exact.Decimal, bool){
	opAdd: exact.Decimal.Add, opSubtract: exact.Decimal.Sub, opMultiply: exact.Decimal.Mul,
}

var ordering = map[op]func(int) bool{
	opLess:         func(c int) bool { return c < 0 },
	opLessEqual:    func(c int) bool { return c <= 0 },
	opGreater:      func(c int) bool { return c > 0 },
	opGreaterEqual: func(c int) bool { return c >= 0 },
}

func runSize(e *evaluator, n *node, args []exact.Value) (exact.Value, *EvalError) {
	if args[0].Kind() != exact.KindString {
		return exact.Int(int64(args[0].Len())), nil
	}
	s := args[0].Str()
	if err := e.spend(n, len(s)); err != nil {
		return exact.Value{}, err
	}
	return exact.Int(int64(utf8.RuneCountInString(s))), nil
}

func runConcat(e *evaluator, n *node, args []exact.Value) (exact.Value, *EvalError) {
	var b strings.Builder
	for _, arg := range args {
		if err := e.spend(n, len(arg.Str())); err != nil {
			return exact.Value{}, err
		}
		b.WriteString(arg.Str())
	}
	return exact.String(b.String()), nil
}

func runText(e *evaluator, n *node, args []exact.Value) (exact.Value, *EvalError) {
	if args[0].Kind() == exact.KindBool {
		return exact.String(args[0].String()), nil
	}
	if err := e.spend(n, len(args[0].Token())); err != nil {
		return exact.Value{}, err
	}
	return exact.String(exact.DecimalOf(args[0]).String()), nil
}

func runStartsWith(e *evaluator, n *node, args []exact.Value) (exact.Value, *EvalError) {
	return exact.Bool(strings.HasPrefix(args[0].Str(), args[1].Str())), e.spend(n, min(len(args[0].Str()), len(args[1].Str())))
}

func runEndsWith(e *evaluator, n *node, args []exact.Value) (exact.Value, *EvalError) {
	return exact.Bool(strings.HasSuffix(args[0].Str(), args[1].Str())), e.spend(n, min(len(args[0].Str()), len(args[1].Str())))
}

func runContains(e *evaluator, n *node, args []exact.Value) (exact.Value, *EvalError) {
	if err := e.spend(n, len(args[0].Str())+len(args[1].Str())); err != nil {
		return exact.Value{}, err
	}
	return exact.Bool(contains(args[0].Str(), args[1].Str())), nil
}

// contains searches in time linear in both texts whatever they are; the
// library's search degrades to their product on texts made for it.
func contains(s, part string) bool {
	if len(part) <= 16 {
		return strings.Contains(s, part)
	}
	fallback := make([]int, len(part))
	for i, k := 1, 0; i < len(part); i++ {
		for k > 0 && part[i] != part[k] {
			k = fallback[k-1]
		}
		if part[i] == part[k] {
			k++
		}
		fallback[i] = k
	}
	for i, k := 0, 0; i < len(s); i++ {
		for k > 0 && s[i] != part[k] {
			k = fallback[k-1]
		}
		if s[i] == part[k] {
			k++
		}
		if k == len(part) {
			return true
		}
	}
	return false
}
