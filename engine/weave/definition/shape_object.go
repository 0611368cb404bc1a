package definition

import (
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
)

// field is one member of an object of the language.
type field struct {
	name     string
	rule     rule
	optional bool
}

func need(name string, r rule) field  { return field{name, r, false} }
func allow(name string, r rule) field { return field{name, r, true} }

// object holds exactly the given fields.
func object(fields ...field) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if c.kind(v, at, exact.KindObject, "an object") {
				c.fields(v, at, fields)
			}
		},
		func() exact.Value { return objectSchema(fields) },
	}
}

func (c *shaper) fields(v exact.Value, at place, fields []field) {
	rules := make(map[string]rule, len(fields))
	var missing []string
	for _, f := range fields {
		rules[f.name] = f.rule
		if _, ok := v.Get(f.name); !ok && !f.optional {
			missing = append(missing, f.name)
		}
	}
	for _, m := range v.Members() {
		if c.full() {
			return
		}
		r, ok := rules[m.Name]
		if ok {
			r.check(c, m.Value, at.member(m.Name))
			continue
		}
		missing = c.unknownField(m.Name, at, sortedNames(rules), missing)
	}
	for _, name := range missing {
		c.add("field_missing", at, quote(name)+" is missing", "every required field is written out, null included")
	}
}

// unknownField reports a field the language does not have. One that looks like
// a missing field is that field misspelt: it is taken off the missing ones, so
// that one mistake stays one finding.
func (c *shaper) unknownField(name string, at place, known, missing []string) []string {
	hint := didYouMean(name, known)
	if meant := nearest(name, missing); meant != "" {
		hint = "did you mean " + quote(meant) + "?"
		missing = without(missing, meant)
	}
	c.add("field_unknown", at.member(name).key(), "there is no field "+quote(name)+" here", hint)
	return missing
}

// tagged is an object whose fields depend on the value of its "kind".
func tagged(kinds []string, fieldsOf func(kind string) []field, unknown string) rule {
	fields := map[string][]field{}
	for _, kind := range kinds {
		fields[kind] = fieldsOf(kind)
	}
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if !c.kind(v, at, exact.KindObject, "an object") {
				return
			}
			if n, ok := v.Get("name"); ok && n.Kind() == exact.KindString {
				at.step = n.Str()
			}
			kind, ok := v.Get("kind")
			if !ok {
				c.add("field_missing", at, "\"kind\" is missing", "one of "+strings.Join(kinds, ", "))
				return
			}
			if !c.kind(kind, at.member("kind"), exact.KindString, "a string") {
				return
			}
			if !contains(kinds, kind.Str()) {
				c.add(unknown, at.member("kind"), "there is no kind "+quote(kind.Str()), didYouMean(kind.Str(), kinds))
				return
			}
			c.fields(v, at, fields[kind.Str()])
		},
		func() exact.Value {
			var either []exact.Value
			for _, kind := range kinds {
				either = append(either, objectSchema(pinKind(fields[kind], kind)))
			}
			return schemaOf("oneOf", exact.Array(either...))
		},
	}
}

// pinKind narrows the kind field to one value, for the JSON Schema.
func pinKind(fields []field, kind string) []field {
	pinned := append([]field(nil), fields...)
	for i, f := range pinned {
		if f.name == "kind" {
			pinned[i].rule = rule{f.rule.check, func() exact.Value { return schemaOf("const", exact.String(kind)) }}
		}
	}
	return pinned
}

// arm is what a case or default does: run a body, fail, or ask a person.
// Exactly one, so a reader never has to know which of two wins (§2 BRANCH).
func arm(extra ...field) rule {
	fields := append(extra,
		allow("body", body(0)), allow("output", anything()),
		allow("fail", matching(reasonPattern)), allow("review", matching(reasonPattern)))
	shape := object(fields...)
	return rule{
		func(c *shaper, v exact.Value, at place) {
			shape.check(c, v, at)
			if v.Kind() != exact.KindObject {
				return
			}
			present := 0
			for _, n := range []string{"body", "fail", "review"} {
				if _, ok := v.Get(n); ok {
					present++
				}
			}
			_, hasBody := v.Get("body")
			_, hasOutput := v.Get("output")
			switch {
			case present != 1:
				c.add("arm_shape", at, "an arm has exactly one of body, fail, review", "an arm that does nothing has \"body\": []")
			case hasOutput && !hasBody:
				c.add("arm_shape", at, "only an arm with a body has an output", "")
			}
		},
		func() exact.Value {
			either := exact.Array(requires("body"), requires("fail"), requires("review"))
			return withMember(shape.schema(), "oneOf", either)
		},
	}
}

// expiry is what a SIGNAL does when its own deadline passes.
func expiry() rule {
	review := oneOf("REVIEW")
	output := object(need("output", anything()))
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if v.Kind() == exact.KindObject {
				output.check(c, v, at)
				return
			}
			review.check(c, v, at)
		},
		func() exact.Value { return schemaOf("anyOf", exact.Array(review.schema(), output.schema())) },
	}
}

func without(list []string, one string) (rest []string) {
	for _, s := range list {
		if s != one {
			rest = append(rest, s)
		}
	}
	return rest
}

func contains(list []string, one string) bool {
	for _, s := range list {
		if s == one {
			return true
		}
	}
	return false
}
