package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word, literal or sign of SQL text. Comments are no tokens: they
// are kept beside the statement they stand above or in.
type token struct {
	kind tokenKind
	text string // as written; literals without their quotes
	up   string // upper case, for words and signs
	line int
}

type tokenKind byte

const (
	word    tokenKind = iota // identifier or keyword, also when back-quoted
	quoted                   // back-quoted identifier: never a keyword
	literal                  // string
	numeral
	sign // operator or punctuation
)

// statement is the text up to one semicolon.
type statement struct {
	tokens   []token
	comments []comment
	line     int // of the first token
}

type comment struct {
	text string // without the dashes, trimmed
	line int
}

// operators of two or three characters, longest first.
var operators = []string{"->>", "->", "<=>", "<=", ">=", "<>", "!=", ":=", "||", "&&"}

// statementsOf splits SQL text. Comments belong to the statement that follows or
// surrounds them, which is how sqlc reads them.
func statementsOf(text string) []statement {
	var out []statement
	var now statement
	s := scanner{text: text, line: 1}
	for {
		t, c, ok := s.next()
		switch {
		case !ok:
			if len(now.tokens) > 0 {
				out = append(out, now)
			}
			return out
		case c != nil:
			now.comments = append(now.comments, *c)
		case t.text == ";" && t.kind == sign:
			if len(now.tokens) > 0 {
				out = append(out, now)
			}
			now = statement{}
		default:
			if len(now.tokens) == 0 {
				now.line = t.line
			}
			now.tokens = append(now.tokens, t)
		}
	}
}

type scanner struct {
	text string
	at   int
	line int
}

// next returns a token or a comment, or false at the end.
func (s *scanner) next() (token, *comment, bool) {
	s.space()
	if s.at >= len(s.text) {
		return token{}, nil, false
	}
	rest := s.text[s.at:]
	line := s.line
	switch {
	case strings.HasPrefix(rest, "--"), rest[0] == '#':
		body := s.take(lineEnd(rest))
		return token{}, &comment{strings.TrimSpace(strings.TrimLeft(body, "-# ")), line}, true
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest, "*/")
		if end < 0 {
			end = len(rest) - 2
		}
		return token{}, &comment{strings.Trim(s.take(end+2), "/* \n"), line}, true
	case rest[0] == '\'' || rest[0] == '"':
		return token{literal, s.literal(rest[0]), "", line}, nil, true
	case rest[0] == '`':
		return token{quoted, s.literal('`'), "", line}, nil, true
	}
	return s.plain(rest, line), nil, true
}

func (s *scanner) plain(rest string, line int) token {
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsDigit(r):
		text := s.take(prefixLength(rest, func(r rune) bool { return unicode.IsDigit(r) || r == '.' || unicode.IsLetter(r) }))
		return token{numeral, text, text, line}
	case unicode.IsLetter(r) || r == '_' || r == '@':
		text := s.take(prefixLength(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_@$", r) }))
		return token{word, text, strings.ToUpper(text), line}
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return token{sign, s.take(len(op)), op, line}
		}
	}
	text := s.take(utf8.RuneLen(r))
	return token{sign, text, text, line}
}

// literal reads a quoted text with doubled quotes and, except in names, backslashes.
func (s *scanner) literal(quote byte) string {
	var b strings.Builder
	s.take(1)
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == '\\' && quote != '`' && s.at+1 < len(s.text):
			s.take(1)
			b.WriteString(s.take(1))
		case c == quote && strings.HasPrefix(s.text[s.at+1:], string(quote)):
			b.WriteByte(quote)
			s.take(2)
		case c == quote:
			s.take(1)
			return b.String()
		default:
			b.WriteString(s.take(1))
		}
	}
	return b.String()
}

func (s *scanner) space() {
	rest := s.text[s.at:]
	s.take(len(rest) - len(strings.TrimLeft(rest, " \t\r\n")))
}

// take advances over n bytes and counts the lines in them.
func (s *scanner) take(n int) string {
	n = min(n, len(s.text)-s.at)
	part := s.text[s.at : s.at+n]
	s.line += strings.Count(part, "\n")
	s.at += n
	return part
}

func lineEnd(text string) int {
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		return at
	}
	return len(text)
}

func prefixLength(text string, ok func(rune) bool) int {
	for i, r := range text {
		if !ok(r) {
			return i
		}
	}
	return len(text)
}

// is reports whether the tokens at i are these keywords or signs; "*" is any one token.
func (st statement) is(i int, pattern ...string) bool {
	if i < 0 || i+len(pattern) > len(st.tokens) {
		return false
	}
	for k, want := range pattern {
		t := st.tokens[i+k]
		if want != "*" && (t.up != want || t.kind == literal || t.kind == quoted) {
			return false
		}
	}
	return true
}

// find returns the first place of the pattern, or -1.
func (st statement) find(pattern ...string) int {
	for i := range st.tokens {
		if st.is(i, pattern...) {
			return i
		}
	}
	return -1
}

// closing returns the index of the parenthesis that closes the one at open.
func (st statement) closing(open int) int {
	depth := 0
	for i := open; i < len(st.tokens); i++ {
		switch {
		case st.is(i, "("):
			depth++
		case st.is(i, ")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(st.tokens)
}

// opening returns the index of the parenthesis that the one at close closes.
func (st statement) opening(close int) int {
	depth := 0
	for i := close; i >= 0; i-- {
		switch {
		case st.is(i, ")"):
			depth++
		case st.is(i, "("):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// topLevel splits the tokens between two parentheses at their own commas.
func (st statement) topLevel(open, close int) [][]token {
	var parts [][]token
	depth, start := 0, open+1
	for i := open + 1; i < close; i++ {
		switch {
		case st.is(i, "("):
			depth++
		case st.is(i, ")"):
			depth--
		case depth == 0 && st.is(i, ","):
			parts = append(parts, st.tokens[start:i])
			start = i + 1
		}
	}
	return append(parts, st.tokens[start:close])
}
