package exact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
var pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")

// Join adds a member name to a JSON pointer (RFC 6901).
func Join(pointer, name string) string { return pointer + "/" + pointerEscape.Replace(name) }

// JoinIndex adds an array index to a JSON pointer.
func JoinIndex(pointer string, index int) string { return pointer + "/" + strconv.Itoa(index) }

// Find follows a JSON pointer from v; the empty pointer is v itself.
func (v Value) Find(pointer string) (Value, bool) {
	if pointer == "" {
		return v, true
	}
	if pointer[0] != '/' {
		return Value{}, false
	}
	for _, segment := range strings.Split(pointer[1:], "/") {
		var ok bool
		if v, ok = v.child(segment); !ok {
			return Value{}, false
		}
	}
	return v, true
}

func (v Value) child(segment string) (Value, bool) {
	if v.kind == KindObject {
		return v.Get(pointerUnescape.Replace(segment))
	}
	i, err := strconv.Atoi(segment)
	if err != nil || i < 0 || i >= len(v.Items()) || strconv.Itoa(i) != segment {
		return Value{}, false
	}
	return v.Items()[i], true
}

// LineColumn turns a byte offset into a line and a column, both from 1. The
// column counts code points, as editors do.
func LineColumn(text []byte, offset int) (line, column int) {
	before := string(text[:min(max(offset, 0), len(text))])
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// joinSegments builds the pointer of an error from its innermost-first path.
func joinSegments(segments []string) string {
	var b strings.Builder
	for i := len(segments) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(segments[i]))
	}
	return b.String()
}
