package definition

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/exact"
)

// rule says what one JSON value of the document must look like, twice over:
// as a check and as JSON Schema. Rules are values, so the whole shape of the
// language is one table of them.
type rule struct {
	check  func(c *shaper, v exact.Value, at place)
	schema func() exact.Value
}

// shaper walks a document along the table.
type shaper struct {
	*report
	shapes map[string]rule
}

// ref names another line of the table, which is how nodes contain nodes.
func ref(name string) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) { c.shapes[name].check(c, v, at) },
		func() exact.Value { return schemaOf("$ref", exact.String("#/$defs/"+name)) },
	}
}

// anything is a template, an expression or a contract: later phases read it.
func anything() rule {
	return rule{
		func(*shaper, exact.Value, place) {},
		func() exact.Value { return exact.Object() },
	}
}

// text is a string of least…most code points.
func text(least, most int) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if !c.kind(v, at, exact.KindString, "a string") {
				return
			}
			if n := utf8.RuneCountInString(v.Str()); n < least || n > most {
				c.add("field_range", at, fmt.Sprintf("%d characters, must be %d to %d", n, least, most), "")
			}
		},
		func() exact.Value {
			return schemaOf("type", exact.String("string"), "minLength", number(least), "maxLength", number(most))
		},
	}
}

// matching is a string of a fixed syntax.
func matching(pattern string) rule {
	syntax := regexp.MustCompile(pattern)
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if c.kind(v, at, exact.KindString, "a string") && !syntax.MatchString(v.Str()) {
				c.add("field_value", at, fmt.Sprintf("%s does not match %s", quote(v.Str()), pattern), "")
			}
		},
		func() exact.Value { return schemaOf("type", exact.String("string"), "pattern", exact.String(pattern)) },
	}
}

// name is a string; the names phase judges its syntax, so that a misspelt
// name is one finding and not also a wrong field.
func name() rule {
	return rule{
		func(c *shaper, v exact.Value, at place) { c.kind(v, at, exact.KindString, "a name") },
		func() exact.Value {
			return schemaOf("type", exact.String("string"), "pattern", exact.String(namePattern))
		},
	}
}

// oneOf is an enumeration of strings.
func oneOf(values ...string) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if !c.kind(v, at, exact.KindString, "a string") {
				return
			}
			for _, value := range values {
				if v.Str() == value {
					return
				}
			}
			c.add("field_value", at, quote(v.Str())+" is not one of "+strings.Join(values, ", "), didYouMean(v.Str(), values))
		},
		func() exact.Value { return schemaOf("enum", stringArray(values)) },
	}
}

// nullable also takes null, which must be written out: no absent field ever
// means something a later release could redefine.
func nullable(inner rule) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if v.Kind() != exact.KindNull {
				inner.check(c, v, at)
			}
		},
		func() exact.Value {
			return schemaOf("anyOf", exact.Array(schemaOf("type", exact.String("null")), inner.schema()))
		},
	}
}

// list is an array of least…most items.
func list(item rule, least, most int) rule {
	return listOf(item, least, most, "field_range", "field_range")
}

// body is a sequence of nodes. An empty one has its own code because it is a
// common slip; how many nodes there may be is counted over the whole document.
func body(least int) rule {
	return listOf(ref("node"), least, NodesMax, "body_empty", "limit_nodes")
}

// fan is a list of ways to go on, bounded because one plan starts them all.
func fan(item rule, least, most int) rule {
	return listOf(item, least, most, "limit_branches", "limit_branches")
}

func listOf(item rule, least, most int, short, long string) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if !c.kind(v, at, exact.KindArray, "an array") {
				return
			}
			items := v.Items()
			if len(items) < least {
				c.add(short, at, fmt.Sprintf("%d items, needs at least %d", len(items), least), "")
			}
			if len(items) > most {
				c.add(long, at, fmt.Sprintf("%d items, at most %d", len(items), most), "")
			}
			for i, one := range items {
				if c.full() {
					return
				}
				item.check(c, one, at.item(i))
			}
		},
		func() exact.Value {
			return schemaOf("type", exact.String("array"), "minItems", number(least), "maxItems", number(most), "items", item.schema())
		},
	}
}

// dictionary is an object of names the author chose.
func dictionary(inner rule, most int, long string) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if !c.kind(v, at, exact.KindObject, "an object") {
				return
			}
			if n := len(v.Members()); n > most {
				c.add(long, at, fmt.Sprintf("%d members, at most %d", n, most), "")
			}
			for _, m := range v.Members() {
				if c.full() {
					return
				}
				inner.check(c, m.Value, at.member(m.Name))
			}
		},
		func() exact.Value {
			return schemaOf("type", exact.String("object"), "maxProperties", number(most),
				"propertyNames", schemaOf("pattern", exact.String(namePattern)), "additionalProperties", inner.schema())
		},
	}
}

// scalar is any JSON value without parts.
func scalar() rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if v.Kind() == exact.KindArray || v.Kind() == exact.KindObject {
				c.add("field_type", at, kindName(v)+", must be a string, number, boolean or null", "")
			}
		},
		func() exact.Value {
			return schemaOf("type", stringArray([]string{"string", "number", "boolean", "null"}))
		},
	}
}

// kind reports a value of the wrong JSON type and says whether it was right.
func (c *shaper) kind(v exact.Value, at place, want exact.Kind, what string) bool {
	if v.Kind() == want {
		return true
	}
	c.add("field_type", at, kindName(v)+", must be "+what, typeHint(v, want))
	return false
}

// typeHint knows the one slip everybody makes: a version written as a number.
func typeHint(v exact.Value, want exact.Kind) string {
	if want == exact.KindString && v.Kind() == exact.KindNumber {
		return "quote it: \"" + v.Token() + "\""
	}
	return ""
}

func kindName(v exact.Value) string {
	switch v.Kind() {
	case exact.KindNull:
		return "null"
	case exact.KindArray, exact.KindObject:
		return "an " + v.Kind().String()
	}
	return "a " + v.Kind().String()
}

func sortedNames[V any](table map[string]V) []string {
	names := make([]string, 0, len(table))
	for n := range table {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
