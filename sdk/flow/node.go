package flow

// Node is one step of a body: what Task, Branch, Parallel, Timer, TimerFor,
// Signal, Poll and Scope return. A node stands in exactly one body.
type Node interface {
	base() *step
	bodies() [][]Node
	print(*builder) object
}

// Body is a sequence of nodes, run in order.
func Body(nodes ...Node) []Node { return nodes }

// step is what every node has.
type step struct {
	name        string
	description string
	source      string
	output      func() bool // whether steps.NAME.output exists
}

func always() bool { return true }

func newStep(name string) step { return step{name: name, source: callSite(), output: always} }

func (s *step) base() *step { return s }

// start opens the printed node with its common members.
func (s *step) start(kind string) object {
	return object{{"name", quote(s.name)}, {"kind", quote(kind)}}.withText("description", s.description)
}

func outputOf[T any](s *step) Value[T] {
	v := root[T]("steps." + s.name + ".output")
	v.e.reads = []*step{s}
	return v
}

// leaf is a step without bodies.
type leaf struct{ step }

func (*leaf) bodies() [][]Node { return nil }
