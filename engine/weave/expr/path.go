package expr

import (
	"strconv"
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
)

// The roots a path can begin with (definition.md section 3).
const (
	RootInput    = "input"
	RootSteps    = "steps"
	RootInstance = "instance"
	RootResult   = "result"
	RootSignal   = "signal"
	RootItem     = "item"
	RootIndex    = "index"
)

var roots = []string{RootInput, RootSteps, RootInstance, RootResult, RootSignal, RootItem, RootIndex}

// Path selects exactly one value: a root, then members and indexes. For the
// root steps, Step is the name and the path begins at that step's output.
type Path struct {
	Root     string
	Step     string
	Segments []Segment

	at, end  int      // bytes of the expression
	prefixes []string // canonical text after each segment, prefixes[0] is the root
}

// Segment is one member name or one array index.
type Segment struct {
	Name    string
	Index   int
	IsIndex bool
}

// String is the path in its one canonical spelling; a.b and a["b"] are the
// same path.
func (p *Path) String() string { return p.prefixes[len(p.prefixes)-1] }

func (s Segment) String() string {
	switch {
	case s.IsIndex:
		return "[" + strconv.Itoa(s.Index) + "]"
	case isIdent(s.Name):
		return "." + s.Name
	}
	return "[" + string(exact.String(s.Name).Append(nil)) + "]"
}

// seal computes the canonical texts once, at parse.
func (p *Path) seal() {
	text := p.Root
	if p.Root == RootSteps {
		text += "." + p.Step + ".output"
	}
	p.prefixes = append(p.prefixes, text)
	for _, s := range p.Segments {
		text += s.String()
		p.prefixes = append(p.prefixes, text)
	}
}

// last names the final segment for a message: "note", [0], or the root.
func (p *Path) last(count int) string {
	if count == 0 {
		return p.prefixes[0]
	}
	s := p.Segments[count-1]
	if s.IsIndex {
		return s.String()
	}
	return strconv.Quote(s.Name)
}

// Ref is one use of a path in a template, for the scope check.
type Ref struct {
	Pointer string // of the string in the document
	Offset  int    // byte inside the expression
	End     int
	Path    *Path
}

func isIdent(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7f || !isLetter(byte(r)) && !isDigit(byte(r)) }) < 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
