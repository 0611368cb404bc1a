package definition

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
)

// Problem is one finding about a document. Errors refuse it, warnings do not.
type Problem struct {
	Code     string
	Pointer  string // RFC 6901, "" for the whole document
	Offset   int    // byte inside the expression text, −1 when the finding is not inside one
	Detail   string
	Hint     string // what to write instead, "" when there is nothing better to say
	Step     string // the innermost step around it, "" outside steps
	Warning  bool
	Line     int // 1-based, in the document text
	Column   int // 1-based, in code points
	Position int // byte in the document text
}

// String prints the finding on one line, as logs and tests show it.
func (p Problem) String() string {
	severity := "error"
	if p.Warning {
		severity = "warning"
	}
	text := fmt.Sprintf("%d:%d %s %s %s", p.Line, p.Column, severity, p.Code, p.Pointer)
	if p.Offset >= 0 {
		text += "@" + strconv.Itoa(p.Offset)
	}
	return text + ": " + p.Detail
}

// Refused reports whether any finding is an error.
func Refused(problems []Problem) bool {
	for _, p := range problems {
		if !p.Warning {
			return true
		}
	}
	return false
}

// place is where in the document a check stands.
type place struct {
	pointer string
	step    string
	isKey   bool // the member's name, not its value
}

func (p place) member(name string) place {
	return place{pointer: exact.Join(p.pointer, name), step: p.step}
}

func (p place) item(i int) place { return place{pointer: exact.JoinIndex(p.pointer, i), step: p.step} }

// key points at the name of a member, where the mistake is in the name.
func (p place) key() place { return place{p.pointer, p.step, true} }

// report collects findings with the byte they point at, so that the answer can
// come in document order although the phases run one after another.
type report struct {
	text  []byte
	root  exact.Value
	found []Problem

	errors, warnings int
}

// foundMax bounds the work a hostile document can cause, for errors and for
// warnings separately, so that no warning ever hides an error. The shape phase
// walks in document order: the first ones found are the first ones shown.
const foundMax = 3 * ProblemsMax

// full reports that more errors would not be shown.
func (r *report) full() bool { return r.errors >= foundMax }

func (r *report) add(code string, at place, detail, hint string) {
	r.put(Problem{Code: code, Pointer: at.pointer, Offset: -1, Detail: detail, Hint: hint, Step: at.step, Position: r.position(at)})
}

func (r *report) put(p Problem) {
	p.Warning = warnings[p.Code]
	count := &r.errors
	if p.Warning {
		count = &r.warnings
	}
	if *count < foundMax {
		*count++
		r.found = append(r.found, p)
	}
}

// position is the byte where a place begins in the text.
func (r *report) position(at place) int {
	if at.isKey {
		slash := strings.LastIndexByte(at.pointer, '/')
		parent, _ := r.root.Find(at.pointer[:slash])
		name := unescapePointer.Replace(at.pointer[slash+1:])
		for _, m := range parent.Members() {
			if m.Name == name {
				return m.NameOffset
			}
		}
	}
	for pointer := at.pointer; ; pointer = pointer[:strings.LastIndexByte(pointer, '/')] {
		if v, ok := r.root.Find(pointer); ok {
			return v.Offset()
		}
	}
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func (r *report) refused() bool { return Refused(r.found) }

// broken reports whether an error was found at or below a pointer. Later
// phases ask it before they look at a part.
func (r *report) broken(pointer string) bool {
	for _, f := range r.found {
		if !f.Warning && (f.Pointer == pointer || strings.HasPrefix(f.Pointer, pointer+"/")) {
			return true
		}
	}
	return false
}

// problems returns the findings in document order, at most ProblemsMax. Errors
// come before warnings when not all fit, because only errors block.
func (r *report) problems() []Problem {
	sort.SliceStable(r.found, func(i, j int) bool { return r.found[i].Position < r.found[j].Position })
	room := ProblemsMax
	kept := make([]bool, len(r.found))
	for _, warning := range []bool{false, true} {
		for i, f := range r.found {
			if f.Warning == warning && room > 0 {
				kept[i], room = true, room-1
			}
		}
	}
	var out []Problem
	for i, f := range r.found {
		if kept[i] {
			f.Line, f.Column = exact.LineColumn(r.text, f.Position)
			out = append(out, f)
		}
	}
	return out
}
