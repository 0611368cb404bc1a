package definition

import (
	"github.com/orbitrun/orbit/engine/exact"
)

// Schema prints the shape as JSON Schema 2020-12, for editors. It knows fields
// and bounds only; scope and types need Check.
func Schema() []byte {
	var defs []exact.Member
	for _, n := range sortedNames(shapes) {
		defs = append(defs, exact.Field(n, shapes[n].schema()))
	}
	return schemaOf(
		"$schema", exact.String("https://json-schema.org/draft/2020-12/schema"),
		"title", exact.String("Orbit workflow definition, schema_version 1"),
		"$ref", exact.String("#/$defs/document"),
		"$defs", exact.Object(defs...),
	).Append(nil)
}

func objectSchema(fields []field) exact.Value {
	var properties []exact.Member
	var required []exact.Value
	for _, f := range fields {
		properties = append(properties, exact.Field(f.name, f.rule.schema()))
		if !f.optional {
			required = append(required, exact.String(f.name))
		}
	}
	return schemaOf("type", exact.String("object"), "additionalProperties", exact.Bool(false),
		"required", exact.Array(required...), "properties", exact.Object(properties...))
}

func requires(name string) exact.Value {
	return schemaOf("required", exact.Array(exact.String(name)))
}

// schemaOf builds an object from name, value pairs.
func schemaOf(pairs ...any) exact.Value {
	var members []exact.Member
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, exact.Field(pairs[i].(string), pairs[i+1].(exact.Value)))
	}
	return exact.Object(members...)
}

func withMember(v exact.Value, name string, value exact.Value) exact.Value {
	return exact.Object(append(append([]exact.Member(nil), v.Members()...), exact.Field(name, value))...)
}

func stringArray(values []string) exact.Value {
	var items []exact.Value
	for _, s := range values {
		items = append(items, exact.String(s))
	}
	return exact.Array(items...)
}

func number[N int | int64](n N) exact.Value { return exact.Int(int64(n)) }

// quote shows a name inside a sentence, as JSON spells it.
func quote(s string) string {
	if runes := []rune(s); len(runes) > 80 {
		s = string(runes[:80]) + "…"
	}
	return exact.String(s).String()
}
