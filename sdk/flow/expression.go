package flow

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// level is the place of an expression in the grammar (definition.md §4.2). An
// operand of a lower level than its place allows is put in parentheses, so the
// text always means what the Go call tree says.
type level int

const (
	levelTernary level = iota
	levelOr
	levelAnd
	levelCompare
	levelAdd
	levelMultiply
	levelUnary
	levelPrimary
)

// expression is the text of one expression together with what Define has to
// check about it once the whole document is known.
type expression struct {
	text     string
	level    level
	path     bool     // a Path in the grammar: has, must and ?? accept nothing else
	constant any      // object/array/token when the expression is a literal, else nil
	omits    bool     // may leave its member out
	enum     []string // JSON tokens the field's contract allows, nil when unrestricted
	reads    []*step
	inputs   []reflect.Type // the types Input was called with
	roots    []string       // the local roots it reads: result, signal
	problems []Problem
}

func (e expression) at(place level) string {
	if e.level < place {
		return "(" + e.text + ")"
	}
	return e.text
}

// combine is a new expression over operands: what they read and what was wrong
// with them stays known. An operand that may be omitted has no value to use.
func combine(text string, l level, operands ...expression) expression {
	result := expression{text: text, level: l}
	for _, o := range operands {
		if o.omits {
			result.fail("template_omit", "%s: OrOmit leaves a member out, it is no operand", o.text)
		}
		result.adopt(o)
	}
	return result
}

func (e *expression) adopt(o expression) {
	e.reads = append(e.reads, o.reads...)
	e.inputs = append(e.inputs, o.inputs...)
	e.roots = append(e.roots, o.roots...)
	e.problems = append(e.problems, o.problems...)
}

func (e *expression) fail(code, format string, args ...any) {
	e.problems = append(e.problems, Problem{Code: code, Detail: fmt.Sprintf(format, args...), Source: callSite()})
}

// literal turns a Go value into a literal of the wanted type. A string is a
// number when a Number is wanted, so that AtLeast(total, "50.00") keeps its
// spelling.
func literal(x any, want reflect.Type) expression {
	if x == nil {
		return expression{text: "null", level: levelPrimary, constant: null}
	}
	v := reflect.ValueOf(x)
	if m, isText := x.(encoding.TextMarshaler); isText {
		text, err := m.MarshalText()
		e := stringLiteral(string(text))
		if err != nil {
			e.fail("field_value", "%T: %v", x, err)
		}
		return e
	}
	switch kindOf(v.Type()) {
	case kindString:
		if kindOf(want) == kindNumber || kindOf(want) == kindInteger {
			return numberLiteral(v.String())
		}
		return stringLiteral(v.String())
	case kindInteger:
		return numberLiteral(fmt.Sprint(x))
	case kindNumber:
		return numberLiteral(v.String())
	case kindBool:
		text := fmt.Sprint(v.Bool())
		return expression{text: text, level: levelPrimary, constant: token(text)}
	}
	e := expression{text: "null", level: levelPrimary, constant: null}
	e.fail("type_mismatch", "%T cannot be a constant here; use a string, flow.Number, integer, bool or nil", x)
	return e
}

func numberLiteral(text string) expression {
	e := expression{text: text, level: levelPrimary, constant: token(text)}
	if strings.HasPrefix(text, "-") {
		e.level = levelUnary // the grammar has a sign only as an operator
	}
	if !numberSyntax.MatchString(text) {
		e.fail("type_mismatch", "%q is not a JSON number", text)
	}
	return e
}

func stringLiteral(s string) expression {
	e := expression{text: quoteExpression(s), level: levelPrimary, constant: quote(escapeTemplate(s))}
	if why := unprintable(s); why != "" {
		e.fail("text_encoding", "%q %s", s, why)
	}
	return e
}

func unprintable(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "is not UTF-8"
	case strings.ContainsRune(s, 0):
		return "contains NUL"
	}
	return ""
}

var expressionEscapes = map[rune]string{'\\': `\\`, '\'': `\'`, '\n': `\n`, '\t': `\t`, '\r': `\r`}

func quoteExpression(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		escaped, known := expressionEscapes[r]
		switch {
		case known:
			b.WriteString(escaped)
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}

// operand accepts what the caller of an expression function may write: a Value
// of a fitting type or a Go constant.
func operand(x any, want reflect.Type) expression {
	v, isValue := x.(anyValue)
	if !isValue {
		return literalFor(x, want)
	}
	e := v.expression()
	if !fits(want, v.goType()) {
		e.fail("type_mismatch", "%s is %s, wanted %s", e.text, typeName(v.goType()), typeName(want))
	}
	return e
}

func literalFor(x any, want reflect.Type) expression {
	e := literal(x, want)
	if len(e.problems) > 0 || x == nil {
		return e
	}
	got, text := reflect.TypeOf(x), kindOf(reflect.TypeOf(x)) == kindString
	number := kindOf(want) == kindNumber || kindOf(want) == kindInteger
	if !fits(want, got) && !(text && number) {
		e.fail("type_mismatch", "constant %v is %s, wanted %s", x, typeName(got), typeName(want))
	}
	return e
}

// unlisted is the problem of comparing an enum with a constant it can never
// be: the condition would silently be constant.
func unlisted(e, constant expression) string {
	text, isToken := constant.constant.(token)
	if e.enum == nil || !isToken || text == null {
		return ""
	}
	for _, allowed := range e.enum {
		if allowed == string(text) {
			return ""
		}
	}
	return fmt.Sprintf("%s is never %s%s", e.text, text, nearest(string(text), e.enum))
}

// decoded reads JSON text back with exact numbers.
func decoded(text []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
