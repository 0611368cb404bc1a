package exact

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func dec(t interface{ Fatalf(string, ...any) }, token string) Decimal {
	d, ok := ParseDecimal(token)
	if !ok {
		t.Fatalf("ParseDecimal(%q) refused", token)
	}
	return d
}

func TestCanonicalSpelling(t *testing.T) {
	for token, want := range map[string]string{
		"0": "0", "-0": "0", "0.000": "0", "1.10": "1.1", "100": "100", "1e2": "100", "-1.50": "-1.5",
		"1e40": "1" + strings.Repeat("0", 40), "1e41": "1e41", "12e40": "1.2e41", "1e-7": "0.0000001", "1.5e-8": "1.5e-8",
		"12.5e-9": "1.25e-8", "123456789012345678901234567890": "123456789012345678901234567890", "-25E-1": "-2.5",
	} {
		if got := dec(t, token).String(); got != want {
			t.Errorf("%s is spelt %s, want %s", token, got, want)
		}
	}
}

func TestArithmeticIsExactOrRefused(t *testing.T) {
	sum, ok := dec(t, "0.1").Add(dec(t, "0.2"))
	if !ok || sum.Cmp(dec(t, "0.30")) != 0 {
		t.Errorf("0.1 + 0.2 = %s", sum)
	}
	if dec(t, "9007199254740993").Cmp(dec(t, "9007199254740992")) != 1 {
		t.Error("2^53+1 equals 2^53")
	}
	if v, ok := dec(t, "1e400").Mul(dec(t, "10")); ok {
		t.Errorf("1e400 * 10 = %s", v)
	}
	if v, ok := dec(t, "1e200").Add(dec(t, "1e-200")); ok {
		t.Errorf("401 digits were rounded to %s", v)
	}
	if v, ok := dec(t, "1e-300").Mul(dec(t, "1e-300")); ok {
		t.Errorf("1e-600 became %s", v)
	}
	if v, ok := dec(t, "5").Sub(dec(t, "5.0")); !ok || v.String() != "0" || v.Neg().String() != "0" {
		t.Errorf("5 - 5.0 = %s", v)
	}
}

func TestMultipleOfIsExact(t *testing.T) {
	for _, c := range []struct {
		a, step string
		want    bool
	}{
		{"0.3", "0.1", true}, {"1.1", "0.1", true}, {"0.35", "0.1", false}, {"0", "7", true}, {"-9", "3", true},
		{"1e400", "1e-400", true}, {"1e400", "3", false}, {"9007199254740993", "2", false}, {"4.5", "1.5", true}, {"5", "0", false},
	} {
		if got := dec(t, c.a).MultipleOf(dec(t, c.step)); got != c.want {
			t.Errorf("%s multiple of %s: %v", c.a, c.step, got)
		}
	}
}

// math/big's rationals are the independent judge of every operation.
func TestDecimalAgreesWithRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := anyNumber().Draw(t, "x"), anyNumber().Draw(t, "y")
		a, b, p, q := dec(t, x), dec(t, y), rat(x), rat(y)
		if a.Cmp(b) != p.Cmp(q) {
			t.Fatalf("Cmp(%s, %s) = %d", x, y, a.Cmp(b))
		}
		for name, c := range map[string]struct {
			op   func(Decimal, Decimal) (Decimal, bool)
			want *big.Rat
		}{
			"+": {Decimal.Add, new(big.Rat).Add(p, q)}, "-": {Decimal.Sub, new(big.Rat).Sub(p, q)}, "*": {Decimal.Mul, new(big.Rat).Mul(p, q)},
		} {
			if got, ok := c.op(a, b); ok && rat(got.String()).Cmp(c.want) != 0 {
				t.Fatalf("%s %s %s = %s", x, name, y, got)
			}
		}
		if q.Sign() != 0 && a.MultipleOf(b) != new(big.Rat).Quo(p, q).IsInt() {
			t.Fatalf("%s multiple of %s: %v", x, y, a.MultipleOf(b))
		}
		if a.IsInteger() != p.IsInt() || rat(a.String()).Cmp(p) != 0 || rat(a.Neg().String()).Cmp(new(big.Rat).Neg(p)) != 0 {
			t.Fatalf("%s: integer %v, spelt %s", x, a.IsInteger(), a)
		}
	})
}

func rat(token string) *big.Rat {
	r, _ := new(big.Rat).SetString(token)
	return r
}

func TestInt64(t *testing.T) {
	for token, want := range map[string]int64{"5": 5, "5.0": 5, "1e3": 1000, "-9223372036854775808": -9223372036854775808} {
		if n, ok := dec(t, token).Int64(); !ok || n != want {
			t.Errorf("%s is %d, %v", token, n, ok)
		}
	}
	for _, token := range []string{"1.5", "9223372036854775808", "1e400"} {
		if n, ok := dec(t, token).Int64(); ok {
			t.Errorf("%s became %d", token, n)
		}
	}
	if DecimalInt(1500).String() != "1500" || Int(-3).Token() != "-3" {
		t.Error("built integers are misspelt")
	}
}
