package expr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
)

func (p *parser) primary() *node {
	at := p.now
	switch {
	case at.kind == tokenNumber || at.kind == tokenString || at.kind == tokenIdent && constants[at.text] != nil:
		v := p.literal()
		return p.node(node{op: opLiteral, at: at.at, end: at.end, value: v})
	case p.word("omit"):
		p.advance()
		return p.node(node{op: opOmit, at: at.at, end: at.end})
	case at.kind == tokenIdent && at.text != "in":
		return p.named()
	case p.take("("):
		inner := p.nested(p.expression)
		inner.at, inner.end = at.at, p.now.end
		p.expect(")")
		if p.is("??") {
			p.refuse(CodeSyntax, p.now.at, "?? stands directly behind a path", "write the path without parentheses")
		}
		return inner
	case p.is("["):
		p.refuse(CodeSyntax, at.at, "a list may stand only to the right of in", "")
	default:
		p.unexpected("a value")
	}
	return &node{at: at.at, end: at.at}
}

var constants = map[string]*exact.Value{"true": constant(exact.Bool(true)), "false": constant(exact.Bool(false)), "null": constant(exact.Null())}

func constant(v exact.Value) *exact.Value { return &v }

// literal reads a number, string, true, false or null that stands here.
func (p *parser) literal() exact.Value {
	t := p.now
	p.advance()
	switch t.kind {
	case tokenNumber:
		return exact.Number(t.text)
	case tokenString:
		return exact.String(t.content)
	}
	return *constants[t.text]
}

// list = "[" [ literal { "," literal } ] "]". A number may have a sign here.
func (p *parser) list() *node {
	n := node{op: opList, at: p.now.at}
	p.advance()
	for !p.is("]") && p.problem == nil {
		if len(n.list) > 0 {
			p.expect(",")
		}
		if len(n.list) == ListMax {
			p.refuse(CodeLimit, p.now.at, fmt.Sprintf("a list has at most %d values", ListMax), "")
		}
		p.element(&n)
	}
	n.end = p.now.end
	n.value = exact.Array(n.list...)
	p.expect("]")
	return p.node(n)
}

func (p *parser) element(n *node) {
	sign := ""
	if p.take("-") {
		sign = "-"
	}
	switch {
	case p.now.kind == tokenNumber:
		n.list = append(n.list, exact.Number(sign+p.literal().Token()))
	case sign == "" && (p.now.kind == tokenString || p.now.kind == tokenIdent && constants[p.now.text] != nil):
		n.list = append(n.list, p.literal())
	default:
		p.unexpected("a number, string, true, false or null")
	}
}

// named reads what begins with a name: a call or a path.
func (p *parser) named() *node {
	name := p.now
	p.advance()
	if p.is("(") {
		return p.called(name)
	}
	for _, root := range roots {
		if root == name.text {
			return p.pathWithDefault(name)
		}
	}
	hint := hints[name.text]
	if hint == "" {
		hint = "a path begins with " + strings.Join(roots, ", ")
		if near := nearest(name.text, roots); near != "" {
			hint = "did you mean " + near + "?"
		}
	}
	p.refuse(CodeRoot, name.at, strconv.Quote(name.text)+" is not a root", hint)
	return &node{at: name.at, end: name.end}
}

// called = name "(" [ expression { "," expression } ] ")".
func (p *parser) called(name token) *node {
	n := node{at: name.at, op: opCall, call: functions[name.text]}
	isPathCall := name.text == "has" || name.text == "must"
	if n.call == nil && !isPathCall {
		hint := "the functions are " + strings.Join(Functions(), ", ")
		if near := nearest(name.text, Functions()); near != "" {
			hint = "did you mean " + near + "?"
		}
		p.refuse(CodeUnknownFunction, name.at, "there is no function "+strconv.Quote(name.text), hint)
		return &n
	}
	p.advance()
	for !p.is(")") && p.problem == nil {
		if len(n.kids) > 0 {
			p.expect(",")
		}
		n.kids = append(n.kids, p.nested(p.expression))
	}
	n.end = p.now.end
	p.expect(")")
	if isPathCall {
		return p.pathCall(name, n)
	}
	if p.problem == nil && (len(n.kids) < n.call.min || len(n.kids) > n.call.max) {
		p.refuse(CodeArguments, name.at, fmt.Sprintf("%s takes %s, not %d", name.text, n.call.arity(), len(n.kids)), "")
	}
	return p.node(n)
}

// pathCall turns has(path) and must(path) into one node that holds the path.
func (p *parser) pathCall(name token, n node) *node {
	if p.problem == nil && (len(n.kids) != 1 || n.kids[0].op != opPath) {
		p.refuse(CodeArguments, name.at, name.text+" takes one path", "")
	}
	if p.problem != nil {
		return &n
	}
	n.op = map[string]op{"has": opHas, "must": opMust}[name.text]
	n.path, n.kids = n.kids[0].path, nil
	return p.node(n)
}

func (f *function) arity() string {
	switch {
	case f.min != f.max:
		return fmt.Sprintf("%d to %d arguments", f.min, f.max)
	case f.min == 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", f.min)
}

// pathWithDefault = path [ "??" primary ].
func (p *parser) pathWithDefault(root token) *node {
	path := p.path(root)
	if !p.is("??") || p.problem != nil {
		return path
	}
	p.advance()
	if p.is("-") || p.is("!") {
		p.refuse(CodeSyntax, p.now.at, "a sign behind ?? needs parentheses", "write ?? ("+p.now.text+"…)")
	}
	kid := p.nested(p.primary)
	return p.node(node{op: opDefault, at: path.at, end: kid.end, path: path.path, kids: []*node{kid}})
}

func (p *parser) path(root token) *node {
	path := &Path{Root: root.text}
	end := root.end
	if root.text == RootSteps {
		end = p.stepOutput(path)
	}
	for p.problem == nil {
		switch {
		case p.take("."):
			end = p.now.end
			path.Segments = append(path.Segments, Segment{Name: p.ident("a member name")})
		case p.take("["):
			path.Segments = append(path.Segments, p.bracket())
			end = p.now.end
			p.expect("]")
		default:
			if p.is("(") {
				p.refuse(CodeSyntax, p.now.at, "values have no methods", "a function takes its value as the first argument: contains(a, b)")
			}
			path.at, path.end = root.at, end
			path.seal()
			return p.node(node{op: opPath, at: root.at, end: end, path: path})
		}
	}
	return &node{at: root.at, end: end}
}

// stepOutput = "." name "." "output".
func (p *parser) stepOutput(path *Path) (end int) {
	p.expect(".")
	path.Step = p.ident("a step name")
	at := p.now
	p.expect(".")
	end = p.now.end
	if p.problem == nil && !p.word("output") {
		p.refuse(CodeSyntax, at.at, "a step is read through its output", "write steps."+path.Step+".output")
	}
	p.advance()
	return end
}

func (p *parser) ident(wanted string) string {
	name := p.now.text
	if p.now.kind != tokenIdent {
		p.unexpected(wanted)
	}
	p.advance()
	return name
}

func (p *parser) bracket() Segment {
	t := p.now
	switch t.kind {
	case tokenString:
		p.advance()
		return Segment{Name: t.content}
	case tokenNumber:
		index, err := strconv.Atoi(t.text)
		if err != nil || index > IndexMax {
			p.refuse(CodeSyntax, t.at, fmt.Sprintf("an index is a whole number up to %d", IndexMax), "")
		}
		p.advance()
		return Segment{Index: index, IsIndex: true}
	}
	p.unexpected("an index or a member name in quotes")
	return Segment{}
}
