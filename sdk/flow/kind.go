package flow

import (
	"encoding"
	"encoding/json"
	"reflect"
	"time"
)

// kind is the JSON side of a Go type: the one table from which contracts, type
// checks of Get and checks of constants are made.
type kind int

const (
	kindUnsupported kind = iota
	kindAny
	kindNone
	kindString
	kindNumber
	kindInteger
	kindBool
	kindList
	kindMap
	kindObject
	kindFloat
)

// Names that carry meaning beyond their Go kind.
var namedKinds = map[reflect.Type]kind{
	reflect.TypeFor[Any]():         kindAny,
	reflect.TypeFor[None]():        kindNone,
	reflect.TypeFor[Number]():      kindNumber,
	reflect.TypeFor[json.Number](): kindNumber,
	reflect.TypeFor[time.Time]():   kindString, // RFC 3339 text
	reflect.TypeFor[[]byte]():      kindString, // base64 text
}

var goKinds = map[reflect.Kind]kind{
	reflect.String: kindString, reflect.Bool: kindBool, reflect.Struct: kindObject,
	reflect.Int: kindInteger, reflect.Int8: kindInteger, reflect.Int16: kindInteger,
	reflect.Int32: kindInteger, reflect.Int64: kindInteger,
	reflect.Uint: kindInteger, reflect.Uint8: kindInteger, reflect.Uint16: kindInteger,
	reflect.Uint32: kindInteger, reflect.Uint64: kindInteger,
	reflect.Float32: kindFloat, reflect.Float64: kindFloat,
	reflect.Slice: kindList, reflect.Map: kindMap,
}

func kindOf(t reflect.Type) kind {
	t = dereferenced(t)
	if t == nil {
		return kindAny
	}
	if k, named := namedKinds[t]; named {
		return k
	}
	switch {
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return kindAny
	case marshals[encoding.TextMarshaler](t):
		return kindString
	case marshals[json.Marshaler](t):
		return kindUnsupported // its JSON is not visible in the type
	case t.Kind() == reflect.Map && t.Key().Kind() != reflect.String:
		return kindUnsupported
	}
	return goKinds[t.Kind()]
}

func marshals[M any](t reflect.Type) bool {
	m := reflect.TypeFor[M]()
	return t.Implements(m) || reflect.PointerTo(t).Implements(m)
}

func dereferenced(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func numeric(k kind) bool { return k == kindNumber || k == kindInteger }

// same tells whether Get[want] may read a field of type got: the same JSON
// scalar, or the same Go type, so that later reads into it stay checked.
func same(want, got reflect.Type) bool {
	want, got = dereferenced(want), dereferenced(got)
	w, g := kindOf(want), kindOf(got)
	switch {
	case w == kindAny || g == kindAny || want == got:
		return true
	case w == kindList && g == kindList, w == kindMap && g == kindMap:
		return same(want.Elem(), got.Elem())
	}
	return fitsScalar(w, g)
}

// fits is the weaker question for values put into a place: unlike structs may
// still fit, which only the server's contract check can tell.
func fits(want, got reflect.Type) bool {
	w, g := kindOf(want), kindOf(got)
	switch {
	case w == kindAny || g == kindAny || w == kindNone:
		return true
	case w == kindList && g == kindList:
		return fits(dereferenced(want).Elem(), dereferenced(got).Elem())
	case w == kindObject || w == kindMap:
		return g == kindObject || g == kindMap
	}
	return fitsScalar(w, g)
}

func fitsScalar(w, g kind) bool {
	return numeric(w) && numeric(g) || w == g && (w == kindString || w == kindBool)
}

func typeName(t reflect.Type) string {
	if t = dereferenced(t); t == nil {
		return "nil"
	}
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}
