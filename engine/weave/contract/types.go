package contract

import (
	"math/bits"
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
)

// Types is a set of the six types of the language.
type Types uint8

// The types, in the order of exact.Kind.
const (
	Null Types = 1 << iota
	Boolean
	Number
	String
	Array
	Object

	None   Types = 0
	Any          = Null | Boolean | Number | String | Array | Object
	Scalar       = Null | Boolean | Number | String
)

// TypeOf is the type of one value.
func TypeOf(v exact.Value) Types { return 1 << v.Kind() }

// Has reports whether every type of other is in the set.
func (t Types) Has(other Types) bool { return t&other == other }

// Single reports whether the set holds exactly one type.
func (t Types) Single() bool { return bits.OnesCount8(uint8(t)) == 1 }

// String lists the set for a message: "string or null", "anything".
func (t Types) String() string {
	switch t {
	case Any:
		return "anything"
	case None:
		return "nothing"
	}
	var names []string
	for k := exact.KindObject; k > exact.KindNull; k-- {
		if t.Has(1 << k) {
			names = append(names, k.String())
		}
	}
	if t.Has(Null) {
		names = append(names, "null")
	}
	return strings.Join(names, " or ")
}

// typeNames are the names the type keyword takes. An integer is a number with
// a constraint, not a type of its own.
var typeNames = map[string]Types{
	"null": Null, "boolean": Boolean, "number": Number, "integer": Number, "string": String, "array": Array, "object": Object,
}
