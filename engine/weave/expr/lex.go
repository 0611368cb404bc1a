package expr

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/exact"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenIdent
	tokenNumber
	tokenString
	tokenMark // operators and brackets
	tokenBad
)

// token is one word of an expression. For a string, content is what it means.
type token struct {
	kind    tokenKind
	at, end int
	text    string
	content string
	fault   string // tokenBad
	code    string // tokenBad: syntax unless said otherwise
}

// marks, longest first, so that ?? is never two ?.
var marks = []string{"??", "||", "&&", "==", "!=", "<=", ">=", "?", ":", "<", ">", "+", "-", "*", "!", ".", ",", "(", ")", "[", "]"}

// next reads the token at or after a position.
func next(text string, at int) token {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n') {
		at++
	}
	if at == len(text) {
		return token{kind: tokenEnd, at: at, end: at}
	}
	switch c := text[at]; {
	case isLetter(c):
		end := at + 1
		for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
			end++
		}
		return token{kind: tokenIdent, at: at, end: end, text: text[at:end]}
	case isDigit(c):
		return number(text, at)
	case c == '\'' || c == '"':
		return quoted(text, at)
	}
	for _, m := range marks {
		if strings.HasPrefix(text[at:], m) {
			return token{kind: tokenMark, at: at, end: at + len(m), text: m}
		}
	}
	_, width := utf8.DecodeRuneInString(text[at:])
	return bad(text, at, at+width, "an unexpected character")
}

func bad(text string, at, end int, fault string) token {
	return token{kind: tokenBad, at: at, end: end, text: text[at:end], fault: fault, code: CodeSyntax}
}

// number reads a JSON number without sign; a sign is an operator, or part of a
// list.
func number(text string, at int) token {
	end := at
	for end < len(text) && (isDigit(text[end]) || isLetter(text[end]) || text[end] == '.' || signOfExponent(text, at, end)) {
		end++
	}
	t := token{kind: tokenNumber, at: at, end: end, text: text[at:end]}
	if exact.ValidNumber(t.text) {
		return t
	}
	out := bad(text, at, end, "not a number as JSON writes one")
	if _, err := exact.Parse([]byte(t.text), exact.PayloadLimits); err != nil && err.Code == exact.CodeNumberRange {
		out.fault, out.code = err.Detail, CodeNumberRange
	}
	return out
}

func signOfExponent(text string, start, at int) bool {
	return (text[at] == '+' || text[at] == '-') && at > start && text[at-1]|0x20 == 'e'
}

var stringEscapes = map[byte]string{'\\': "\\", '\'': "'", '"': "\"", 'n': "\n", 't': "\t", 'r': "\r"}

// quoted reads a string in either kind of quotes.
func quoted(text string, at int) token {
	var b strings.Builder
	for i := at + 1; i < len(text); {
		c := text[i]
		switch {
		case c == text[at]:
			return token{kind: tokenString, at: at, end: i + 1, text: text[at : i+1], content: b.String()}
		case c == 0:
			return bad(text, i, i+1, "the character U+0000")
		case c != '\\':
			b.WriteByte(c)
			i++
		default:
			content, width := escape(text[i:])
			if width == 0 {
				return bad(text, i, min(i+2, len(text)), `an unknown escape; there are \\ \' \" \n \t \r and \uXXXX without lone surrogates`)
			}
			b.WriteString(content)
			i += width
		}
	}
	return bad(text, at, len(text), "a string without its closing quote")
}

// escape reads one escape, or two when they are a surrogate pair. Width 0 is a
// refusal.
func escape(text string) (content string, width int) {
	if len(text) < 2 {
		return "", 0
	}
	if s, ok := stringEscapes[text[1]]; ok {
		return s, 2
	}
	r, ok := unicodeEscape(text)
	if !ok || r == 0 {
		return "", 0
	}
	if !utf16.IsSurrogate(r) {
		return string(r), 6
	}
	low, ok := unicodeEscape(text[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return "", 0
	}
	return string(r), 12
}

func unicodeEscape(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(text[2:6]) {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}
