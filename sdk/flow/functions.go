package flow

import (
	"fmt"
	"reflect"
	"strings"
)

// The functions of the expression language (definition.md §4.3, §4.4). Where a
// parameter is any, a Value or a Go constant is meant; a string constant
// beside a Number is a number, spelled as written.

var (
	boolType   = reflect.TypeFor[bool]()
	numberType = reflect.TypeFor[Number]()
	stringType = reflect.TypeFor[string]()
)

// Eq is a == b: one scalar type on both sides, or nil.
func Eq[T any](a Value[T], b any) Value[bool] { return equality(a, "==", b) }

// Ne is a != b.
func Ne[T any](a Value[T], b any) Value[bool] { return equality(a, "!=", b) }

func equality[T any](a Value[T], operator string, b any) Value[bool] {
	left, right := a.expression(), operand(b, a.goType())
	e := binary(left, operator, right)
	if why := unlisted(left, right); why != "" {
		e.fail("condition_constant", "%s", why)
	}
	return Value[bool]{e}
}

func binary(left expression, operator string, right expression) expression {
	return combine(left.at(levelAdd)+" "+operator+" "+right.at(levelAdd), levelCompare, left, right)
}

// AtLeast is a >= b.
func AtLeast(a Value[Number], b any) Value[bool] { return order(a, ">=", b) }

// AtMost is a <= b.
func AtMost(a Value[Number], b any) Value[bool] { return order(a, "<=", b) }

// MoreThan is a > b.
func MoreThan(a Value[Number], b any) Value[bool] { return order(a, ">", b) }

// LessThan is a < b.
func LessThan(a Value[Number], b any) Value[bool] { return order(a, "<", b) }

func order(a Value[Number], operator string, b any) Value[bool] {
	return Value[bool]{binary(a.expression(), operator, operand(b, numberType))}
}

// OneOf is a in [constants].
func OneOf[T any](a Value[T], constants ...any) Value[bool] {
	e := a.expression()
	texts, parts, missed := make([]string, 0, len(constants)), []expression{e}, ""
	for _, c := range constants {
		l := literalFor(c, a.goType())
		if why := unlisted(e, l); why != "" {
			missed = why
		}
		texts, parts = append(texts, l.text), append(parts, l)
	}
	result := combine(e.at(levelAdd)+" in ["+strings.Join(texts, ", ")+"]", levelCompare, parts...)
	if missed != "" {
		result.fail("condition_constant", "%s", missed)
	}
	return Value[bool]{result}
}

// And is true when all are; evaluated left to right, stops at the first false.
func And(first Value[bool], more ...Value[bool]) Value[bool] {
	return logical(" && ", levelAnd, first, more)
}

// Or is true when one is; evaluated left to right, stops at the first true.
func Or(first Value[bool], more ...Value[bool]) Value[bool] {
	return logical(" || ", levelOr, first, more)
}

func logical(operator string, l level, first Value[bool], more []Value[bool]) Value[bool] {
	if len(more) == 0 {
		return first
	}
	texts, parts := []string{}, []expression{}
	for _, v := range append([]Value[bool]{first}, more...) {
		e := v.expression()
		texts, parts = append(texts, e.at(l)), append(parts, e)
	}
	return Value[bool]{combine(strings.Join(texts, operator), l, parts...)}
}

// Not is !a.
func Not(a Value[bool]) Value[bool] {
	e := a.expression()
	return Value[bool]{combine("!"+e.at(levelUnary), levelUnary, e)}
}

// Has is true when the path is present; a null counts as present.
func Has[T any](path Value[T]) Value[bool] { return Value[bool]{pathCall("has", path.expression())} }

// Must is the value of the path, present and not null; otherwise the step goes
// to review.
func Must[T any](path Value[T]) Value[T] { return Value[T]{pathCall("must", path.expression())} }

func pathCall(name string, path expression) expression {
	e := combine(name+"("+path.text+")", levelPrimary, path)
	if !path.path {
		e.fail("expression_arguments", "%s(%s): only a path can be asked for", name, path.text)
	}
	return e
}

