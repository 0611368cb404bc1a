package definition

import (
	"fmt"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// types judges every template against what its place wants. A template that
// reads something an earlier phase refused is left alone: whatever could be
// said about it would be a consequence.
func (c *checker) types() {
	c.env = c.environment()
	c.findUnsure()
	for _, where := range c.sites {
		if c.full() {
			return
		}
		if where.refused || c.readsRefused(where) {
			continue
		}
		found, problems := c.check(where)
		c.pass(where, problems)
		if where.listed != nil && !expr.Refused(problems) {
			*where.listed = listedValues(found)
		}
		if where.role == roleEntry && where.want == wantArray && found.Contract() != nil {
			c.items[where.node] = found.Contract().Items()
		}
	}
}

// check asks the expression language for what the place wants.
func (c *checker) check(where *site) (expr.Type, []expr.Problem) {
	t, env := where.template.Template, c.envAt(where)
	switch where.want {
	case wantBoolean:
		return expr.Type{}, t.CheckCondition(env)
	case wantContract:
		var schema *contract.Contract
		if where.contract != nil && *where.contract != nil {
			schema = (*where.contract).Schema
		}
		return t.Check(env, schema)
	}
	found, problems := t.CheckTypes(env, wanted[where.want])
	if where.bytesMax > 0 && !expr.Refused(problems) {
		problems = append(problems, constantLength(where, t)...)
	}
	return found, problems
}

var wanted = map[want]contract.Types{
	wantString: contract.String, wantNumber: contract.Number, wantScalar: contract.Scalar, wantArray: contract.Array,
}

// constantLength refuses a constant key that could never be used. A computed
// one is checked at activation.
func constantLength(where *site, t *expr.Template) []expr.Problem {
	v, ok := t.Constant()
	if n := len(v.Str()); !ok || n >= 1 && n <= where.bytesMax {
		return nil
	}
	return []expr.Problem{{
		Code: expr.CodeBreaksContract, Pointer: where.at.pointer, Offset: -1,
		Detail: fmt.Sprintf("%d bytes, must be 1 to %d", len(v.Str()), where.bytesMax),
	}}
}

// listedValues are the only values an expression can have: what a contract
// lists, or true and false. Nil when nothing says.
func listedValues(t expr.Type) []exact.Value {
	if t.Unknown {
		return nil
	}
	if t.Types == contract.Boolean {
		return []exact.Value{exact.Bool(true), exact.Bool(false)}
	}
	if from := t.Contract(); from != nil {
		values, _ := from.Enum()
		return values
	}
	return nil
}

// environment types the input and every step's output. Whether a step may be
// read at a place is the scope phase's question.
func (c *checker) environment() expr.TypeEnv {
	env := expr.TypeEnv{Input: schemaOfContract(c.def.InputContract), Steps: map[string]*contract.Contract{}}
	for _, n := range c.def.order {
		if c.def.nodes[n.Name] == n {
			env.Steps[n.Name] = c.outputOf(n)
		}
	}
	return env
}

func (c *checker) outputOf(n *Node) *contract.Contract {
	switch n.Kind {
	case KindTimer:
		return contract.OfTypes(contract.Null)
	case KindMap:
		return arrayOf(n.Map.ItemContract)
	case KindChild:
		if child := c.child(n); child != nil {
			return schemaOfContract(child.OutputContract)
		}
	}
	if target := n.outputContract(); target != nil {
		return schemaOfContract(*target)
	}
	return nil
}

// outputContract is where a node keeps the contract of its output, nil for
// kinds that have none of their own.
func (n *Node) outputContract() **Contract {
	switch n.Kind {
	case KindTask:
		return &n.Task.OutputContract
	case KindBranch:
		return &n.Branch.OutputContract
	case KindSignal:
		return &n.Signal.ContentContract
	case KindPoll:
		return &n.Poll.OutputContract
	case KindMap:
		return &n.Map.ItemContract
	}
	return nil
}

// envAt adds what exists only at a place: the roots of a POLL or MAP, and what
// the conditions around it have established.
func (c *checker) envAt(where *site) expr.TypeEnv {
	env := c.env
	switch where.role {
	case roleResult:
		if work := where.node.Poll.Task; work != nil {
			env.Result = schemaOfContract(work.OutputContract)
		}
	case roleSignal:
		env.Signal = schemaOfContract(where.node.Poll.FinalSignal.ContentContract)
	}
	if around := where.enclosingMap(); around != nil {
		env.Item = c.items[around]
	}
	if where.arm != nil {
		env = where.arm.with(env)
	}
	for n := where.node; n != nil && n.Parent != nil; n = n.Parent {
		if n.Parent.Kind == KindBranch {
			env = n.Parent.Branch.Arms()[n.Part].with(env)
		}
	}
	return env
}

// with adds what is known because the arm was chosen.
func (a *Arm) with(env expr.TypeEnv) expr.TypeEnv {
	if a.When == nil || a.When.Template == nil {
		return env
	}
	return env.With(a.When.Facts())
}

// readsRefused reports whether a template reads a value whose contract was
// refused, so that its type is unknown for a reason already given.
func (c *checker) readsRefused(where *site) bool {
	for _, ref := range where.template.Refs() {
		switch ref.Path.Root {
		case expr.RootInput:
			if c.unsure[&c.def.InputContract] {
				return true
			}
		case expr.RootSteps:
			n := c.def.nodes[ref.Path.Step]
			unknownChild := n.Kind == KindChild && c.opts.Children != nil && c.child(n) == nil
			if !n.Kind.known() || unknownChild || c.unsure[n.outputContract()] {
				return true
			}
		case expr.RootResult:
			if work := where.node.Poll.Task; work == nil || c.unsure[&work.OutputContract] {
				return true
			}
		case expr.RootSignal:
			if c.unsure[&where.node.Poll.FinalSignal.ContentContract] {
				return true
			}
		}
	}
	return false
}

// findUnsure lists the contract fields that name a contract which is not there
// to judge by.
func (c *checker) findUnsure() {
	c.unsure = map[**Contract]bool{}
	for _, r := range c.def.refs {
		c.unsure[r.target] = !r.isNull && (*r.target == nil || (*r.target).Schema == nil)
	}
}

func schemaOfContract(k *Contract) *contract.Contract {
	if k == nil {
		return nil
	}
	return k.Schema
}

// arrayOf is the contract of a MAP's output.
func arrayOf(item *Contract) *contract.Contract {
	if item == nil || item.Schema == nil {
		return contract.OfTypes(contract.Array)
	}
	list, _ := contract.Compile(exact.Object(exact.Field("type", exact.String("array")), exact.Field("items", item.source)))
	if list == nil { // the item contract is as deep as contracts may be
		return contract.OfTypes(contract.Array)
	}
	return list
}
