package yamljson

import (
	"encoding/json"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// writer appends JSON and remembers where each token began.
type writer struct {
	out       []byte
	positions *Positions
	problems  []Problem
}

func (w *writer) refuse(n *yaml.Node, code, detail, hint string) {
	w.problems = append(w.problems, Problem{code, n.Line, n.Column, detail, hint})
}

func (w *writer) value(n *yaml.Node) {
	if !w.plainNode(n) {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		w.mapping(n)
	case yaml.SequenceNode:
		w.sequence(n)
	case yaml.ScalarNode:
		w.scalar(n)
	}
}

// plainNode refuses what hides the value somewhere else or changes its type.
func (w *writer) plainNode(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		w.refuse(n, "yaml_unsupported", "alias *"+n.Value, "write the value out")
	case n.Anchor != "":
		w.refuse(n, "yaml_unsupported", "anchor &"+n.Anchor, "write the value out where it is needed")
	case n.Style&yaml.TaggedStyle != 0:
		w.refuse(n, "yaml_unsupported", "tag "+n.Tag, "quote the value to make it a string")
	default:
		return true
	}
	return false
}

func (w *writer) mapping(n *yaml.Node) {
	w.mark(n, opening)
	w.out = append(w.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.key(n.Content[i])
		w.out = append(w.out, ':')
		w.value(n.Content[i+1])
	}
	w.out = append(w.out, '}')
}

func (w *writer) key(n *yaml.Node) {
	switch {
	case !w.plainNode(n):
	case n.Kind != yaml.ScalarNode:
		w.refuse(n, "yaml_unsupported", "a key that is not a word", "")
	case isPlain(n) && n.Value == "<<":
		w.refuse(n, "yaml_unsupported", "merge key <<", "write the members out")
	case isPlain(n) && (isLiteral(n.Value) || ambiguous(n.Value)):
		w.refuse(n, "yaml_ambiguous_scalar", "key "+n.Value+" reads as another type", "quote it: '"+n.Value+"'")
	default:
		w.text(n)
	}
}

func (w *writer) sequence(n *yaml.Node) {
	w.mark(n, opening)
	w.out = append(w.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.value(item)
	}
	w.out = append(w.out, ']')
}

func (w *writer) scalar(n *yaml.Node) {
	switch {
	case !isPlain(n):
		w.text(n)
	case isLiteral(n.Value):
		w.mark(n, plain)
		w.out = append(w.out, n.Value...)
	case n.Value == "":
		w.refuse(n, "yaml_ambiguous_scalar", "an empty value", "write null or ''")
	case ambiguous(n.Value):
		w.refuse(n, "yaml_ambiguous_scalar", n.Value+" reads differently in different YAML versions", "quote it: '"+n.Value+"'")
	default:
		w.text(n)
	}
}

// text appends a JSON string with no more escapes than JSON demands, so that a
// byte inside it stays near the byte it came from.
func (w *writer) text(n *yaml.Node) {
	w.mark(n, styleOf(n))
	w.out = append(w.out, '"')
	for _, r := range n.Value {
		switch {
		case r == '"' || r == '\\':
			w.out = append(w.out, '\\', byte(r))
		case r < 0x20:
			w.out = append(w.out, escapeControl(r)...)
		default:
			w.out = append(w.out, string(r)...)
		}
	}
	w.out = append(w.out, '"')
}

func escapeControl(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	digits := strconv.FormatInt(int64(r), 16)
	return `\u` + strings.Repeat("0", 4-len(digits)) + digits
}

func isPlain(n *yaml.Node) bool {
	return n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// isLiteral reports null, true, false or a number exactly as JSON spells them.
func isLiteral(s string) bool {
	switch s {
	case "null", "true", "false":
		return true
	case "":
		return false
	}
	return (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// ambiguous reports a plain scalar that some YAML reader takes for something
// other than text: old booleans, other spellings of null and numbers, dates.
func ambiguous(s string) bool {
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off", "y", "n", "true", "false", "null", "~", "=", "<<":
		return true
	}
	rest := strings.TrimLeft(s, "+-")
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		if lower := strings.ToLower(rest); lower == "inf" || lower == "nan" {
			return true
		}
	}
	return rest != "" && rest[0] >= '0' && rest[0] <= '9'
}
