package definition

import "github.com/orbitrun/orbit/engine/exact"

// Options say what a document is judged against besides itself.
type Options struct {
	// Queues reports whether the application has a queue of this name. Nil
	// leaves queue names unchecked, as a desk without a server must.
	Queues func(name string) bool
	// Runnable holds the kinds this release can run; the others are checked
	// completely and then refused with node_kind_unsupported.
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
	opts       Options
	def        *Definition
	sites      []*site
	bodyOffset int
}

// Check judges a document. Problems come in document order, at most
// ProblemsMax; the definition is nil when any of them is an error.
func Check(text []byte, opts Options) (*Definition, []Problem) {
	r := &report{}
	value, err := exact.Parse(text, exact.PayloadLimits)
	if err != nil {
		r.add(err.Code, place{pointer: err.Pointer}, err.Offset, err.Detail, "")
		return nil, r.problems(text)
	}
	shapes["document"].check(&shaper{r, shapes}, value, place{})
	if value.Kind() != exact.KindObject || r.broken("/schema_version") {
		return nil, r.problems(text)
	}
	b := &builder{}
	c := &checker{report: r, opts: opts, def: b.document(value), sites: b.sites}
	if body, ok := value.Get("body"); ok {
		c.bodyOffset = body.Offset()
	}
	c.names(value)
	c.structure()
	c.supported()
	problems := r.problems(text)
	if Refused(problems) {
		return nil, problems
	}
	return c.def, problems
}

// supported refuses kinds the runtime cannot run yet, after everything else
// about them was judged.
func (c *checker) supported() {
	if c.opts.AllowUnsupported {
		return
	}
	for _, n := range c.def.order {
		if n.Kind.known() && !c.opts.Runnable[n.Kind] {
			c.add("node_kind_unsupported", n.place().member("kind"), n.kindOffset, "this release cannot run "+string(n.Kind)+" yet", "")
		}
	}
}

func (k Kind) known() bool { return contains(kindNames(), string(k)) }
