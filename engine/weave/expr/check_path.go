package expr

import (
	"fmt"
	"strconv"

	"github.com/orbitrun/orbit/engine/weave/contract"
)

// reach is what is known about a path while it is followed.
type reach struct {
	contract *contract.Contract // nil: anything
	types    contract.Types
	unknown  bool
	missing  string // why the value may be missing, "" when it cannot be
}

func reached(c *contract.Contract) reach {
	if c == nil {
		return reach{types: contract.Any, unknown: true}
	}
	return reach{contract: c, types: c.Types(), unknown: c.Types() == contract.Any}
}

func (r reach) kind() Type {
	return Type{Types: r.types, Unknown: r.unknown, sources: []source{{types: r.types, unknown: r.unknown, contract: r.contract}}}
}

// follow walks a path through its contracts. It reports false when the path is
// refused.
func (c *checker) follow(n *node) (reach, bool) {
	r := c.known(reached(c.env.root(n.path)), n.path.prefixes[0])
	for i, s := range n.path.Segments {
		next, ok := c.step(n, r, i, s)
		if !ok {
			return reach{}, false
		}
		r = c.known(next, n.path.prefixes[i+1])
	}
	return r, true
}

// known adds what conditions have established about the path so far.
func (c *checker) known(r reach, path string) reach {
	what := c.env.facts.paths[path]
	if what&present != 0 {
		r.missing = ""
	}
	if what&notNull != 0 {
		r.types &^= contract.Null
	}
	return r
}

// step goes one segment further. i is its place in the path.
func (c *checker) step(n *node, r reach, i int, s Segment) (reach, bool) {
	want := contract.Object
	if s.IsIndex {
		want = contract.Array
	}
	if r.types&want == 0 || !r.unknown && r.types&^(want|contract.Null) != 0 {
		c.notContainer(n, r, i, want)
		return reach{}, false
	}
	missing := r.missing
	if r.types.Has(contract.Null) && !r.unknown && missing == "" {
		missing = n.path.last(i) + " may be null"
	}
	if r.unknown {
		c.unchecked(n, n.path.prefixes[i])
	}
	next, ok := c.member(n, r, i, s)
	if missing != "" {
		next.missing = missing
	}
	return next, ok
}

func (c *checker) notContainer(n *node, r reach, i int, want contract.Types) {
	detail := fmt.Sprintf("%s is %s and has no %s", n.path.prefixes[i], r.types, map[contract.Types]string{contract.Object: "members", contract.Array: "elements"}[want])
	if r.types&want != 0 {
		detail = fmt.Sprintf("%s may be %s", n.path.prefixes[i], r.types)
	}
	c.refuse(CodeMismatch, n.path.at, detail, "")
}

// member is what a contract says about one member or element.
func (c *checker) member(n *node, r reach, i int, s Segment) (reach, bool) {
	if r.contract == nil {
		return reached(nil), true
	}
	if s.IsIndex {
		return c.element(n, r, i, s)
	}
	if m, ok := r.contract.Member(s.Name); ok {
		next := reached(m.Contract)
		if !m.Required && !r.unknown {
			next.missing = strconv.Quote(s.Name) + " is optional"
		}
		return next, true
	}
	switch {
	case r.contract.Additional() != nil && !r.contract.Closed():
		next := reached(r.contract.Additional())
		next.missing = strconv.Quote(s.Name) + " is not a required member"
		return next, true
	case len(r.contract.Members()) == 0 && !r.contract.Closed():
		c.unchecked(n, n.path.prefixes[i])
		return reached(nil), true
	}
	c.undeclared(n, r.contract, i, s)
	return reach{}, false
}

func (c *checker) undeclared(n *node, from *contract.Contract, i int, s Segment) {
	var names []string
	for _, m := range from.Members() {
		names = append(names, m.Name)
	}
	hint := ""
	if near := nearest(s.Name, names); near != "" {
		hint = "did you mean " + strconv.Quote(near) + "?"
	} else if len(names) > 0 && len(names) <= 12 {
		hint = "it has " + join(names)
	}
	c.refuse(CodeNotInContract, n.path.at, fmt.Sprintf("the contract of %s has no member %q", n.path.prefixes[i], s.Name), hint)
}

func (c *checker) element(n *node, r reach, i int, s Segment) (reach, bool) {
	least, most := r.contract.ItemCount()
	if s.Index >= most {
		c.refuse(CodeNotInContract, n.path.at, fmt.Sprintf("%s has at most %d items", n.path.prefixes[i], most), "")
		return reach{}, false
	}
	next := reached(r.contract.Items())
	if s.Index >= least && !r.unknown {
		next.missing = fmt.Sprintf("%s may have fewer items", n.path.last(i))
	}
	return next, true
}

// path types the four nodes that read a path.
func (c *checker) path(n *node) Type {
	r, ok := c.follow(n)
	if !ok {
		if n.op == opDefault {
			c.node(n.kids[0])
		}
		return brokenType()
	}
	switch n.op {
	case opHas:
		if r.missing == "" && !r.unknown && !c.guessed[n.path] {
			c.warn(CodeConstant, n.at, n.path.String()+" is always there, so this is always true", "")
		}
		return computed(contract.Boolean)
	case opMust:
		return r.kind().without(contract.Null)
	case opDefault:
		return r.kind().without(contract.Null).or(c.node(n.kids[0]))
	}
	if r.missing != "" {
		text := n.path.String()
		c.refuse(CodeMayBeMissing, n.path.at, r.missing+", so "+text+" may be missing",
			"${"+text+" ?? …} gives a default (?? omit leaves a member out), ${must("+text+")} sends a missing one to review")
		return brokenType()
	}
	return r.kind()
}
