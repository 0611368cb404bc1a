package expr

import (
	"fmt"
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// Check judges the template before anything runs (definition.md section 4.5)
// and says what its value can be. With want nil any value is good; otherwise a
// template that cannot satisfy want is refused. Problems come in document
// order; warnings among them do not refuse.
func (t *Template) Check(env TypeEnv, want *contract.Contract) (Type, []Problem) {
	c := &checker{env: env}
	out := c.template(&t.root, want)
	return out, c.problems
}

// CheckTypes judges a template whose value must have one of the types: keys
// and correlations are strings, a delay is a number.
func (t *Template) CheckTypes(env TypeEnv, allowed contract.Types) (Type, []Problem) {
	c := &checker{env: env}
	out := c.template(&t.root, nil)
	c.pointer, c.whole = t.root.pointer, true
	c.require(nil, out, allowed, "the value")
	return out, c.problems
}

// CheckCondition judges a when: boolean, and worth asking.
func (t *Template) CheckCondition(env TypeEnv) []Problem {
	out, problems := t.CheckTypes(env, contract.Boolean)
	if out.constant != nil && len(problems) == 0 {
		problems = append(problems, Problem{Code: CodeConstant, Pointer: t.root.pointer, Offset: 0, Warning: true,
			Detail: "the condition is always " + out.constant.String()})
	}
	return problems
}

// checker walks one template. Offsets belong to the expression at pointer.
type checker struct {
	env      TypeEnv
	pointer  string
	whole    bool // problems are about the whole string
	problems []Problem
	guessed  map[*Path]bool // paths already warned about
}

func (c *checker) add(p Problem) {
	p.Pointer = c.pointer
	if c.whole {
		p.Offset = -1
	}
	c.problems = append(c.problems, p)
}

func (c *checker) refuse(code string, at int, detail, hint string) {
	c.add(Problem{Code: code, Offset: at, Detail: detail, Hint: hint})
}

func (c *checker) warn(code string, at int, detail, hint string) {
	c.add(Problem{Code: code, Offset: at, Detail: detail, Hint: hint, Warning: true})
}

// unchecked warns once for each use of a path.
func (c *checker) unchecked(n *node, what string) {
	if n.path == nil || c.guessed[n.path] {
		return
	}
	if c.guessed == nil {
		c.guessed = map[*Path]bool{}
	}
	c.guessed[n.path] = true
	c.warn(CodeUnchecked, n.path.at, what+" can be anything; "+n.path.String()+" is checked only at run time", "describe it in a contract")
}

// expression types a whole expression. One that reads nothing is computed
// here and now.
func (c *checker) expression(x *Expression) Type {
	before := len(c.problems)
	out := c.node(x.root)
	if len(x.refs) > 0 || len(c.problems) > before || x.omit {
		return out
	}
	v, _, err := x.Eval(&Scope{}, BudgetMax)
	switch {
	case err == nil:
		return constantType(v)
	case err.Reason == ReasonNumberRange:
		c.refuse(CodeNumberRange, err.Offset, "this constant leaves the number domain", "")
		return brokenType()
	}
	return out
}

// under judges a part in which more is known.
func (c *checker) under(more Facts, n *node) Type {
	saved := c.env
	c.env = c.env.With(more)
	out := c.node(n)
	c.env = saved
	return out
}

// require refuses an operand that may have another type than allowed.
func (c *checker) require(n *node, t Type, allowed contract.Types, role string) bool {
	at, subject := 0, ""
	if n != nil {
		at = n.at
		if n.path != nil && n.op != opHas {
			subject = n.path.String() + " "
		}
	}
	if t.Unknown && !t.broken && n != nil {
		c.unchecked(n, n.pathText())
	}
	excess := t.Types &^ allowed
	if t.broken || excess == 0 || t.Unknown && t.Types&allowed != 0 {
		return !t.broken
	}
	code, verb, hint := CodeMismatch, "is", ""
	if t.Types&allowed != 0 {
		verb = "may be"
	}
	if excess == contract.Null && t.Types != contract.Null {
		code, excess, hint = CodeMayBeNull, contract.Null, "?? gives a default for null"
	}
	c.refuse(code, at, fmt.Sprintf("%s must be %s; %s%s %s", role, allowed, orIt(subject), verb, excess), hint)
	return false
}

func orIt(subject string) string {
	if subject == "" {
		return "it "
	}
	return subject
}

func join(names []string) string { return strings.Join(names, ", ") }

// constantOf is the constant a node is, when it is written as one.
func constantOf(n *node) (exact.Value, bool) {
	return n.value, n.op == opLiteral
}
