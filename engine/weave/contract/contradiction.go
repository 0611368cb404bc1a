package contract

import (
	"strconv"

	"github.com/orbitrun/orbit/engine/exact"
)

// contradictions refuses rules that nothing of the kind they speak about can
// satisfy, as far as that shows without solving anything: the author meant
// something else.
func (c *compiler) contradictions(out *Contract, v exact.Value, at string) {
	say := func(keyword, detail string) {
		where := v
		if keyword != "" {
			where, _ = v.Get(keyword)
			keyword = exact.Join(at, keyword)
		} else {
			keyword = at
		}
		c.refuse(CodeContradiction, keyword, where, detail, "")
	}
	for _, s := range []struct {
		keyword string
		span    span
	}{{"minLength", out.runeLen}, {"minItems", out.itemLen}, {"minProperties", out.memberLen}} {
		if s.span.min > s.span.max {
			say(s.keyword, "is above the maximum of "+strconv.Itoa(s.span.max))
		}
	}
	if out.low != nil && out.high != nil && out.emptyRange() {
		say(out.low.keyword, "leaves no number below "+out.high.keyword)
	}
	if keyword, detail := out.impossibleMembers(); keyword != "" {
		say(keyword, detail)
	}
	c.impossibleValues(out, say)
}

// emptyRange reports whether no number, or no integer where one is asked for,
// lies between the two ends.
func (c *Contract) emptyRange() bool {
	order := c.low.value.Cmp(c.high.value)
	if order > 0 || order == 0 && (c.low.exclusive || c.high.exclusive) {
		return true
	}
	if !c.integer {
		return false
	}
	low, lowOK := c.low.value.Ceil(c.low.exclusive)
	high, highOK := c.high.value.Floor(c.high.exclusive)
	return lowOK && highOK && low.Cmp(high) > 0
}

func (c *Contract) impossibleMembers() (keyword, detail string) {
	if c.closed {
		for _, name := range c.required {
			if !c.described(name) {
				return "required", "requires \"" + name + "\", which additionalProperties forbids"
			}
		}
		if c.memberLen.min > len(c.members) {
			return "minProperties", "asks for more members than there are properties"
		}
	}
	if len(c.required) > c.memberLen.max {
		return "required", "requires more members than maxProperties allows"
	}
	return "", ""
}

// described reports whether a member stands under properties; index puts the
// merely required ones behind them.
func (c *Contract) described(name string) bool { return c.byName[name] < c.properties }

// impossibleValues refuses a const that does not fit the rest, and an enum of
// which no value does. A few useless values in an enum are harmless.
func (c *compiler) impossibleValues(out *Contract, say func(keyword, detail string)) {
	if out.constant != nil && len(out.Validate(*out.constant)) > 0 {
		say("const", "does not satisfy the contract it stands in")
	}
	usable := 0
	for _, v := range out.enum {
		rest := *out
		rest.constant, rest.enum = nil, nil
		if len(rest.Validate(v)) == 0 {
			usable++
		}
	}
	if out.enum != nil && usable == 0 {
		say("enum", "has no value that satisfies the contract it stands in")
	}
}
