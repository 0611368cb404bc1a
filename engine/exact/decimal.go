package exact

import (
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Decimal is one number as a value: 1, 1.0 and 1e0 are the same Decimal.
type Decimal struct{ d apd.Decimal }

// unlimited computes sums and products without rounding; remainder has room
// for the widest quotient two numbers of the domain can have.
var (
	unlimited = apd.BaseContext
	remainder = apd.BaseContext.WithPrecision(4 * AdjustedExponentMax)
)

// ParseDecimal reads a number token. It reports false for a token that
// ValidNumber refuses.
func ParseDecimal(token string) (Decimal, bool) {
	s, ok := scanNumber(token)
	if !ok || s.end != len(token) || s.outside() != "" {
		return Decimal{}, false
	}
	if s.first < 0 {
		return Decimal{}, true
	}
	return s.decimal(token), true
}

// decimal builds the value from the significant digits alone, so that a long
// run of zeros costs one pass and no big arithmetic.
func (s *scan) decimal(token string) Decimal {
	var room [SignificantDigitsMax]byte
	digits, small, seen := room[:0], uint64(0), 0
	for i := 0; i < len(token) && seen <= s.last; i++ {
		if !isDigit(token[i]) {
			continue
		}
		if seen >= s.first {
			digits = append(digits, token[i])
			small = small*10 + uint64(token[i]-'0')
		}
		seen++
	}
	var out Decimal
	if len(digits) <= 19 { // 10^19 − 1 fits; most numbers are short
		out.d.Coeff.SetUint64(small)
	} else {
		out.d.Coeff.SetString(string(digits), 10)
	}
	out.d.Exponent = int32(s.point - 1 - s.last + s.exponent)
	out.d.Negative = token[0] == '-'
	return out
}

// DecimalOf is the value of a number; the zero Decimal for any other kind.
func DecimalOf(v Value) Decimal {
	d, _ := ParseDecimal(v.Token())
	return d
}

// DecimalInt is the Decimal of a Go integer.
func DecimalInt(n int64) Decimal {
	var out Decimal
	out.d.SetInt64(n)
	return out.reduced()
}

// Cmp compares by value: -1, 0 or +1.
func (a Decimal) Cmp(b Decimal) int { return a.d.Cmp(&b.d) }

// IsInteger reports whether the value has no fraction.
func (a Decimal) IsInteger() bool { return a.d.Exponent >= 0 || a.d.IsZero() }

// Int64 is the value as a Go integer; false when it has a fraction or does not
// fit.
func (a Decimal) Int64() (int64, bool) {
	n, err := a.d.Int64()
	return n, err == nil
}

// Add is the exact sum; false when it leaves the number domain.
func (a Decimal) Add(b Decimal) (Decimal, bool) { return compute(unlimited.Add, a, b) }

// Sub is the exact difference; false when it leaves the number domain.
func (a Decimal) Sub(b Decimal) (Decimal, bool) { return compute(unlimited.Sub, a, b) }

// Mul is the exact product; false when it leaves the number domain.
func (a Decimal) Mul(b Decimal) (Decimal, bool) { return compute(unlimited.Mul, a, b) }

// Neg is the value with the other sign; zero has none.
func (a Decimal) Neg() Decimal {
	out := a.copied()
	out.d.Negative = !a.d.Negative && !a.d.IsZero()
	return out
}

// MultipleOf reports whether a is an integer multiple of step, exactly. A zero
// step has no multiples.
func (a Decimal) MultipleOf(step Decimal) bool {
	if step.d.IsZero() {
		return false
	}
	var rest apd.Decimal
	_, err := remainder.Rem(&rest, &a.d, &step.d)
	return err == nil && rest.IsZero()
}

// Floor is the greatest integer not above a; with strict, below a. False when
// it leaves the number domain.
func (a Decimal) Floor(strict bool) (Decimal, bool) {
	if a.IsInteger() {
		if strict {
			return a.Sub(DecimalInt(1))
		}
		return a, true
	}
	var out Decimal
	_, err := remainder.Floor(&out.d, &a.d)
	return out.reduced(), err == nil
}

// Ceil is the least integer not below a; with strict, above a. False when it
// leaves the number domain.
func (a Decimal) Ceil(strict bool) (Decimal, bool) {
	out, ok := a.Neg().Floor(strict)
	return out.Neg(), ok
}

// String is the canonical spelling of definition.md section 4.4: no trailing
// zeros, plain when the adjusted exponent is -7 to 40, else d.ddde±x without a
// plus sign.
func (a Decimal) String() string {
	if a.d.IsZero() {
		return "0"
	}
	digits := a.d.Coeff.String()
	adjusted := len(digits) - 1 + int(a.d.Exponent)
	text := ""
	if adjusted >= -7 && adjusted <= 40 {
		text = plain(digits, adjusted)
	} else {
		text = scientific(digits, adjusted)
	}
	if a.d.Negative {
		return "-" + text
	}
	return text
}

// Value is the number in its canonical spelling.
func (a Decimal) Value() Value { return Value{kind: KindNumber, text: a.String()} }

func plain(digits string, adjusted int) string {
	switch {
	case adjusted < 0:
		return "0." + strings.Repeat("0", -adjusted-1) + digits
	case adjusted >= len(digits)-1:
		return digits + strings.Repeat("0", adjusted-len(digits)+1)
	}
	return digits[:adjusted+1] + "." + digits[adjusted+1:]
}

func scientific(digits string, adjusted int) string {
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	return digits + "e" + strconv.Itoa(adjusted)
}

type operation func(d, x, y *apd.Decimal) (apd.Condition, error)

func compute(op operation, a, b Decimal) (Decimal, bool) {
	var out Decimal
	if _, err := op(&out.d, &a.d, &b.d); err != nil {
		return Decimal{}, false
	}
	out = out.reduced()
	digits := int(out.d.NumDigits())
	adjusted := digits - 1 + int(out.d.Exponent)
	inside := digits <= SignificantDigitsMax && adjusted <= AdjustedExponentMax && adjusted >= -AdjustedExponentMax
	return out, inside || out.d.IsZero()
}

// reduced strips trailing zeros, the one form this package keeps.
func (a Decimal) reduced() Decimal {
	var out Decimal
	out.d.Reduce(&a.d)
	if out.d.IsZero() {
		return Decimal{}
	}
	return out
}

func (a Decimal) copied() Decimal {
	var out Decimal
	out.d.Set(&a.d)
	return out
}
