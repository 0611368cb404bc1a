package definition

import (
	"fmt"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// Options say what a document is judged against besides itself.
type Options struct {
	// Queues reports whether the application has a queue of this name. Nil
	// leaves queue names unchecked, as a desk without a server must.
	Queues func(name string) bool
	// Runnable holds the kinds that can run; the others are checked completely
	// and then refused with node_kind_unsupported. Nil is RunnableKinds.
	Runnable map[Kind]bool
	// AllowUnsupported keeps reserved kinds from being refused, so that tests
	// and editors can work on documents of a later release.
	AllowUnsupported bool
	// Children finds a published definition a CHILD names. Nil leaves CHILD
	// nodes unchecked.
	Children func(name string, version int64) (*Definition, bool)
}

// checker carries one document through the phases.
type checker struct {
	*report
	scopes *scopes
	env    expr.TypeEnv
	unsure map[**Contract]bool
	lost   bool
	items  map[*Node]*contract.Contract // what a MAP's items are
	opts   Options
	def    *Definition
	sites  []*site
}

// Check judges a document. Problems come in document order, at most
// ProblemsMax; the definition is nil when any of them is an error.
func Check(text []byte, opts Options) (*Definition, []Problem) {
	value, err := exact.Parse(text, exact.PayloadLimits)
	r := &report{text: text, root: value}
	if err != nil {
		r.put(Problem{Code: err.Code, Pointer: err.Pointer, Offset: -1, Detail: err.Detail, Position: err.Offset})
		return nil, r.problems()
	}
	c := &checker{report: r, opts: opts, items: map[*Node]*contract.Contract{}}
	if c.shape(value) {
		c.judge(value)
	}
	problems := r.problems()
	if Refused(problems) {
		return nil, problems
	}
	return c.def, problems
}

// shape runs the table over the document and reports whether there is anything
// a later phase could read. A document of another schema_version is not read
// with this table at all.
func (c *checker) shape(value exact.Value) bool {
	s := &shaper{c.report, shapes}
	if version, ok := value.Get("schema_version"); ok {
		schemaVersion().check(s, version, place{}.member("schema_version"))
		if c.refused() {
			return false
		}
	}
	shapes["document"].check(s, value, place{})
	return value.Kind() == exact.KindObject && !c.full()
}

// judge runs the phases that need the whole document.
func (c *checker) judge(value exact.Value) {
	b := &builder{}
	c.def = b.document(value)
	c.def.Digest = value.Digest()
	c.sites, c.lost = b.sites, b.lost
	if n := len(c.def.order); n > NodesMax && !c.refused() {
		c.add("limit_nodes", place{pointer: "/body"}, fmt.Sprintf("%d nodes, at most %d", n, NodesMax), "move a part into another definition")
	}
	if len(c.def.order) > NodesMax {
		return // what the other phases cost grows with the square of it
	}
	c.names(value)
	c.contracts()
	c.children()
	c.expressions()
	c.scope()
	c.types()
	c.structure()
	c.supported()
}

// contracts passes on what the contract language says about each contract.
func (c *checker) contracts() {
	for _, k := range c.def.Contracts {
		for _, p := range k.problems {
			c.put(Problem{
				Code: p.Code, Pointer: k.at.pointer + p.Pointer, Offset: -1,
				Detail: p.Detail, Hint: p.Hint, Position: p.Offset,
			})
		}
	}
}

// RunnableKinds are the kinds this release can run. Server and command line
// read it here, so that they refuse the same documents.
func RunnableKinds() map[Kind]bool {
	return map[Kind]bool{KindTask: true, KindTimer: true, KindSignal: true, KindPoll: true}
}

// supported refuses kinds the runtime cannot run yet, after everything else
// about them was judged.
func (c *checker) supported() {
	if c.opts.AllowUnsupported {
		return
	}
	runnable := c.opts.Runnable
	if runnable == nil {
		runnable = RunnableKinds()
	}
	for _, n := range c.def.order {
		if n.Kind.known() && !runnable[n.Kind] {
			c.add("node_kind_unsupported", n.place().member("kind"), "this release cannot run "+string(n.Kind)+" yet", "")
		}
	}
}

func (k Kind) known() bool { return contains(kindNames(), string(k)) }
