package expr

import (
	"fmt"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// node types one syntax node and everything below it.
func (c *checker) node(n *node) Type {
	switch n.op {
	case opLiteral:
		return constantType(n.value)
	case opOmit:
		return Type{}
	case opPath, opDefault, opHas, opMust:
		return c.path(n)
	case opCall:
		return c.call(n)
	case opAnd, opOr:
		return c.logic(n)
	case opChoose:
		return c.choose(n)
	case opEqual, opUnequal:
		return c.equality(n)
	case opIn:
		return c.membership(n)
	}
	return c.uniform(n)
}

// uniform is every operator whose operands have one type: ! - < <= > >= + - *.
func (c *checker) uniform(n *node) Type {
	operand, result := contract.Number, contract.Number
	switch n.op {
	case opNot:
		operand, result = contract.Boolean, contract.Boolean
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		result = contract.Boolean
	}
	ok := true
	for _, kid := range n.kids {
		ok = c.require(kid, c.node(kid), operand, "an operand of "+operators[n.op]) && ok
	}
	if !ok {
		return brokenType()
	}
	return computed(result)
}

func (c *checker) call(n *node) Type {
	ok := true
	for _, kid := range n.kids {
		ok = c.require(kid, c.node(kid), n.call.argument, "an argument of "+n.call.name) && ok
	}
	if !ok {
		return brokenType()
	}
	return computed(n.call.result)
}

// logic judges the right side of && with what the left has established.
func (c *checker) logic(n *node) Type {
	role := "an operand of " + operators[n.op]
	ok := c.require(n.kids[0], c.node(n.kids[0]), contract.Boolean, role)
	var known Facts
	if n.op == opAnd {
		known = factsOf(n.kids[0])
	}
	ok = c.require(n.kids[1], c.under(known, n.kids[1]), contract.Boolean, role) && ok
	if !ok {
		return brokenType()
	}
	return computed(contract.Boolean)
}

func (c *checker) choose(n *node) Type {
	ok := c.require(n.kids[0], c.node(n.kids[0]), contract.Boolean, "the condition of ?")
	then := c.under(factsOf(n.kids[0]), n.kids[1])
	other := c.node(n.kids[2])
	if !ok {
		return brokenType()
	}
	return then.or(other)
}

// equality wants two scalars of one type, or null on a side.
func (c *checker) equality(n *node) Type {
	left, right := c.node(n.kids[0]), c.node(n.kids[1])
	if left.broken || right.broken {
		return brokenType()
	}
	if left.Types == contract.Null || right.Types == contract.Null {
		c.againstNull(n, left, right)
		return computed(contract.Boolean)
	}
	role := "an operand of " + operators[n.op]
	if !c.require(n.kids[0], left, contract.Scalar, role) || !c.require(n.kids[1], right, contract.Scalar, role) {
		return brokenType()
	}
	if !left.Unknown && !right.Unknown && !((left.Types | right.Types) &^ contract.Null).Single() {
		c.refuse(CodeMismatch, n.at, fmt.Sprintf("%s compares %s with %s", operators[n.op], left.Types, right.Types), "unlike types never compare; convert with text(…)")
		return brokenType()
	}
	c.againstList(n, left, n.kids[1])
	c.againstList(n, right, n.kids[0])
	return computed(contract.Boolean)
}

// againstNull warns about asking for a null that cannot be.
func (c *checker) againstNull(n *node, left, right Type) {
	for i, t := range []Type{left, right} {
		if kid := n.kids[i]; kid.path != nil && !t.Unknown && !t.Types.Has(contract.Null) {
			c.warn(CodeConstant, n.at, fmt.Sprintf("%s is never null, so this is always %v", kid.path, n.op == opUnequal), "")
		}
	}
}

// againstList warns when a value with listed alternatives is compared with a
// constant that is none of them: nearly always a spelling mistake.
func (c *checker) againstList(n *node, t Type, other *node) {
	values, ok := t.listed()
	literal, isLiteral := constantOf(other)
	if !ok || !isLiteral || includes(values, literal) {
		return
	}
	c.warn(CodeConstant, other.at, fmt.Sprintf("%s is not among the values listed, so this is always %v", literal, n.op == opUnequal), "the contract lists "+list(values))
}

func includes(values []exact.Value, v exact.Value) bool {
	for _, allowed := range values {
		if exact.Equal(allowed, v) {
			return true
		}
	}
	return false
}

func list(values []exact.Value) string {
	var texts []string
	for _, v := range values[:min(len(values), 12)] {
		texts = append(texts, v.String())
	}
	return join(texts)
}

// membership wants a scalar on the left and a list of nulls and of its type on
// the right.
func (c *checker) membership(n *node) Type {
	left := c.node(n.kids[0])
	if n.kids[1].op == opList {
		return c.inConstants(n, left)
	}
	right := c.node(n.kids[1])
	ok := c.require(n.kids[0], left, contract.Scalar, "the left operand of in")
	if !c.require(n.kids[1], right, contract.Array, "the right operand of in") || !ok {
		return brokenType()
	}
	var items *contract.Contract
	if from := right.Contract(); from != nil {
		items = from.Items()
	}
	return c.elements(n, left, reached(items).kind(), n.kids[1].pathText())
}

func (c *checker) inConstants(n *node, left Type) Type {
	if !c.require(n.kids[0], left, contract.Scalar, "the left operand of in") {
		return brokenType()
	}
	items := contract.None
	possible := len(n.kids[1].list) > 0
	values, listed := left.listed()
	for _, v := range n.kids[1].list {
		items |= contract.TypeOf(v)
		possible = possible && listed && !includes(values, v)
	}
	if possible {
		c.warn(CodeConstant, n.kids[1].at, "none of these is among the values listed, so this is always false", "the contract lists "+list(values))
	}
	return c.elements(n, left, computed(items), "the list")
}

func (c *checker) elements(n *node, left, items Type, name string) Type {
	if left.Unknown || items.Unknown {
		return computed(contract.Boolean)
	}
	if kinds := (left.Types | items.Types) &^ contract.Null; kinds != contract.None && !kinds.Single() || items.Types&^contract.Scalar != 0 {
		c.refuse(CodeMismatch, n.at, fmt.Sprintf("in looks for %s among %s in %s", left.Types, items.Types, name), "")
		return brokenType()
	}
	return computed(contract.Boolean)
}
