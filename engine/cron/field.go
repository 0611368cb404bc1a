package cron

import (
	"fmt"
	"math/bits"
	"strings"
)

// field is one of the five fields: its name, its range and the words it knows.
type field struct {
	name     string
	min, max int
	words    []string // words[i] stands for min+i
}

// The five fields in the order of an expression. Sunday is 0 and 7.
var fields = [5]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{"day of week", 0, 7, []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
}

// set is the values a field allows, one bit each.
type set uint64

func (s set) has(n int) bool { return s>>uint(n)&1 == 1 }

// from is the smallest value ≥ n, or −1.
func (s set) from(n int) int {
	if n > 63 {
		return -1
	}
	rest := uint64(s) >> uint(n) << uint(n)
	if rest == 0 {
		return -1
	}
	return bits.TrailingZeros64(rest)
}

// parse reads one field: items separated by commas, each *, N, N-M, with an optional /STEP. starred reports that the
// field begins with *, which matters to the two day fields.
func (f field) parse(text string) (allowed set, starred bool, err error) {
	for _, item := range strings.Split(text, ",") {
		got, err := f.item(item)
		if err != nil {
			return 0, false, err
		}
		allowed |= got
	}
	if f.max == 7 && allowed.has(7) {
		allowed = allowed&^(1<<7) | 1
	}
	return allowed, strings.HasPrefix(text, "*"), nil
}

func (f field) item(text string) (set, error) {
	span, step, stepped := strings.Cut(text, "/")
	every := 1
	if stepped {
		n, ok := digits(step)
		if !ok || n < 1 || n > f.max-f.min+1 {
			return 0, f.bad(text, fmt.Sprintf("a step is 1 to %d", f.max-f.min+1))
		}
		every = n
	}
	low, high, err := f.span(span, stepped)
	if err != nil {
		return 0, err
	}
	var out set
	for n := low; n <= high; n += every {
		out |= 1 << uint(n)
	}
	return out, nil
}

// span reads * or N or N-M; N/STEP runs to the end of the range.
func (f field) span(text string, stepped bool) (low, high int, err error) {
	if text == "*" {
		high = f.max
		if f.max == 7 {
			high = 6 // 7 is 0 again
		}
		return f.min, high, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	if low, err = f.value(from); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		if high, err = f.value(to); err != nil {
			return 0, 0, err
		}
	case stepped:
		high = f.max
	default:
		high = low
	}
	if high < low {
		return 0, 0, f.bad(text, "the range ends before it begins")
	}
	return low, high, nil
}

func (f field) value(text string) (int, error) {
	for i, word := range f.words {
		if strings.EqualFold(text, word) {
			return f.min + i, nil
		}
	}
	n, ok := digits(text)
	if !ok || n < f.min || n > f.max {
		return 0, f.bad(text, fmt.Sprintf("a value is %d to %d", f.min, f.max))
	}
	return n, nil
}

func (f field) bad(text, why string) error {
	return fmt.Errorf("%s: %q: %s", f.name, text, why)
}

// digits reads one to four decimal digits and nothing else.
func digits(text string) (int, bool) {
	if len(text) == 0 || len(text) > 4 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
