package expr

import "github.com/orbitrun/orbit/engine/exact"

// op is the kind of one syntax node.
type op uint8

const (
	opLiteral op = iota
	opList
	opPath
	opOmit
	opDefault // path ?? kid
	opHas
	opMust
	opCall
	opNot
	opNegate
	opAnd
	opOr
	opChoose // kid ? kid : kid
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opIn
	opAdd
	opSubtract
	opMultiply
)

// node is one syntax node; at and end are bytes of the expression text.
type node struct {
	op      op
	at, end int
	value   exact.Value   // opLiteral
	list    []exact.Value // opList
	path    *Path         // opPath, opDefault, opHas, opMust
	call    *function     // opCall
	kids    []*node
}

// walk visits the node and everything below it.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, kid := range n.kids {
		kid.walk(visit)
	}
}

// Expression is one parsed expression, immutable and safe for concurrent use.
type Expression struct {
	text string
	root *node
	refs []Ref
	omit bool // may yield "leave the member out"
}

// String is the text as it was written.
func (e *Expression) String() string { return e.text }

// MayOmit reports whether the expression can leave its member out.
func (e *Expression) MayOmit() bool { return e.omit }

// Refs lists the paths the expression reads, in the order of the text. Their
// Pointer is empty; a Template fills it.
func (e *Expression) Refs() []Ref { return e.refs }

// operator is the text of a binary or prefix operator, for messages.
var operators = map[op]string{
	opNot: "!", opNegate: "-", opAnd: "&&", opOr: "||", opChoose: "?", opEqual: "==", opUnequal: "!=", opLess: "<",
	opLessEqual: "<=", opGreater: ">", opGreaterEqual: ">=", opIn: "in", opAdd: "+", opSubtract: "-", opMultiply: "*",
}
