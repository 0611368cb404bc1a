package expr

import (
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// Type is what the checker knows about the value of an expression or template.
type Type struct {
	// Types is the set of types the value may have.
	Types contract.Types
	// Unknown says that a contract left the type open: Types is then only what
	// it could be, and the check is left to run time.
	Unknown bool

	broken   bool // a problem was already reported below; ask nothing more
	constant *exact.Value
	sources  []source // where the value may be copied from
}

// source is one alternative of a value: a copy of something a contract
// describes, a constant, or something computed (neither).
type source struct {
	types    contract.Types
	unknown  bool
	contract *contract.Contract
	constant *exact.Value
}

// Contract is the contract that describes the whole value, when it is a copy
// from one place; nil otherwise.
func (t Type) Contract() *contract.Contract {
	if len(t.sources) == 1 {
		return t.sources[0].contract
	}
	return nil
}

func computed(t contract.Types) Type {
	return Type{Types: t, sources: []source{{types: t}}}
}

func constantType(v exact.Value) Type {
	t := contract.TypeOf(v)
	return Type{Types: t, constant: &v, sources: []source{{types: t, constant: &v}}}
}

// brokenType stands for an expression that is already refused.
func brokenType() Type { return Type{Types: contract.Any, Unknown: true, broken: true} }

// or joins the alternatives of ?: and ??.
func (t Type) or(other Type) Type {
	return Type{
		Types: t.Types | other.Types, Unknown: t.Unknown || other.Unknown, broken: t.broken || other.broken,
		sources: append(append([]source(nil), t.sources...), other.sources...),
	}
}

// without takes types out of every alternative.
func (t Type) without(gone contract.Types) Type {
	t.Types &^= gone
	var kept []source
	for _, s := range t.sources {
		if s.types &^= gone; s.types != contract.None || s.unknown {
			kept = append(kept, s)
		}
	}
	t.sources = kept
	return t
}

// listed are the only values the value can have, when a contract lists them.
func (t Type) listed() ([]exact.Value, bool) {
	if c := t.Contract(); c != nil {
		return c.Enum()
	}
	return nil, false
}
