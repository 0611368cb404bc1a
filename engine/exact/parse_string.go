package exact

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string from its opening quote. A string without escapes is a
// slice of the text; otherwise its content is built once.
func (p *parser) str() (string, *Error) {
	p.pos++
	start := p.pos
	if err := p.plain(); err != nil {
		return "", err
	}
	if p.peek() == '"' {
		s := p.text[start:p.pos]
		p.pos++
		return s, nil
	}
	var b strings.Builder
	b.WriteString(p.text[start:p.pos])
	for p.peek() == '\\' {
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		b.WriteRune(r)
		start = p.pos
		if err := p.plain(); err != nil {
			return "", err
		}
		b.WriteString(p.text[start:p.pos])
	}
	p.pos++
	return b.String(), nil
}

// plain moves to the next quote or backslash.
func (p *parser) plain() *Error {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '"' || c == '\\':
			return nil
		case c == 0:
			return p.fail(CodeEncoding, "the character U+0000")
		case c < 0x20:
			return p.fail(CodeSyntax, "a control character inside a string must be escaped")
		case c < utf8.RuneSelf:
			p.pos++
		default:
			r, width := utf8.DecodeRuneInString(p.text[p.pos:])
			if r == utf8.RuneError && width == 1 {
				return p.fail(CodeEncoding, "a byte that is not UTF-8")
			}
			p.pos += width
		}
	}
	return p.fail(CodeSyntax, "the text ends inside a string")
}

var escapes = [256]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape from its backslash, or two when the first is half of
// a surrogate pair.
func (p *parser) escape() (rune, *Error) {
	at := p.pos
	p.pos++
	if r := escapes[p.peek()]; r != 0 {
		p.pos++
		return r, nil
	}
	r, ok := p.unicode()
	if !ok {
		p.pos = at
		return 0, p.fail(CodeSyntax, "an escape that JSON does not know")
	}
	if utf16.IsSurrogate(r) {
		low, ok := rune(0), false
		if p.word("\\") {
			low, ok = p.unicode()
		}
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			p.pos = at
			return 0, p.fail(CodeEncoding, "a lone surrogate")
		}
	}
	if r == 0 {
		p.pos = at
		return 0, p.fail(CodeEncoding, "the character U+0000")
	}
	return r, nil
}

// unicode reads uXXXX.
func (p *parser) unicode() (rune, bool) {
	if len(p.text)-p.pos < 5 || p.text[p.pos] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.text[p.pos+1 : p.pos+5]) {
		digit := strings.IndexByte(hexDigits, c|0x20)
		if digit < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	p.pos += 5
	return r, true
}
