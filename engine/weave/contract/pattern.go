package contract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// patternFault says why a pattern is refused.
type patternFault struct{ code, detail, hint string }

// compilePattern checks that a pattern stays inside the syntax ECMA-262 (with
// the u flag) and RE2 read alike, and compiles it. Since both read it alike,
// the text needs no translation.
func compilePattern(text string) (*regexp.Regexp, *patternFault) {
	if len(text) > PatternBytesMax {
		return nil, &patternFault{CodeLimit, "longer than 256 bytes", ""}
	}
	p := &patternReader{text: text}
	states := p.alternatives()
	if p.fault == nil && p.pos < len(text) {
		p.refuse("a ')' without its '('", "")
	}
	if p.fault != nil {
		return nil, p.fault
	}
	if states > PatternStatesMax {
		return nil, &patternFault{CodeLimit, fmt.Sprintf("its repetitions written out have %d parts; %d are allowed", states, PatternStatesMax), ""}
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, &patternFault{CodePattern, "the pattern cannot be compiled", ""}
	}
	return compiled, nil
}

// patternReader walks a pattern and counts its parts with repetitions written
// out. The first fault ends the walk.
type patternReader struct {
	text  string
	pos   int
	fault *patternFault
}

// punctuation may be escaped anywhere: these are ECMA's syntax characters.
const punctuation = `^$\.*+?()[]{}|/`

func (p *patternReader) refuse(detail, hint string) {
	if p.fault == nil {
		p.fault = &patternFault{CodePattern, detail + " at byte " + strconv.Itoa(p.pos), hint}
	}
	p.pos = len(p.text)
}

func (p *patternReader) take(s string) bool {
	if strings.HasPrefix(p.text[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

// alternatives reads up to the end or an unopened ')'.
func (p *patternReader) alternatives() int {
	states := 1
	for p.pos < len(p.text) && p.text[p.pos] != ')' {
		if p.take("|") {
			states++
			continue
		}
		states = capped(states + p.quantified())
	}
	return states
}

// quantified reads one atom and what repeats it.
func (p *patternReader) quantified() int {
	states, repeatable := p.atom()
	at := p.pos
	times := p.quantifier()
	if times == 0 {
		return states
	}
	if !repeatable {
		p.pos = at
		p.refuse("nothing to repeat", "")
		return states
	}
	if p.pos < len(p.text) && strings.IndexByte("*+?{", p.text[p.pos]) >= 0 {
		p.refuse("a repetition of a repetition", "only *, +, ? and {m,n}, one at a time")
	}
	return capped(states * times)
}

// quantifier reports how often the atom is written out, 0 when nothing follows.
func (p *patternReader) quantifier() int {
	switch {
	case p.take("*"), p.take("+"), p.take("?"):
		return 1
	case p.take("{"):
		return p.counted()
	}
	return 0
}

// counted reads m}, m,} or m,n}.
func (p *patternReader) counted() int {
	low, ok := p.integer()
	high := low
	if ok && p.take(",") {
		if strings.HasPrefix(p.text[p.pos:], "}") {
			high = low + 1
		} else {
			high, ok = p.integer()
		}
	}
	switch {
	case !ok || !p.take("}"):
		p.refuse("a '{' that does not begin {m}, {m,} or {m,n}", `write \{ for the character`)
	case low > PatternRepeatMax || high > PatternRepeatMax+1:
		p.refuse("a repetition above 256", "")
	case high < low:
		p.refuse("a repetition whose end is below its beginning", "")
	}
	return max(high, 1)
}

func (p *patternReader) integer() (int, bool) {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	n, err := strconv.Atoi(p.text[start:p.pos])
	return n, err == nil && p.pos-start <= 3
}

// atom reads one thing that can be repeated, or an anchor, which cannot.
func (p *patternReader) atom() (states int, repeatable bool) {
	switch c := p.text[p.pos]; c {
	case '^', '$':
		p.pos++
		return 1, false
	case '(':
		return p.group(), true
	case '[':
		p.class()
		return 1, true
	case '\\':
		p.escape(false)
		return 1, true
	case '*', '+', '?':
		return 0, false
	case '{', '}', ']':
		p.refuse(fmt.Sprintf("a bare %q", c), fmt.Sprintf(`write \%c for the character`, c))
	case '.':
		p.refuse("'.', which means different things in different readers", `write a class such as [^\n], or \. for the character`)
	default:
		_, width := utf8.DecodeRuneInString(p.text[p.pos:])
		p.pos += width
	}
	return 1, true
}

func (p *patternReader) group() int {
	if !p.take("(?:") && strings.HasPrefix(p.text[p.pos:], "(?") {
		p.refuse("a group that begins with (?", "only ( ) and (?: ) are allowed: no flags, names or look-around")
		return 0
	}
	p.take("(")
	states := p.alternatives()
	if p.fault == nil && !p.take(")") {
		p.refuse("a '(' without its ')'", "")
	}
	return states
}

// escape reads a backslash and what it protects. It reports the character, or
// -1 for a class.
func (p *patternReader) escape(inClass bool) rune {
	if p.pos+1 >= len(p.text) {
		p.refuse("a '\\' at the end", "")
		return -1
	}
	c := p.text[p.pos+1]
	switch {
	case c == 'd' || c == 'w':
		p.pos += 2
		return -1
	case strings.IndexByte(punctuation, c) >= 0 || inClass && c == '-':
		p.pos += 2
		return rune(c)
	}
	p.refuse("an escape outside the common subset", `allowed are \d, \w and escaped punctuation; a new line is the JSON escape, one backslash less`)
	return -1
}

// class reads [ … ]. Ranges need two single characters; a bare '-' stands
// first or last only, where every reader takes it literally.
func (p *patternReader) class() {
	p.take("[")
	p.take("^")
	first := true
	for !p.take("]") {
		if p.pos >= len(p.text) {
			p.refuse("a '[' without its ']'", "")
			return
		}
		low := p.classChar(first)
		first = false
		if strings.HasPrefix(p.text[p.pos:], "-") && !strings.HasPrefix(p.text[p.pos:], "-]") {
			p.pos++
			p.rangeEnd(low)
		}
	}
	if first {
		p.refuse("an empty class", "")
	}
}

func (p *patternReader) rangeEnd(low rune) {
	if p.pos >= len(p.text) {
		return
	}
	high := p.classChar(false)
	switch {
	case p.fault != nil:
	case low < 0 || high < 0:
		p.refuse("a range with a class as its end", `write \- for the character`)
	case high < low:
		p.refuse("a range whose end is before its beginning", "")
	}
}

func (p *patternReader) classChar(first bool) rune {
	switch c := p.text[p.pos]; {
	case c == '\\':
		return p.escape(true)
	case c == '[':
		p.refuse("a '[' inside a class", `write \[ for the character`)
		return -1
	case c == '-' && !first && !strings.HasPrefix(p.text[p.pos:], "-]"):
		p.refuse("a '-' inside a class", `write \- for the character`)
		return -1
	}
	r, width := utf8.DecodeRuneInString(p.text[p.pos:])
	p.pos += width
	return r
}

// capped keeps the count of nested repetitions from overflowing.
func capped(states int) int { return min(states, 1<<20) }
