package definition

import (
	"fmt"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/weave/expr"
)

// expressions reports what the parser says about each template and counts
// expressions over the whole document.
func (c *checker) expressions() {
	total := 0
	for _, where := range c.sites {
		c.pass(where, where.template.problems)
		where.refused = expr.Refused(where.template.problems)
		if !where.refused {
			total += where.template.ExpressionCount()
		}
	}
	if total > ExpressionsMax {
		c.add("expression_limit", place{pointer: "/body"}, fmt.Sprintf("%d expressions, at most %d", total, ExpressionsMax), "compute less in the definition, more in handlers")
	}
}

// pass hands on findings of the expression language, placed in the document.
func (c *checker) pass(where *site, problems []expr.Problem) {
	for _, p := range problems {
		c.put(Problem{
			Code: p.Code, Pointer: p.Pointer, Offset: p.Offset, Detail: p.Detail, Hint: p.Hint,
			Step: where.at.step, Position: c.expressionPosition(p.Pointer, p.Offset),
		})
	}
}

// refuse reports one read of one expression.
func (c *checker) refuse(where *site, ref expr.Ref, code, detail, hint string) {
	where.refused = true
	c.put(Problem{
		Code: code, Pointer: ref.Pointer, Offset: ref.Offset, Detail: detail, Hint: hint,
		Step: where.at.step, Position: c.expressionPosition(ref.Pointer, ref.Offset),
	})
}

// expressionPosition is the byte of the document at a byte of an expression,
// which stands behind the quote and the mark.
func (r *report) expressionPosition(pointer string, offset int) int {
	start := r.position(place{pointer: pointer})
	if offset < 0 {
		return start
	}
	return start + rawLength(r.text[start+1:], offset+len("${")) + 1
}

// rawLength counts the bytes of the text that spell the first n bytes of a
// string's content.
func rawLength(text []byte, n int) int {
	raw := 0
	for content := 0; content < n && raw < len(text) && text[raw] != '"'; {
		switch {
		case text[raw] != '\\':
			_, size := utf8.DecodeRune(text[raw:])
			raw, content = raw+size, content+size
		case raw+1 < len(text) && text[raw+1] == 'u':
			size, length := escapedRune(text[raw:])
			raw, content = raw+length, content+size
		default:
			raw, content = raw+2, content+1
		}
	}
	return raw
}

// escapedRune returns how many bytes \uXXXX, or a pair of them, stand for and
// how many it takes.
func escapedRune(text []byte) (size, length int) {
	var unit rune
	for _, digit := range text[2:6] {
		unit = unit<<4 | hexDigit(digit)
	}
	switch {
	case unit >= 0xD800 && unit < 0xDC00:
		return 4, 12
	case unit >= 0x800:
		return 3, 6
	case unit >= 0x80:
		return 2, 6
	}
	return 1, 6
}

func hexDigit(c byte) rune {
	switch {
	case c <= '9':
		return rune(c - '0')
	case c <= 'F':
		return rune(c-'A') + 10
	}
	return rune(c-'a') + 10
}
