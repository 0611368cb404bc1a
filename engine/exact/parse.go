package exact

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Parse reads one JSON text (RFC 8259) strictly; see the package comment for
// what is refused beyond the grammar. The returned tree keeps a copy of text.
func Parse(text []byte, lim Limits) (Value, *Error) {
	if len(text) > lim.SizeBytesMax {
		return Value{}, &Error{Code: CodeTooLarge, Offset: lim.SizeBytesMax,
			Detail: fmt.Sprintf("the text has %d bytes; %d are allowed", len(text), lim.SizeBytesMax)}
	}
	p := parser{text: string(text), depthLeft: lim.DepthMax, depthMax: lim.DepthMax}
	v, err := p.document()
	if err != nil {
		err.Pointer = joinSegments(err.segments)
		err.segments = nil
		return Value{}, err
	}
	return v, nil
}

// parser walks the text once. Strings and tokens are slices of the one copy.
type parser struct {
	text      string
	pos       int
	depthLeft int
	depthMax  int
}

func (p *parser) document() (Value, *Error) {
	if len(p.text) >= 3 && p.text[:3] == "\xef\xbb\xbf" {
		return Value{}, p.fail(CodeEncoding, "the text begins with a byte order mark")
	}
	p.blank()
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.blank()
	if p.pos < len(p.text) {
		return Value{}, p.unexpected("the end of the text")
	}
	return v, nil
}

func (p *parser) value() (Value, *Error) {
	start := p.pos
	switch c := p.peek(); {
	case c == '{' || c == '[':
		return p.container(c)
	case c == '"':
		s, err := p.str()
		return Value{kind: KindString, offset: start, text: s}, err
	case c == '-' || isDigit(c):
		return p.number()
	case p.word("null"):
		return Value{offset: start}, nil
	case p.word("true"):
		return Value{kind: KindBool, truth: true, offset: start}, nil
	case p.word("false"):
		return Value{kind: KindBool, offset: start}, nil
	}
	return Value{}, p.unexpected("a value")
}

func (p *parser) container(open byte) (Value, *Error) {
	if p.depthLeft == 0 {
		return Value{}, p.fail(CodeDepth, fmt.Sprintf("nested deeper than %d levels", p.depthMax))
	}
	p.depthLeft--
	defer func() { p.depthLeft++ }()
	if open == '{' {
		return p.object()
	}
	return p.array()
}

func (p *parser) array() (Value, *Error) {
	v := Value{kind: KindArray, offset: p.pos}
	p.pos++
	p.blank()
	if p.take(']') {
		return v, nil
	}
	v.tree = &tree{}
	for {
		p.blank()
		item, err := p.value()
		if err != nil {
			return Value{}, err.under(strconv.Itoa(len(v.tree.items)))
		}
		v.tree.items = append(v.tree.items, item)
		p.blank()
		if p.take(']') {
			v.tree.measureArray()
			return v, nil
		}
		if !p.take(',') {
			return Value{}, p.unexpected("',' or ']'")
		}
	}
}

func (p *parser) object() (Value, *Error) {
	v := Value{kind: KindObject, offset: p.pos}
	p.pos++
	p.blank()
	if p.take('}') {
		return v, nil
	}
	v.tree = &tree{}
	for {
		p.blank()
		if err := p.member(v.tree); err != nil {
			return Value{}, err
		}
		p.blank()
		if p.take('}') {
			v.tree.measureObject()
			return v, nil
		}
		if !p.take(',') {
			return Value{}, p.unexpected("',' or '}'")
		}
	}
}

func (p *parser) member(t *tree) *Error {
	if p.peek() != '"' {
		return p.unexpected("a member name in double quotes")
	}
	at := p.pos
	name, err := p.str()
	if err != nil {
		return err
	}
	if t.find(name) >= 0 {
		return (&Error{Code: CodeDuplicateKey, Offset: at, Detail: "the same member name stands twice in one object"}).under(name)
	}
	p.blank()
	if !p.take(':') {
		return p.unexpected("':'").under(name)
	}
	p.blank()
	v, err := p.value()
	if err != nil {
		return err.under(name)
	}
	t.add(Member{Name: name, NameOffset: at, Value: v})
	return nil
}

func (p *parser) blank() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek is the next byte, or 0 at the end; a NUL in the text is refused by
// whoever finds it unexpected.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.peek() != c || p.pos >= len(p.text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) word(w string) bool {
	if len(p.text)-p.pos < len(w) || p.text[p.pos:p.pos+len(w)] != w {
		return false
	}
	p.pos += len(w)
	return true
}

func (p *parser) fail(code, detail string) *Error {
	return &Error{Code: code, Offset: p.pos, Detail: detail}
}

// unexpected tells an end, a broken byte and a wrong character apart.
func (p *parser) unexpected(wanted string) *Error {
	if p.pos >= len(p.text) {
		return p.fail(CodeSyntax, "the text ends where "+wanted+" is expected")
	}
	r, width := utf8.DecodeRuneInString(p.text[p.pos:])
	if r == utf8.RuneError && width <= 1 {
		return p.fail(CodeEncoding, "a byte that is not UTF-8")
	}
	if r == 0 {
		return p.fail(CodeEncoding, "the character U+0000")
	}
	return p.fail(CodeSyntax, fmt.Sprintf("%q where %s is expected", r, wanted))
}

func (e *Error) under(segment string) *Error {
	e.segments = append(e.segments, segment)
	return e
}
