package expr

import (
	"fmt"
	"slices"
)

// ParseExpression reads the text between ${ and }. On refusal it answers with
// exactly one problem: the first.
func ParseExpression(text string) (*Expression, []Problem) {
	p := &parser{text: text}
	if len(text) > ExpressionBytesMax {
		p.refuse(CodeLimit, 0, fmt.Sprintf("an expression has at most %d bytes, not %d", ExpressionBytesMax, len(text)), "compute parts in separate members or steps")
		return nil, []Problem{*p.problem}
	}
	p.advance()
	root := p.expression()
	if p.problem == nil && p.now.kind != tokenEnd {
		p.unexpected("the end of the expression")
	}
	if p.problem != nil {
		return nil, []Problem{*p.problem}
	}
	e := &Expression{text: text, root: root}
	root.walk(func(n *node) {
		if n.path != nil {
			e.refs = append(e.refs, Ref{Offset: n.path.at, End: n.path.end, Path: n.path})
		}
	})
	slices.SortFunc(e.refs, func(a, b Ref) int { return a.Offset - b.Offset })
	if stray := e.placeOmit(root, true); stray != nil {
		p.refuse(CodeOmit, stray.at, "omit may stand only as the last ?? operand or as an arm of ? : at the top of the expression", "")
		return nil, []Problem{*p.problem}
	}
	return e, nil
}

// placeOmit finds an omit where none may stand; top says whether n's value is
// the value of the whole expression.
func (e *Expression) placeOmit(n *node, top bool) *node {
	for i, kid := range n.kids {
		arm := top && (n.op == opDefault || n.op == opChoose && i > 0)
		if kid.op == opOmit && arm {
			e.omit = true
			continue
		}
		if stray := e.placeOmit(kid, arm); stray != nil {
			return stray
		}
	}
	if n.op == opOmit {
		return n
	}
	return nil
}

// parser keeps the first problem; afterwards it sees only the end of the text,
// so every loop ends.
type parser struct {
	text    string
	now     token
	nodes   int
	depth   int
	problem *Problem
}

func (p *parser) advance() {
	if p.problem != nil {
		return
	}
	p.now = next(p.text, p.now.end)
	if p.now.kind == tokenBad {
		hint := hints[p.now.text]
		p.refuse(p.now.code, p.now.at, p.now.fault, hint)
	}
}

func (p *parser) refuse(code string, at int, detail, hint string) {
	if p.problem == nil {
		p.problem = &Problem{Code: code, Offset: at, Detail: detail, Hint: hint}
	}
	p.now = token{kind: tokenEnd, at: len(p.text), end: len(p.text)}
}

func (p *parser) is(mark string) bool { return p.now.kind == tokenMark && p.now.text == mark }

func (p *parser) word(w string) bool { return p.now.kind == tokenIdent && p.now.text == w }

// take moves past a mark if it stands here.
func (p *parser) take(mark string) bool {
	if p.is(mark) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(mark string) {
	if !p.take(mark) {
		p.unexpected("'" + mark + "'")
	}
}

// node counts what the budget will count.
func (p *parser) node(n node) *node {
	p.nodes++
	if p.nodes > NodesMax {
		p.refuse(CodeLimit, n.at, fmt.Sprintf("an expression has at most %d parts", NodesMax), "compute parts in separate members or steps")
	}
	return &n
}

// nested reads something one level deeper.
func (p *parser) nested(read func() *node) *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > DepthMax {
		at := p.now.at
		p.refuse(CodeLimit, at, fmt.Sprintf("nested deeper than %d levels", DepthMax), "compute parts in separate members or steps")
		return &node{at: at}
	}
	return read()
}

// expression = or [ "?" expression ":" expression ].
func (p *parser) expression() *node {
	condition := p.binary(0)
	if !p.take("?") {
		return condition
	}
	then := p.nested(p.expression)
	p.expect(":")
	other := p.nested(p.expression)
	return p.node(node{op: opChoose, at: condition.at, end: other.end, kids: []*node{condition, then, other}})
}

// levels are the binary operators from loosest to tightest. Comparisons do not
// chain.
var levels = []struct {
	ops   map[string]op
	chain bool
}{
	{map[string]op{"||": opOr}, true},
	{map[string]op{"&&": opAnd}, true},
	{map[string]op{"==": opEqual, "!=": opUnequal, "<": opLess, "<=": opLessEqual, ">": opGreater, ">=": opGreaterEqual, "in": opIn}, false},
	{map[string]op{"+": opAdd, "-": opSubtract}, true},
	{map[string]op{"*": opMultiply}, true},
}

func (p *parser) binary(level int) *node {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for count := 0; ; count++ {
		found, ok := p.operator(level)
		if !ok {
			return left
		}
		if count > 0 && !levels[level].chain {
			p.refuse(CodeSyntax, p.now.at, "comparisons do not chain", "join two comparisons with &&")
			return left
		}
		p.advance()
		right := p.right(found, level)
		left = p.node(node{op: found, at: left.at, end: right.end, kids: []*node{left, right}})
	}
}

func (p *parser) operator(level int) (op, bool) {
	if p.now.kind != tokenMark && !p.word("in") {
		return 0, false
	}
	found, ok := levels[level].ops[p.now.text]
	return found, ok
}

// right reads the right operand; a constant list stands only behind in.
func (p *parser) right(found op, level int) *node {
	if found == opIn && p.is("[") {
		return p.list()
	}
	return p.binary(level + 1)
}

func (p *parser) unary() *node {
	at := p.now.at
	found := opNot
	if p.is("-") {
		found = opNegate
	}
	if p.take("!") || p.take("-") {
		kid := p.nested(p.unary)
		return p.node(node{op: found, at: at, end: kid.end, kids: []*node{kid}})
	}
	return p.primary()
}
