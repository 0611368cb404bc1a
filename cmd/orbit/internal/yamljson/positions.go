package yamljson

import (
	"sort"

	"gopkg.in/yaml.v3"
)

// Positions maps bytes of the JSON text to lines and columns of the YAML.
type Positions struct{ tokens []token }

type token struct {
	json         int
	line, column int
	style        style
}

// style tells how a byte inside a token maps back.
type style uint8

const (
	opening style = iota // a mapping or sequence: only its beginning is known
	plain                // the YAML has no quote where JSON has one
	quoted               // both have one
	block                // lines of their own: only the beginning is known
)

func styleOf(n *yaml.Node) style {
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return block
	case isPlain(n):
		return plain
	}
	return quoted
}

func (w *writer) mark(n *yaml.Node, s style) {
	w.positions.tokens = append(w.positions.tokens, token{len(w.out), n.Line, n.Column, s})
}

// Locate returns the 1-based line and column of the YAML a byte of the JSON
// came from. Inside a text without escapes on one line it is exact.
func (p *Positions) Locate(jsonOffset int) (line, column int) {
	i := sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].json > jsonOffset }) - 1
	if i < 0 {
		return 1, 1
	}
	t := p.tokens[i]
	inside := jsonOffset - t.json
	switch {
	case t.style == plain && inside > 0:
		return t.line, t.column + inside - 1
	case t.style == quoted:
		return t.line, t.column + inside
	}
	return t.line, t.column
}