// OrValue is path ?? x: x when the path is missing or null.
func OrValue[T any](path Value[T], x any) Value[T] {
	return Value[T]{coalesce(path.expression(), operand(x, path.goType()))}
}

// OrNull is path ?? null.
func OrNull[T any](path Value[T]) Value[T] {
	return Value[T]{coalesce(path.expression(), literal(nil, path.goType()))}
}

// OrOmit leaves the member out when the path is missing or null. It may only
// be the whole value of an Object member.
func OrOmit[T any](path Value[T]) Value[T] {
	e := coalesce(path.expression(), expression{text: "omit", level: levelPrimary})
	e.omits = true
	return Value[T]{e}
}

// coalesce may end in an omit: the last operand of a chain is the one place
// the grammar has for it.
func coalesce(path, fallback expression) expression {
	omits := fallback.omits
	fallback.omits = false
	e := combine(path.text+" ?? "+fallback.at(levelPrimary), levelPrimary, path, fallback)
	e.omits = omits
	if !path.path {
		e.fail("expression_syntax", "%s has no missing case: only a path can have a fallback", path.text)
	}
	return e
}

// If is then when the condition holds, otherwise the other.
func If[T any](condition Value[bool], then Value[T], otherwise any) Value[T] {
	c, a, b := condition.expression(), then.expression(), operand(otherwise, then.goType())
	omits := a.omits || b.omits
	a.omits, b.omits = false, false
	e := combine(fmt.Sprintf("%s ? %s : %s", c.at(levelOr), a.text, b.text), levelTernary, c, a, b)
	e.omits = omits
	return Value[T]{e}
}

// Concat joins strings, at most 16.
func Concat(parts ...any) Value[string] {
	texts, operands := []string{}, []expression{}
	for _, p := range parts {
		o := operand(p, stringType)
		texts, operands = append(texts, o.text), append(operands, o)
	}
	e := combine("concat("+strings.Join(texts, ", ")+")", levelPrimary, operands...)
	if len(parts) == 0 || len(parts) > 16 {
		e.fail("expression_arguments", "flow.Concat has %d parts, 1 to 16 are allowed", len(parts))
	}
	return Value[string]{e}
}

// Size counts code points of a string, items of a list, members of an object.
func Size[T any](v Value[T]) Value[Number] { return call[Number]("size", v.expression()) }

// Text is the canonical spelling of a number or boolean.
func Text[T any](v Value[T]) Value[string] { return call[string]("text", v.expression()) }

// StartsWith, EndsWith and Contains compare exact code points.
func StartsWith(s Value[string], part any) Value[bool] {
	return call[bool]("startsWith", s.expression(), operand(part, stringType))
}

// EndsWith is true when s ends with part.
func EndsWith(s Value[string], part any) Value[bool] {
	return call[bool]("endsWith", s.expression(), operand(part, stringType))
}

// Contains is true when part occurs in s.
func Contains(s Value[string], part any) Value[bool] {
	return call[bool]("contains", s.expression(), operand(part, stringType))
}

func call[T any](name string, arguments ...expression) Value[T] {
	texts := []string{}
	for _, a := range arguments {
		texts = append(texts, a.text)
	}
	return Value[T]{combine(name+"("+strings.Join(texts, ", ")+")", levelPrimary, arguments...)}
}

// Add is a + b, exact.
func Add(a Value[Number], b any) Value[Number] { return arithmetic(a, "+", b, levelAdd) }

// Sub is a - b, exact.
func Sub(a Value[Number], b any) Value[Number] { return arithmetic(a, "-", b, levelAdd) }

// Mul is a * b, exact.
func Mul(a Value[Number], b any) Value[Number] { return arithmetic(a, "*", b, levelMultiply) }

func arithmetic(a Value[Number], operator string, b any, l level) Value[Number] {
	left, right := a.expression(), operand(b, numberType)
	text := left.at(l) + " " + operator + " " + right.at(l+1)
	return Value[Number]{combine(text, l, left, right)}
}
