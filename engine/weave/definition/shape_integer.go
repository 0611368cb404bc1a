package definition

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/orbitrun/orbit/engine/exact"
)

// structuralInteger is the one spelling of an integer of the structure. 5.0
// and 5e0 are refused so that equal structures are equal texts (§1).
var structuralInteger = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// integer is a structural integer of least…most.
func integer(least, most int64) rule {
	return rule{
		func(c *shaper, v exact.Value, at place) { c.integer(v, at, least, most) },
		func() exact.Value {
			return schemaOf("type", exact.String("integer"), "minimum", number(least), "maximum", number(most))
		},
	}
}

func (c *shaper) integer(v exact.Value, at place, least, most int64) {
	if !c.kind(v, at, exact.KindNumber, "an integer") {
		return
	}
	if !structuralInteger.MatchString(v.Token()) {
		c.add("field_type", at, v.Token()+" is not spelled as an integer", "write plain digits, without point, exponent or leading zero")
		return
	}
	n, err := strconv.ParseInt(v.Token(), 10, 64)
	if err != nil || n < least || n > most {
		c.add("field_range", at, fmt.Sprintf("%s, must be %d to %d", v.Token(), least, most), "")
	}
}

// schemaVersion has its own code: the person reading it needs another
// release, not another value.
func schemaVersion() rule {
	return rule{
		func(c *shaper, v exact.Value, at place) {
			if v.Kind() == exact.KindNumber && structuralInteger.MatchString(v.Token()) && v.Token() != "1" {
				c.add("schema_version_unsupported", at, "schema_version "+v.Token()+", this release reads 1", "")
				return
			}
			c.integer(v, at, 1, 1)
		},
		func() exact.Value { return schemaOf("const", exact.Number("1")) },
	}
}

// delay is a literal duration or a string that must hold an expression.
func delay() rule {
	literal := integer(1, DurationMillisecondsMax)
	return rule{
		func(c *shaper, v exact.Value, at place) {
			switch v.Kind() {
			case exact.KindNumber:
				literal.check(c, v, at)
			case exact.KindString:
			default:
				c.add("field_type", at, kindName(v)+", must be an integer or an expression", "")
			}
		},
		func() exact.Value {
			return schemaOf("anyOf", exact.Array(literal.schema(), schemaOf("type", exact.String("string"))))
		},
	}
}
