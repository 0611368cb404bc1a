package flow

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// The document is built as a tree of these four, so that member order is ours
// and number tokens are never re-marshalled.
type (
	object []member
	member struct {
		key   string
		value any // object, array or token
	}
	array []any
	token string // finished JSON text of a scalar
)

const null = token("null")

func (o object) with(key string, value any) object { return append(o, member{key, value}) }

// withText leaves the member out when the text is empty: only descriptions,
// the one kind of field that may be absent.
func (o object) withText(key, text string) object {
	if text == "" {
		return o
	}
	return o.with(key, quote(text))
}

func integer[I int | int64](n I) token { return token(strconv.FormatInt(int64(n), 10)) }

func quote(s string) token {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string into a buffer cannot fail
	return token(strings.TrimSuffix(b.String(), "\n"))
}

// widthMax is the column up to which a value stays on one line: short steps
// read like a table, long ones one member a line, and a change in the Go
// source is a small change in the printed text.
const widthMax = 110

// layout prints the tree in the one layout of the builder: the same tree gives
// the same bytes.
func layout(root object) []byte {
	var b strings.Builder
	writeBroken(&b, root, 0)
	b.WriteByte('\n')
	return []byte(b.String())
}

func writeValue(b *strings.Builder, v any, indent, column int) {
	line := compact(v)
	if column+len(line) <= widthMax {
		b.WriteString(line)
		return
	}
	writeBroken(b, v, indent)
}

func writeBroken(b *strings.Builder, v any, indent int) {
	inner := strings.Repeat(" ", indent+2)
	switch v := v.(type) {
	case object:
		for i, m := range v {
			key := string(quote(m.key)) + ": "
			b.WriteString(opener("{", i) + inner + key)
			writeValue(b, m.value, indent+2, indent+2+len(key)+1)
		}
		b.WriteString("\n" + inner[2:] + "}")
	case array:
		for i, item := range v {
			b.WriteString(opener("[", i) + inner)
			writeValue(b, item, indent+2, indent+3)
		}
		b.WriteString("\n" + inner[2:] + "]")
	case token:
		b.WriteString(string(v))
	}
}

func opener(bracket string, index int) string {
	if index == 0 {
		return bracket + "\n"
	}
	return ",\n"
}

func compact(v any) string {
	switch v := v.(type) {
	case object:
		parts := make([]string, 0, len(v))
		for _, m := range v {
			parts = append(parts, string(quote(m.key))+": "+compact(m.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case array:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, compact(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return string(v.(token))
}
