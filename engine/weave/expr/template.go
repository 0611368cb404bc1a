package expr

import (
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
)

// Template is a JSON value of a definition in which whole strings may be
// expressions (definition.md section 4.1). It is immutable and safe for
// concurrent use.
type Template struct {
	root        part
	expressions []*part
}

// part is one value of a template. Parts without any expression below them are
// constant: value is ready, with $${ already read as ${.
type part struct {
	pointer  string
	constant bool
	value    exact.Value
	kind     exact.Kind
	names    []string // of members
	parts    []part   // members or items
	expr     *Expression
}

// ParseTemplate reads a template. Pointer is where it stands in the document;
// every problem and every later evaluation error is placed from there. The
// template is nil when there is a problem.
func ParseTemplate(v exact.Value, pointer string) (*Template, []Problem) {
	r := &templateReader{out: &Template{}}
	r.out.root = r.part(v, pointer, false)
	return r.result()
}

// ParseCondition reads a field that takes only an expression: when, value, an
// expression delay_ms. Anything else is condition_not_expression.
func ParseCondition(v exact.Value, pointer string) (*Template, []Problem) {
	if s := v.Str(); v.Kind() != exact.KindString || !isMarked(s) {
		hint := ""
		if v.Kind() == exact.KindString && !strings.Contains(s, "${") {
			hint = "write \"${" + s + "}\""
		}
		return nil, []Problem{{Code: CodeNotExpression, Pointer: pointer, Offset: -1, Detail: "must be one expression in ${ }", Hint: hint}}
	}
	return ParseTemplate(v, pointer)
}

// Refs lists every path the template reads, in document order.
func (t *Template) Refs() []Ref {
	var out []Ref
	for _, p := range t.expressions {
		for _, ref := range p.expr.refs {
			ref.Pointer = p.pointer
			out = append(out, ref)
		}
	}
	return out
}

// ExpressionCount counts the expressions, for the limit of a document.
func (t *Template) ExpressionCount() int { return len(t.expressions) }

// Constant is the template's value when it holds no expression.
func (t *Template) Constant() (exact.Value, bool) { return t.root.value, t.root.constant }

type templateReader struct {
	out      *Template
	problems []Problem
}

func (r *templateReader) result() (*Template, []Problem) {
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	r.out.collect(&r.out.root)
	return r.out, nil
}

// collect lists the expressions once the parts no longer move in memory.
func (t *Template) collect(p *part) {
	if p.expr != nil {
		t.expressions = append(t.expressions, p)
	}
	for i := range p.parts {
		t.collect(&p.parts[i])
	}
}

func (r *templateReader) refuse(code, pointer string, detail, hint string) {
	r.problems = append(r.problems, Problem{Code: code, Pointer: pointer, Offset: -1, Detail: detail, Hint: hint})
}

// part reads one value; member says whether it is the value of an object
// member, the only place that can be left out.
func (r *templateReader) part(v exact.Value, pointer string, member bool) part {
	switch v.Kind() {
	case exact.KindString:
		return r.text(v, pointer, member)
	case exact.KindArray:
		return r.array(v, pointer)
	case exact.KindObject:
		return r.object(v, pointer)
	}
	return part{pointer: pointer, constant: true, value: v}
}

func (r *templateReader) text(v exact.Value, pointer string, member bool) part {
	p := part{pointer: pointer}
	if !isMarked(v.Str()) {
		plain, ok := unescape(v.Str())
		if !ok {
			r.refuse(CodeInterpolation, pointer, "an expression must be the whole string", "build the text with ${concat(…)}; write $${ for the characters ${")
		}
		p.constant, p.value = true, exact.String(plain)
		return p
	}
	text := v.Str()[2 : len(v.Str())-1]
	expression, problems := ParseExpression(text)
	for _, found := range problems {
		found.Pointer = pointer
		r.problems = append(r.problems, found)
	}
	if expression != nil && expression.omit && !member {
		r.refuse(CodeOmit, pointer, "only a member of an object can be left out", "")
	}
	p.expr = expression
	return p
}

func (r *templateReader) array(v exact.Value, pointer string) part {
	p := part{pointer: pointer, kind: exact.KindArray, constant: true}
	for i, item := range v.Items() {
		inner := r.part(item, exact.JoinIndex(pointer, i), false)
		p.constant = p.constant && inner.constant
		p.parts = append(p.parts, inner)
	}
	return p.folded()
}

func (r *templateReader) object(v exact.Value, pointer string) part {
	p := part{pointer: pointer, kind: exact.KindObject, constant: true}
	for _, m := range v.Members() {
		at := exact.Join(pointer, m.Name)
		if strings.Contains(m.Name, "${") {
			r.refuse(CodeKeyExpression, at, "member names are constants", "")
		}
		inner := r.part(m.Value, at, true)
		p.constant = p.constant && inner.constant
		p.names = append(p.names, m.Name)
		p.parts = append(p.parts, inner)
	}
	return p.folded()
}

// folded replaces a part whose children are all constant by its value.
func (p part) folded() part {
	if !p.constant {
		return p
	}
	if p.kind == exact.KindArray {
		items := make([]exact.Value, len(p.parts))
		for i := range p.parts {
			items[i] = p.parts[i].value
		}
		p.value = exact.Array(items...)
	} else {
		members := make([]exact.Member, len(p.parts))
		for i := range p.parts {
			members[i] = exact.Field(p.names[i], p.parts[i].value)
		}
		p.value = exact.Object(members...)
	}
	p.names, p.parts = nil, nil
	return p
}

func isMarked(s string) bool {
	return strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}")
}

// unescape takes one $ off every run of two or more before a brace. A single $
// before a brace is an expression in the wrong place.
func unescape(s string) (string, bool) {
	if !strings.Contains(s, "${") {
		return s, true
	}
	var b strings.Builder
	run := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '$' {
			run++
			continue
		}
		if s[i] == '{' && run == 1 {
			return "", false
		}
		if s[i] == '{' && run > 1 {
			run--
		}
		b.WriteString(strings.Repeat("$", run))
		b.WriteByte(s[i])
		run = 0
	}
	b.WriteString(strings.Repeat("$", run))
	return b.String(), true
}
