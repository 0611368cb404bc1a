package contract

import (
	"strconv"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/exact"
)

type reader func(c *compiler, out *Contract, v exact.Value, at place)

// keywords is the whole subset. Filled in init, because reading a contract
// inside a contract comes back to this table.
var keywords map[string]reader

func init() {
	keywords = map[string]reader{
		"type":                 readType,
		"enum":                 readEnum,
		"const":                func(_ *compiler, out *Contract, v exact.Value, _ place) { out.constant = &v },
		"properties":           readProperties,
		"required":             readRequired,
		"additionalProperties": readAdditional,
		"items": func(c *compiler, out *Contract, v exact.Value, at place) {
			out.items = c.contract(v, at.pointer, at.depth+1)
		},
		"minProperties":    count(func(out *Contract) *int { return &out.memberLen.min }),
		"maxProperties":    count(func(out *Contract) *int { return &out.memberLen.max }),
		"minItems":         count(func(out *Contract) *int { return &out.itemLen.min }),
		"maxItems":         count(func(out *Contract) *int { return &out.itemLen.max }),
		"minLength":        count(func(out *Contract) *int { return &out.runeLen.min }),
		"maxLength":        count(func(out *Contract) *int { return &out.runeLen.max }),
		"pattern":          readPattern,
		"minimum":          limit("minimum", false, lowEnd),
		"exclusiveMinimum": limit("exclusiveMinimum", true, lowEnd),
		"maximum":          limit("maximum", false, highEnd),
		"exclusiveMaximum": limit("exclusiveMaximum", true, highEnd),
		"multipleOf":       readMultiple,
		"title":            readText,
		"description":      readText,
		"examples": func(c *compiler, _ *Contract, v exact.Value, at place) {
			c.wants(v, exact.KindArray, at)
		},
	}
}

// wants refuses a keyword value of the wrong kind.
func (c *compiler) wants(v exact.Value, kind exact.Kind, at place) bool {
	if v.Kind() != kind {
		c.refuse(CodeKeyword, at.pointer, v, "takes "+article(kind.String())+", not "+article(v.Kind().String()), "")
		return false
	}
	return true
}

func readType(c *compiler, out *Contract, v exact.Value, at place) {
	names := v.Items()
	if v.Kind() == exact.KindString {
		names = []exact.Value{v}
	} else if !c.wants(v, exact.KindArray, at) {
		return
	}
	out.types, out.integer = None, false
	seen := map[string]bool{}
	for _, name := range names {
		t, ok := typeNames[name.Str()]
		if !ok || seen[name.Str()] {
			c.refuse(CodeKeyword, at.pointer, name, "takes the names null, boolean, integer, number, string, array and object, each once", "")
			return
		}
		seen[name.Str()] = true
		out.types |= t
	}
	if out.types == None {
		c.refuse(CodeKeyword, at.pointer, v, "an empty list of types allows nothing", "")
	}
	out.integer = seen["integer"] && !seen["number"]
	out.declare = out.types
}

func readEnum(c *compiler, out *Contract, v exact.Value, at place) {
	if !c.wants(v, exact.KindArray, at) {
		return
	}
	switch n := v.Len(); {
	case n == 0:
		c.refuse(CodeKeyword, at.pointer, v, "an empty enum allows nothing", "")
		return
	case n > EnumMax:
		c.refuse(CodeLimit, at.pointer, v, "an enum has at most 256 values, not "+strconv.Itoa(n), "")
		return
	}
	out.enum, out.enumKeys = v.Items(), map[string]bool{}
	for _, item := range v.Items() {
		out.enumKeys[exact.Key(item)] = true
	}
}

func readProperties(c *compiler, out *Contract, v exact.Value, at place) {
	if !c.wants(v, exact.KindObject, at) {
		return
	}
	if v.Len() > PropertiesMax {
		c.refuse(CodeLimit, at.pointer, v, "an object has at most 256 properties, not "+strconv.Itoa(v.Len()), "")
		return
	}
	for _, m := range v.Members() {
		inner := c.contract(m.Value, exact.Join(at.pointer, m.Name), at.depth+1)
		out.members = append(out.members, Member{Name: m.Name, Contract: inner})
	}
}

