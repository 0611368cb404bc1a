package exact

import "fmt"

// The number domain of definition.md section 1.
const (
	SignificantDigitsMax = 100
	AdjustedExponentMax  = 400
)

// exponentClamp stops an endless exponent from overflowing while it stays far
// beyond anything the digits of an admissible text could compensate.
const exponentClamp = 1 << 40

// scan is what one pass over a number token learns.
type scan struct {
	end         int // bytes of the token
	digits      int // digits before the exponent
	first, last int // positions of the outermost non-zero digits, -1 if none
	point       int // digits before the point
	exponent    int // of the e part, clamped
}

// number reads a number and checks its domain.
func (p *parser) number() (Value, *Error) {
	s, ok := scanNumber(p.text[p.pos:])
	if !ok {
		p.pos += s.end
		return Value{}, p.unexpected("a digit")
	}
	if detail := s.outside(); detail != "" {
		return Value{}, p.fail(CodeNumberRange, detail)
	}
	v := Value{kind: KindNumber, offset: p.pos, text: p.text[p.pos : p.pos+s.end]}
	p.pos += s.end
	return v, nil
}

// ValidNumber reports whether the token is one JSON number within the domain.
func ValidNumber(token string) bool {
	s, ok := scanNumber(token)
	return ok && s.end == len(token) && s.outside() == ""
}

// scanNumber reads the longest number at the start of text. When a digit is
// missing it reports false with end at the place of the fault.
func scanNumber(text string) (scan, bool) {
	s := scan{first: -1, last: -1}
	if s.end < len(text) && text[s.end] == '-' {
		s.end++
	}
	if s.end < len(text) && text[s.end] == '0' {
		s.end++
		s.digits = 1
	} else if !s.run(text) {
		return s, false
	}
	s.point = s.digits
	if s.end < len(text) && text[s.end] == '.' {
		s.end++
		if !s.run(text) {
			return s, false
		}
	}
	if s.end < len(text) && text[s.end]|0x20 == 'e' {
		return s, s.exponentPart(text)
	}
	return s, true
}

func (s *scan) run(text string) bool {
	start := s.end
	for s.end < len(text) && isDigit(text[s.end]) {
		if text[s.end] != '0' {
			if s.first < 0 {
				s.first = s.digits
			}
			s.last = s.digits
		}
		s.digits++
		s.end++
	}
	return s.end > start
}

func (s *scan) exponentPart(text string) bool {
	s.end++
	negative := false
	if s.end < len(text) && (text[s.end] == '+' || text[s.end] == '-') {
		negative = text[s.end] == '-'
		s.end++
	}
	start := s.end
	for s.end < len(text) && isDigit(text[s.end]) {
		s.exponent = min(s.exponent*10+int(text[s.end]-'0'), exponentClamp)
		s.end++
	}
	if negative {
		s.exponent = -s.exponent
	}
	return s.end > start
}

// outside says how the number leaves the domain, or nothing. A zero has no
// first digit; its exponent counts as written, because 0e999999999 is as
// dangerous to a careless reader as any other.
func (s *scan) outside() string {
	significant, adjusted := 0, s.exponent-(s.digits-s.point)
	if s.first >= 0 {
		significant = s.last - s.first + 1
		adjusted = s.point - 1 - s.first + s.exponent
	}
	if significant > SignificantDigitsMax {
		return fmt.Sprintf("a number with more than %d significant digits", SignificantDigitsMax)
	}
	if adjusted > AdjustedExponentMax || adjusted < -AdjustedExponentMax {
		return fmt.Sprintf("a number beyond 1e±%d", AdjustedExponentMax)
	}
	return ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
