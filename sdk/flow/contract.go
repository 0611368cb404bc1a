package flow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// field is one JSON member a struct declares.
type field struct {
	name        string
	typ         reflect.Type
	tag         flowTag
	description string
}

func (f field) nullable() bool {
	return f.tag.nullable || f.typ.Kind() == reflect.Pointer && !f.tag.optional
}

func (f field) enumTokens() []string { return f.tag.enum }

func names(fields []field) []string {
	list := make([]string, 0, len(fields))
	for _, f := range fields {
		list = append(list, f.name)
	}
	return list
}

// fieldsOf lists the members of a struct in the order of the source, embedded
// structs flattened as encoding/json does, and says what is wrong with them.
func fieldsOf(t reflect.Type) (fields []field, problems []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if embedded := dereferenced(f.Type); f.Anonymous && f.Tag.Get("json") == "" && kindOf(embedded) == kindObject {
			inner, wrong := fieldsOf(embedded)
			fields, problems = append(fields, inner...), append(problems, wrong...)
			continue
		}
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		member, wrong := fieldOf(f)
		for _, why := range wrong {
			problems = append(problems, typeName(t)+"."+f.Name+": "+why)
		}
		if slices.Contains(names(fields), member.name) {
			problems = append(problems, fmt.Sprintf("%s.%s: a second member %q", typeName(t), f.Name, member.name))
			continue
		}
		fields = append(fields, member)
	}
	return fields, problems
}

func fieldOf(f reflect.StructField) (field, []string) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		name = f.Name
	}
	k := kindOf(f.Type)
	tag, problems := parseTag(f.Tag.Get("flow"), k)
	list := strings.Split(options, ",")
	if slices.Contains(list, "omitempty") || slices.Contains(list, "omitzero") {
		tag.optional = true // encoding/json does leave it out
	}
	if slices.Contains(list, "string") {
		problems = append(problems, "json option string hides the type; use a string")
	}
	if tag.integer && k != kindNumber {
		problems = append(problems, "integer is for flow.Number")
	}
	if tag.name != "" || tag.closed {
		problems = append(problems, "name and closed belong to the flow.Contract marker")
	}
	return field{name: name, typ: f.Type, tag: tag, description: f.Tag.Get("description")}, problems
}

// marker is the flow.Contract field of a struct, if there is one.
func marker(t reflect.Type) (tag flowTag, description string, problems []string) {
	if kindOf(t) != kindObject {
		return tag, "", nil
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Type == reflect.TypeFor[Contract]() {
			tag, problems = parseTag(f.Tag.Get("flow"), kindObject)
			return tag, f.Tag.Get("description"), problems
		}
	}
	return tag, "", nil
}

// contracts collects the contracts of one document in order of first use.
type contracts struct {
	printed object
	types   map[string]reflect.Type
	fail    func(code, where, detail string)
}

// reference is the contract field for a type: its name, printed on first use,
// or null for Any and None.
func (c *contracts) reference(t reflect.Type) token {
	t = dereferenced(t)
	if k := kindOf(t); k == kindAny || k == kindNone {
		return null
	}
	tag, _, _ := marker(t)
	name := tag.name
	if name == "" {
		name = snakeCase(t.Name())
	}
	if known, used := c.types[name]; !used {
		c.types[name] = t
		where := "contract of " + t.String()
		checkName(name, where, func(code, detail string) {
			c.fail(code, where, detail+"; give the type a name or a flow.Contract marker")
		})
		c.printed = c.printed.with(name, c.schema(t, flowTag{}, "", false, nil))
	} else if known != t {
		c.fail("contract_conflict", "contract "+name, fmt.Sprintf("%s and %s both print it", known, t))
	}
	return quote(name)
}

// schema is the contract text of one type. path holds the structs above it:
// the language has no $ref, so a type inside itself cannot be printed.
func (c *contracts) schema(t reflect.Type, tag flowTag, description string, nullable bool, path []reflect.Type) object {
	t = dereferenced(t)
	if slices.Contains(path, t) {
		c.fail("contract_type", t.String(), "contains itself; contracts are finite, use flow.Any")
		return object{}
	}
	o := object{}.withText("description", description)
	o = c.typed(o, t, tag, nullable)
	for _, r := range tag.rules {
		if list, isEnum := r.value.(array); isEnum && nullable {
			r.value = append(slices.Clone(list), null)
		}
		o = append(o, r)
	}
	switch kindOf(t) {
	case kindList:
		return c.withElement(o, "items", t, path)
	case kindMap:
		return c.withElement(o, "additionalProperties", t, path)
	case kindObject:
		return c.withMembers(o, t, append(slices.Clone(path), t))
	}
	return o
}

var typeNames = map[kind]token{
	kindString: `"string"`, kindNumber: `"number"`, kindInteger: `"integer"`, kindBool: `"boolean"`,
	kindList: `"array"`, kindMap: `"object"`, kindObject: `"object"`,
}

func (c *contracts) typed(o object, t reflect.Type, tag flowTag, nullable bool) object {
	k := kindOf(t)
	switch k {
	case kindAny:
		return o
	case kindNone:
		return o.with("type", token(`"null"`))
	case kindFloat:
		c.fail("contract_type", t.String(), "a float changes numbers; use flow.Number")
	case kindUnsupported:
		c.fail("contract_type", t.String(), "has no JSON type a contract can state; use flow.Any")
	}
	name, known := typeNames[k]
	if !known {
		return o
	}
	if tag.integer {
		name = typeNames[kindInteger]
	}
	if nullable {
		return o.with("type", array{name, token(`"null"`)})
	}
	return o.with("type", name)
}

func (c *contracts) withElement(o object, keyword string, t reflect.Type, path []reflect.Type) object {
	element := t.Elem()
	if kindOf(element) == kindAny {
		return o // an absent keyword means any
	}
	return o.with(keyword, c.schema(element, flowTag{}, "", element.Kind() == reflect.Pointer, path))
}

func (c *contracts) withMembers(o object, t reflect.Type, path []reflect.Type) object {
	tag, description, wrongMarker := marker(t)
	fields, wrong := fieldsOf(t)
	for _, why := range append(wrongMarker, wrong...) {
		c.fail("contract_tag", t.String(), why)
	}
	if description != "" && (len(o) == 0 || o[0].key != "description") {
		o = append(object{{"description", quote(description)}}, o...)
	}
	o = append(o, tag.rules...)
	if tag.closed {
		o = o.with("additionalProperties", token("false"))
	}
	var required array
	properties := object{}
	for _, f := range fields {
		if !f.tag.optional {
			required = append(required, quote(f.name))
		}
		properties = properties.with(f.name, c.schema(f.typ, f.tag, f.description, f.nullable(), path))
	}
	if len(required) > 0 {
		o = o.with("required", required)
	}
	return o.with("properties", properties)
}

// snakeCase turns OrderID into order_id and HTTPCall into http_call.
func snakeCase(name string) string {
	runes, b := []rune(name), strings.Builder{}
	for i, r := range runes {
		starts := unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if starts {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
