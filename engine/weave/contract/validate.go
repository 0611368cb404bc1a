package contract

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/exact"
)

// Violation is one way in which a value breaks its contract. Pointer leads
// into the value, Keyword names the rule, Detail says what the rule asks for.
// Detail never repeats the value, which may be secret.
type Violation struct {
	Pointer string
	Keyword string
	Detail  string
}

func (v Violation) String() string {
	if v.Pointer == "" {
		return "the value " + v.Detail
	}
	return v.Pointer + " " + v.Detail
}

// Validate lists what breaks the contract, at most ViolationsMax, in the order
// of the value. None means the value is good. Time is linear in the value.
func (c *Contract) Validate(v exact.Value) []Violation {
	w := &walk{}
	w.value(c, v)
	return w.found
}

// Accepts reports whether the value satisfies the contract.
func (c *Contract) Accepts(v exact.Value) bool { return len(c.Validate(v)) == 0 }

// walk descends the value and the contract together. The path is kept as
// segments and joined only for a violation.
type walk struct {
	path  []segment
	found []Violation
}

type segment struct {
	name  string
	index int // used when name is not
	item  bool
}

func (w *walk) full() bool { return len(w.found) >= ViolationsMax }

func (w *walk) say(keyword, detail string) {
	if w.full() {
		return
	}
	pointer := ""
	for _, s := range w.path {
		if s.item {
			pointer = exact.JoinIndex(pointer, s.index)
		} else {
			pointer = exact.Join(pointer, s.name)
		}
	}
	w.found = append(w.found, Violation{Pointer: pointer, Keyword: keyword, Detail: detail})
}

func (w *walk) under(s segment, c *Contract, v exact.Value) {
	w.path = append(w.path, s)
	w.value(c, v)
	w.path = w.path[:len(w.path)-1]
}

func (w *walk) value(c *Contract, v exact.Value) {
	if w.full() {
		return
	}
	if !c.declare.Has(TypeOf(v)) {
		w.say("type", "must be "+c.typeText()+", not "+v.Kind().String())
		return
	}
	w.listed(c, v)
	switch v.Kind() {
	case exact.KindNumber:
		w.number(c, v)
	case exact.KindString:
		w.text(c, v.Str())
	case exact.KindArray:
		w.array(c, v)
	case exact.KindObject:
		w.object(c, v)
	}
}

func (c *Contract) typeText() string {
	if c.integer && c.declare == Number {
		return "an integer"
	}
	return c.declare.String()
}

func (w *walk) listed(c *Contract, v exact.Value) {
	if c.enum != nil && !c.enumKeys[exact.Key(v)] {
		w.say("enum", "must be one of the listed values")
	}
	if c.constant != nil && !exact.Equal(*c.constant, v) {
		w.say("const", "must be the one value allowed")
	}
}

func (w *walk) number(c *Contract, v exact.Value) {
	if !c.integer && c.low == nil && c.high == nil && c.step == nil {
		return
	}
	d := exact.DecimalOf(v)
	if c.integer && !d.IsInteger() {
		w.say("type", "must be an integer")
	}
	if b := c.low; b != nil && !inside(d.Cmp(b.value), b.exclusive) {
		w.say(b.keyword, "must be "+wording(b.exclusive, "above", "at least")+" "+b.token)
	}
	if b := c.high; b != nil && !inside(b.value.Cmp(d), b.exclusive) {
		w.say(b.keyword, "must be "+wording(b.exclusive, "below", "at most")+" "+b.token)
	}
	if c.step != nil && !d.MultipleOf(*c.step) {
		w.say("multipleOf", "must be a multiple of "+c.step.String())
	}
}

func inside(order int, exclusive bool) bool { return order > 0 || order == 0 && !exclusive }

func wording(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// text checks the length first: a pattern is never run over a text that is too
// long anyway.
func (w *walk) text(c *Contract, s string) {
	if c.runeLen != unbounded {
		if !w.span(c.runeLen, utf8.RuneCountInString(s), "Length", "character") {
			return
		}
	}
	if c.pattern != nil && !c.pattern.MatchString(s) {
		w.say("pattern", "must match the pattern "+c.pattern.String())
	}
}

func (w *walk) array(c *Contract, v exact.Value) {
	w.span(c.itemLen, v.Len(), "Items", "item")
	if c.items == nil {
		return
	}
	for i, item := range v.Items() {
		if w.full() {
			return
		}
		w.under(segment{index: i, item: true}, c.items, item)
	}
}

func (w *walk) object(c *Contract, v exact.Value) {
	for _, name := range c.required {
		if _, ok := v.Get(name); !ok {
			w.say("required", "lacks the member "+strconv.Quote(name))
		}
	}
	w.span(c.memberLen, v.Len(), "Properties", "member")
	for _, m := range v.Members() {
		if w.full() {
			return
		}
		w.member(c, m)
	}
}

func (w *walk) member(c *Contract, m exact.Member) {
	i, declared := c.byName[m.Name]
	switch {
	case declared && i < c.properties:
		w.under(segment{name: m.Name}, c.members[i].Contract, m.Value)
	case c.closed:
		w.path = append(w.path, segment{name: m.Name})
		w.say("additionalProperties", "is not a member of this object")
		w.path = w.path[:len(w.path)-1]
	case c.additional != nil:
		w.under(segment{name: m.Name}, c.additional, m.Value)
	}
}

// span checks a count against its two ends and reports whether it fits.
func (w *walk) span(s span, n int, keyword, noun string) bool {
	switch {
	case n < s.min:
		w.say("min"+keyword, fmt.Sprintf("must have at least %s", counted(s.min, noun)))
	case n > s.max:
		w.say("max"+keyword, fmt.Sprintf("must have at most %s", counted(s.max, noun)))
	default:
		return true
	}
	return false
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