func readRequired(c *compiler, out *Contract, v exact.Value, at place) {
	if !c.wants(v, exact.KindArray, at) {
		return
	}
	if v.Len() > PropertiesMax {
		c.refuse(CodeLimit, at.pointer, v, "at most 256 members can be required, not "+strconv.Itoa(v.Len()), "")
		return
	}
	seen := map[string]bool{}
	for i, name := range v.Items() {
		if name.Kind() != exact.KindString || seen[name.Str()] {
			c.refuse(CodeKeyword, exact.JoinIndex(at.pointer, i), name, "takes member names, each once", "")
			return
		}
		seen[name.Str()] = true
		out.required = append(out.required, name.Str())
	}
}

func readAdditional(c *compiler, out *Contract, v exact.Value, at place) {
	if v.Kind() == exact.KindBool {
		out.closed = !v.Bool()
		return
	}
	out.additional = c.contract(v, at.pointer, at.depth+1)
}

func readText(c *compiler, _ *Contract, v exact.Value, at place) {
	if c.wants(v, exact.KindString, at) && utf8.RuneCountInString(v.Str()) > DescriptionRunesMax {
		c.refuse(CodeLimit, at.pointer, v, "longer than 512 characters", "")
	}
}

func readPattern(c *compiler, out *Contract, v exact.Value, at place) {
	if !c.wants(v, exact.KindString, at) {
		return
	}
	compiled, fault := compilePattern(v.Str())
	if fault != nil {
		c.refuse(fault.code, at.pointer, v, fault.detail, fault.hint)
		return
	}
	out.pattern = compiled
}

func readMultiple(c *compiler, out *Contract, v exact.Value, at place) {
	if !c.wants(v, exact.KindNumber, at) {
		return
	}
	step := exact.DecimalOf(v)
	if step.Cmp(exact.Decimal{}) <= 0 {
		c.refuse(CodeKeyword, at.pointer, v, "takes a number greater than 0", "")
		return
	}
	out.step = &step
}

// count reads a non-negative integer; 2.0 is one too, as in JSON Schema.
func count(field func(*Contract) *int) reader {
	return func(c *compiler, out *Contract, v exact.Value, at place) {
		if !c.wants(v, exact.KindNumber, at) {
			return
		}
		d := exact.DecimalOf(v)
		if !d.IsInteger() || d.Cmp(exact.Decimal{}) < 0 {
			c.refuse(CodeKeyword, at.pointer, v, "takes an integer from 0", "")
			return
		}
		n, ok := d.Int64()
		if !ok || n > CountMax {
			c.refuse(CodeLimit, at.pointer, v, "takes an integer up to "+strconv.Itoa(CountMax), "")
			return
		}
		*field(out) = int(n)
	}
}

// limit reads one of the four numeric ends. An inclusive and an exclusive end
// may stand together; the narrower one decides.
func limit(keyword string, exclusive bool, keep func(*Contract, *bound)) reader {
	return func(c *compiler, out *Contract, v exact.Value, at place) {
		if c.wants(v, exact.KindNumber, at) {
			keep(out, &bound{value: exact.DecimalOf(v), token: v.Token(), exclusive: exclusive, keyword: keyword})
		}
	}
}

func lowEnd(out *Contract, b *bound) {
	if out.low == nil || narrower(b, out.low, b.value.Cmp(out.low.value)) {
		out.low = b
	}
}

func highEnd(out *Contract, b *bound) {
	if out.high == nil || narrower(b, out.high, out.high.value.Cmp(b.value)) {
		out.high = b
	}
}

func narrower(a, b *bound, order int) bool {
	return order > 0 || order == 0 && a.exclusive && !b.exclusive
}
