package flow

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
)

// Value is a value known only when the instance runs: the input, the output of
// a step, a member of either, or something computed from them. T is the Go
// type of the JSON value. The zero Value is not usable.
type Value[T any] struct{ e expression }

type anyValue interface {
	expression() expression
	goType() reflect.Type
}

func (v Value[T]) expression() expression {
	if v.e.text == "" {
		v.e = expression{text: "null", level: levelPrimary, constant: null}
		v.e.fail("field_missing", "an empty flow.Value[%s] was used", typeName(v.goType()))
	}
	return v.e
}
func (v Value[T]) goType() reflect.Type { return reflect.TypeFor[T]() }

// String is the text of the expression, without its ${ } mark.
func (v Value[T]) String() string { return v.expression().text }

// MarshalJSON refuses: a Value inside a Go struct would be lost in its JSON.
func (v Value[T]) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("%s is known only at run time; put it in a flow.Object", v)
}

func root[T any](text string) Value[T] {
	return Value[T]{expression{text: text, level: levelPrimary, path: true}}
}

// Input is the input of the instance. T must be the In of Define.
func Input[T any]() Value[T] {
	v := root[T]("input")
	v.e.inputs = []reflect.Type{v.goType()}
	return v
}

// InstanceID is the id of the running instance ("inst_…").
func InstanceID() Value[string] { return root[string]("instance.id") }

// InstanceBusinessKey is the business key the instance was started with, or
// null: give it an OrValue before using it as text.
func InstanceBusinessKey() Value[string] { return root[string]("instance.business_key") }

// Const is a constant where a Value is wanted.
func Const[T any](x T) Value[T] { return Value[T]{literal(x, reflect.TypeFor[T]())} }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// A keyword after a dot would be read as the keyword by some tools.
var keywords = []string{"true", "false", "null", "in", "has", "must", "omit"}

// Get is the member of v with that json name. S must be a struct that declares
// it, a map, or Any; T must be the field's type, or Number for any numeric
// field. A wrong name or type is reported by Define (path_not_in_contract,
// type_mismatch).
func Get[T, S any](v Value[S], member string) Value[T] {
	e := v.expression()
	if !e.path {
		e.fail("expression_syntax", "flow.Get(%s, %q): only the input, outputs and their members have members", e.text, member)
	}
	e.enum = nil
	f, problem := memberOf(v.goType(), member)
	switch {
	case problem != "":
		e.fail("path_not_in_contract", "flow.Get(%s, %q): %s", e.text, member, problem)
	case !same(reflect.TypeFor[T](), f.typ):
		e.fail("type_mismatch", "flow.Get[%s](%s, %q): the field is %s",
			typeName(reflect.TypeFor[T]()), e.text, member, typeName(f.typ))
	default:
		e.enum = f.enumTokens()
	}
	e.text += memberText(member)
	return Value[T]{e}
}

func memberText(member string) string {
	if identifier.MatchString(member) && !slices.Contains(keywords, member) {
		return "." + member
	}
	return "[" + quoteExpression(member) + "]"
}

// memberOf finds the field for a json name, or says in a sentence why there is
// none.
func memberOf(t reflect.Type, name string) (field, string) {
	t = dereferenced(t)
	switch kindOf(t) {
	case kindAny:
		return field{name: name, typ: reflect.TypeFor[Any]()}, ""
	case kindMap:
		return field{name: name, typ: t.Elem()}, ""
	case kindObject:
	default:
		return field{}, typeName(t) + " has no members"
	}
	fields, _ := fieldsOf(t)
	for _, f := range fields {
		if f.name == name {
			return f, ""
		}
	}
	return field{}, fmt.Sprintf("%s has no member %q%s", typeName(t), name, nearest(name, names(fields)))
}

// Index is element i of a list, counted from 0. An index past the end is
// missing: use OrValue, Must or Has.
func Index[T any](v Value[[]T], i int) Value[T] {
	e := v.expression()
	if !e.path || i < 0 || i > 9999 {
		e.fail("expression_syntax", "flow.Index(%s, %d): needs a path and an index of 0 to 9999", e.text, i)
	}
	e.text += fmt.Sprintf("[%d]", i)
	return Value[T]{e}
}
