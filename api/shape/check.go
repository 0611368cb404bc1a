package shape

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
)

// faultsMax bounds the faults of one request, so that a wrong request costs no more than a right one.
const faultsMax = 16

// place is the way from the root to a value, kept on the stack; it becomes a pointer only when something is wrong.
type place struct {
	up    *place
	name  string
	index int // -1: name counts
}

func (p *place) pointer() string {
	if p == nil {
		return ""
	}
	if p.index >= 0 {
		return p.up.pointer() + "/" + strconv.Itoa(p.index)
	}
	return p.up.pointer() + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p.name)
}

// Report is what a check found: faults of the request as a whole, and faults of items that stand for themselves, by
// index, with pointers counted from the item.
type Report struct {
	Faults []problem.Fault
	Items  map[int][]problem.Fault
}

// Check compares a body with its schema.
func (n *Node) Check(v exact.Value) Report {
	c := checker{}
	c.value(n, v, nil)
	return Report{c.faults, c.items}
}

type checker struct {
	faults []problem.Fault
	items  map[int][]problem.Fault
}

func (c *checker) fault(code string, at *place, detail string) {
	if len(c.faults) < faultsMax {
		c.faults = append(c.faults, problem.Fault{Code: code, In: "body", Pointer: at.pointer(), Detail: detail})
	}
}

func (c *checker) value(n *Node, v exact.Value, at *place) {
	if n.payloadMax > 0 {
		c.payload(n, v, at)
	}
	if n.any {
		return
	}
	if v.Kind() != n.kind {
		c.fault("field_type", at, fmt.Sprintf("must be %s, not %s", article(n), v.Kind()))
		return
	}
	switch n.kind {
	case exact.KindString:
		if code, detail := n.checkText(v.Str()); code != "" {
			c.fault(code, at, detail)
		}
	case exact.KindNumber:
		if code, detail := n.checkNumber(v.Token()); code != "" {
			c.fault(code, at, detail)
		}
	case exact.KindObject:
		c.object(n, v, at)
	case exact.KindArray:
		c.array(n, v, at)
	}
}

func article(n *Node) string {
	switch {
	case n.integer:
		return "an integer"
	case n.kind == exact.KindArray || n.kind == exact.KindObject:
		return "an " + n.kind.String()
	}
	return "a " + n.kind.String()
}

func (c *checker) payload(n *Node, v exact.Value, at *place) {
	if v.Depth() > engine.PayloadDepthMax {
		c.fault("text_depth", at, fmt.Sprintf("is nested deeper than %d levels", engine.PayloadDepthMax))
	}
	if size := v.Size(); size > n.payloadMax {
		c.fault("payload_too_large", at, fmt.Sprintf("has %d bytes; %d are allowed", size, n.payloadMax))
	}
}

func (c *checker) object(n *Node, v exact.Value, at *place) {
	for _, m := range v.Members() {
		here := place{at, m.Name, -1}
		member, ok := n.members[m.Name]
		if !ok {
			c.fault("field_unknown", &here, "there is no such field")
			continue
		}
		c.value(member, m.Value, &here)
	}
	for _, name := range n.required {
		if _, ok := v.Get(name); !ok {
			c.fault("field_missing", &place{at, name, -1}, "is required")
		}
	}
}

func (c *checker) array(n *Node, v exact.Value, at *place) {
	items := v.Items()
	if len(items) < n.itemsMin || n.itemsMax > 0 && len(items) > n.itemsMax {
		c.fault("field_length", at, fmt.Sprintf("must have %s items, not %d", span(n.itemsMin, n.itemsMax), len(items)))
		return
	}
	for i, item := range items {
		if n.perItem {
			c.item(i, n.items, item)
			continue
		}
		here := place{at, "", i}
		c.value(n.items, item, &here)
		if n.unique && slices.ContainsFunc(items[:i], func(o exact.Value) bool { return o.Str() == item.Str() }) {
			c.fault("field_enum", &here, "is repeated")
		}
	}
}

// item checks a list item that stands for itself, with a sheet of its own.
func (c *checker) item(i int, n *Node, v exact.Value) {
	own := checker{}
	own.value(n, v, nil)
	if len(own.faults) == 0 {
		return
	}
	if c.items == nil {
		c.items = map[int][]problem.Fault{}
	}
	c.items[i] = own.faults
}

func (n *Node) checkText(s string) (code, detail string) {
	if n.lenMin > 0 || n.lenMax > 0 {
		if count := utf8.RuneCountInString(s); count < n.lenMin || n.lenMax > 0 && count > n.lenMax {
			return n.mismatch("field_length"), fmt.Sprintf("must have %s characters, not %d", span(n.lenMin, n.lenMax), count)
		}
	}
	switch {
	case n.bytesMax > 0 && len(s) > n.bytesMax:
		return "field_length", fmt.Sprintf("has %d bytes of UTF-8; %d are allowed", len(s), n.bytesMax)
	case n.pattern != nil && !n.pattern.MatchString(s):
		return n.mismatch("field_pattern"), "must match " + n.pattern.String()
	case n.enum != nil && !slices.Contains(n.enum, s):
		return "field_enum", "must be one of " + strings.Join(n.enum, ", ")
	case n.time:
		if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
			return "field_pattern", "must be a time like 2031-07-01T08:30:00Z"
		}
	}
	return "", ""
}

// mismatch is the code of a malformed text: an id of the wrong kind has a name of its own.
func (n *Node) mismatch(code string) string {
	if n.id {
		return "id_invalid"
	}
	return code
}

func (n *Node) checkNumber(token string) (code, detail string) {
	value, err := strconv.ParseInt(token, 10, 64)
	if err != nil && n.integer {
		if strings.ContainsAny(token, ".eE") {
			return "field_type", "must be an integer without fraction or exponent"
		}
		return "field_range", "is outside 64 bits"
	}
	switch {
	case n.numberMin != nil && value < *n.numberMin:
		return "field_range", fmt.Sprintf("must be at least %d", *n.numberMin)
	case n.numberMax != nil && value > *n.numberMax:
		return "field_range", fmt.Sprintf("must be at most %d", *n.numberMax)
	}
	return "", ""
}

func span(from, to int) string {
	switch {
	case to == 0:
		return fmt.Sprintf("at least %d", from)
	case from == to:
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d to %d", from, to)
}
