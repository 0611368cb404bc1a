package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// TypeEnv tells the checker what each root holds. A nil contract is anything.
// A step that is not in Steps is anything too: whether it may be read at all
// is the scope check's question, not this one's.
type TypeEnv struct {
	Input  *contract.Contract
	Steps  map[string]*contract.Contract // of outputs, by step name
	Result *contract.Contract
	Signal *contract.Contract
	Item   *contract.Contract

	facts Facts
}

// With is the environment in which more is known: the right side of &&, a
// then-arm, the body and output of a BRANCH case.
func (env TypeEnv) With(more Facts) TypeEnv {
	if len(more.paths) == 0 {
		return env
	}
	env.facts = env.facts.and(more)
	return env
}

// root is the static view of a root.
func (env *TypeEnv) root(p *Path) *contract.Contract {
	switch p.Root {
	case RootInput:
		return env.Input
	case RootSteps:
		return env.Steps[p.Step]
	case RootResult:
		return env.Result
	case RootSignal:
		return env.Signal
	case RootItem:
		return env.Item
	case RootIndex:
		return indexContract
	}
	return instanceContract
}

var (
	indexContract    = mustCompile(`{"type":"integer","minimum":0}`)
	instanceContract = mustCompile(`{"type":"object","additionalProperties":false,"required":["id","business_key"],
		"properties":{"id":{"type":"string"},"business_key":{"type":["string","null"]}}}`)
)

func mustCompile(text string) *contract.Contract {
	v, _ := exact.Parse([]byte(text), exact.PayloadLimits)
	out, problems := contract.Compile(v)
	if len(problems) > 0 {
		panic("expr: a built-in contract is refused: " + problems[0].Detail)
	}
	return out
}

// Facts are what a condition that came out true has established about paths.
// They stay true, because inputs and outputs never change once they exist.
type Facts struct{ paths map[string]fact }

type fact uint8

const (
	present fact = 1 << iota
	notNull
)

// Without forgets what is known about a root that means another value from
// here on: item and index inside a MAP within a MAP.
func (f Facts) Without(roots ...string) Facts {
	out := Facts{paths: map[string]fact{}}
	for path, what := range f.paths {
		root := path
		if end := strings.IndexAny(path, ".["); end >= 0 {
			root = path[:end]
		}
		if !slices.Contains(roots, root) {
			out.paths[path] = what
		}
	}
	return out
}

func (f Facts) and(more Facts) Facts {
	out := Facts{paths: make(map[string]fact, len(f.paths)+len(more.paths))}
	maps.Copy(out.paths, f.paths)
	for path, what := range more.paths {
		out.paths[path] |= what
	}
	return out
}

// Facts are what holds wherever the template, used as a condition, was true:
// has(P) makes P present, P != null makes it present and not null, and either
// makes everything above P an object or array (definition.md section 4.5).
func (t *Template) Facts() Facts {
	if t.root.expr == nil {
		return Facts{}
	}
	return factsOf(t.root.expr.root)
}

func factsOf(n *node) Facts {
	switch n.op {
	case opAnd:
		return factsOf(n.kids[0]).and(factsOf(n.kids[1]))
	case opHas:
		return about(n.path, present)
	case opUnequal:
		for i, kid := range n.kids {
			other := n.kids[1-i]
			if kid.op == opPath && other.op == opLiteral && other.value.IsNull() {
				return about(kid.path, present|notNull)
			}
		}
	}
	return Facts{}
}

func about(p *Path, what fact) Facts {
	out := Facts{paths: map[string]fact{}}
	last := len(p.prefixes) - 1
	for _, above := range p.prefixes[:last] {
		out.paths[above] = present | notNull
	}
	out.paths[p.prefixes[last]] = what
	return out
}
