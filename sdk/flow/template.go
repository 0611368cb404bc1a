package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Object is a JSON object whose members are Values, constants, Objects or
// lists. Members are printed sorted by name; order has no meaning in JSON.
type Object map[string]any

// dollars finds what would be read as an expression mark; each run gets one $
// more, which the language takes off again (definition.md §4.1 c).
var dollars = regexp.MustCompile(`\$+\{`)

func escapeTemplate(s string) string { return dollars.ReplaceAllString(s, "$$$0") }

// template prints x as a template. want is the Go type it must satisfy;
// members of Objects are compared with it so a misspelled member is found
// here, in Go terms.
func (b *builder) template(where string, x any, want reflect.Type, roots ...string) any {
	v := reflect.ValueOf(x)
	if value, isValue := x.(anyValue); isValue {
		return b.value(where, value, want, false, roots)
	}
	if o, isObject := x.(Object); isObject {
		return b.object(where, o, want, roots)
	}
	switch {
	case x == nil || v.Kind() == reflect.Pointer && v.IsNil():
		return null
	case v.Kind() == reflect.Map && kindOf(v.Type()) == kindMap:
		return b.object(where, objectOf(v), want, roots)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		return b.list(where, v, want, roots)
	case slices.Contains(scalars, kindOf(v.Type())) && v.Kind() != reflect.Pointer && v.Kind() != reflect.Struct:
		return b.constant(where, x, want)
	}
	return b.plain(where, x)
}

func (b *builder) constant(where string, x any, want reflect.Type) any {
	e := literalFor(x, want)
	b.report(where, e)
	return e.constant
}

// value prints one Value as the whole string the language asks for.
func (b *builder) value(where string, v anyValue, want reflect.Type, mayOmit bool, roots []string) token {
	e := v.expression()
	if !fits(want, v.goType()) {
		e.fail("type_mismatch", "%s is %s, wanted %s", e.text, typeName(v.goType()), typeName(want))
	}
	if e.omits && !mayOmit {
		e.fail("template_omit", "%s: only the member of an Object can be left out", e.text)
	}
	b.check(where, e, roots)
	if constant, isToken := e.constant.(token); isToken {
		return constant
	}
	return quote("${" + e.text + "}")
}

func (b *builder) object(where string, o Object, want reflect.Type, roots []string) object {
	printed, declared := object{}, b.declared(where, o, want)
	for _, key := range slices.Sorted(maps.Keys(o)) {
		inner := where + "." + key
		if strings.Contains(key, "${") {
			b.fail("template_key_expression", inner, "a member name is a constant")
		}
		memberType := declared(key)
		if v, isValue := o[key].(anyValue); isValue {
			printed = printed.with(key, b.value(inner, v, memberType, true, roots))
			continue
		}
		printed = printed.with(key, b.template(inner, o[key], memberType, roots...))
	}
	return printed
}

// declared compares the members of an Object with the struct they are for and
// answers the type wanted of each.
func (b *builder) declared(where string, o Object, want reflect.Type) func(string) reflect.Type {
	want = dereferenced(want)
	switch kindOf(want) {
	case kindMap:
		return func(string) reflect.Type { return want.Elem() }
	case kindAny, kindNone:
		return func(string) reflect.Type { return nil }
	case kindObject:
	default:
		b.fail("type_mismatch", where, "an Object where "+typeName(want)+" is wanted")
		return func(string) reflect.Type { return nil }
	}
	fields, _ := fieldsOf(want)
	known := map[string]reflect.Type{}
	for _, f := range fields {
		known[f.name] = f.typ
		if _, given := o[f.name]; !given && !f.tag.optional {
			b.fail("template_breaks_contract", where, fmt.Sprintf("%s needs member %q", typeName(want), f.name))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if _, fine := known[key]; !fine {
			b.fail("template_breaks_contract", where, fmt.Sprintf("%s has no member %q%s", typeName(want), key, nearest(key, names(fields))))
		}
	}
	return func(key string) reflect.Type { return known[key] }
}

func (b *builder) list(where string, v reflect.Value, want reflect.Type, roots []string) array {
	var element reflect.Type
	switch k := kindOf(want); {
	case k == kindList:
		element = dereferenced(want).Elem()
	case k != kindAny && k != kindNone:
		b.fail("type_mismatch", where, "a list where "+typeName(want)+" is wanted")
	}
	printed := array{}
	for i := range v.Len() {
		printed = append(printed, b.template(fmt.Sprintf("%s[%d]", where, i), v.Index(i).Interface(), element, roots...))
	}
	return printed
}

// objectOf is a Go map with string keys as an Object, Values inside it kept.
func objectOf(v reflect.Value) Object {
	o := Object{}
	for _, key := range v.MapKeys() {
		o[key.String()] = v.MapIndex(key).Interface()
	}
	return o
}

// plain prints any other Go value as its JSON, all of it constant.
func (b *builder) plain(where string, x any) any {
	if kindOf(reflect.TypeOf(x)) == kindFloat {
		b.fail("type_mismatch", where, "a float changes numbers; use flow.Number")
		return null
	}
	text, err := json.Marshal(x)
	if err != nil {
		b.fail("field_value", where, err.Error())
		return null
	}
	v, err := decoded(text)
	if err != nil {
		b.fail("field_value", where, err.Error())
		return null
	}
	return b.template(where, constants(v), nil)
}

// constants turns decoded JSON into what template prints.
func constants(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := Object{}
		for key, item := range v {
			o[key] = constants(item)
		}
		return o
	case []any:
		list := make([]any, 0, len(v))
		for _, item := range v {
			list = append(list, constants(item))
		}
		return list
	}
	return v
}
