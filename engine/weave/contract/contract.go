package contract

import (
	"regexp"

	"github.com/orbitrun/orbit/engine/exact"
)

// Contract is one compiled contract. It is immutable and safe for concurrent
// use.
type Contract struct {
	types   Types // what type, enum and const leave
	declare Types // what type alone says; violations name it
	integer bool  // numbers must have no fraction

	enum     []exact.Value
	enumKeys map[string]bool // the same by exact.Key, so that a long enum costs one look
	constant *exact.Value

	members    []Member
	properties int // how many of members stand under properties
	byName     map[string]int
	required   []string
	additional *Contract // nil: any
	closed     bool      // additionalProperties: false
	memberLen  span

	items   *Contract // nil: any
	itemLen span

	runeLen span
	pattern *regexp.Regexp

	low, high *bound
	step      *exact.Decimal
}

// Member is one declared member of an object: named under properties, under
// required, or both.
type Member struct {
	Name     string
	Contract *Contract // never nil
	Required bool
}

// span is a minimum and a maximum count; maximum is CountMax when not written.
type span struct{ min, max int }

// bound is one end of a numeric range.
type bound struct {
	value     exact.Decimal
	token     string
	exclusive bool
	keyword   string
}

var unbounded = span{0, CountMax}

// Anything is the contract {}.
func Anything() *Contract { return OfTypes(Any) }

// OfTypes is the contract that says no more than the type.
func OfTypes(t Types) *Contract {
	return &Contract{types: t, declare: t, memberLen: unbounded, itemLen: unbounded, runeLen: unbounded}
}

// Types is the set of types a value may have.
func (c *Contract) Types() Types { return c.types }

// Integer reports whether numbers must have no fraction.
func (c *Contract) Integer() bool { return c.integer }

// Members are the declared members in the order of the text.
func (c *Contract) Members() []Member { return c.members }

// Member finds a declared member.
func (c *Contract) Member(name string) (Member, bool) {
	if i, ok := c.byName[name]; ok {
		return c.members[i], true
	}
	return Member{}, false
}

// Additional is the contract of undeclared members; nil when they may be
// anything. It says nothing when Closed.
func (c *Contract) Additional() *Contract { return c.additional }

// Closed reports whether undeclared members are forbidden.
func (c *Contract) Closed() bool { return c.closed }

// Items is the contract of array elements; nil when they may be anything.
func (c *Contract) Items() *Contract { return c.items }

// ItemCount is the least and greatest number of elements; the greatest is
// CountMax when the contract sets none.
func (c *Contract) ItemCount() (least, most int) { return c.itemLen.min, c.itemLen.max }

// MemberCount is the least and greatest number of members.
func (c *Contract) MemberCount() (least, most int) { return c.memberLen.min, c.memberLen.max }

// Enum are the only values allowed, when the contract lists them by enum or
// const; false when it does not.
func (c *Contract) Enum() ([]exact.Value, bool) {
	switch {
	case c.constant != nil:
		return []exact.Value{*c.constant}, true
	case c.enum != nil:
		return c.enum, true
	}
	return nil, false
}

// Unknown reports that the contract tells nothing about the type or members of
// a value, as {} does.
func (c *Contract) Unknown() bool {
	return c.types == Any && len(c.members) == 0 && c.additional == nil && !c.closed && c.items == nil
}
