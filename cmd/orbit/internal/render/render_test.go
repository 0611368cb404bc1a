package render

import (
	"strings"
	"testing"
	"time"
)

// A terminal obeys what it is sent: nothing a server says may reach it raw.
func TestControlCharactersAreReplaced(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢": "plain é 漢", "a\tb\nc": "a b c", "\x1b]0;title\x07": "\uFFFD]0;title\uFFFD",
		"\u202Eevil\u2066": "\uFFFDevil\uFFFD", "\u009b31m": "\uFFFD31m", "\r": "\uFFFD",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestTables(t *testing.T) {
	var out strings.Builder
	p := New(&out, false)
	if err := p.Table([]string{"queue", "state"}, [][]string{{"a", "OPEN"}, {"long name", "x\x1b[2J"}}); err != nil {
		t.Fatal(err)
	}
	if err := p.Record(Field{"state", "SUCCEEDED"}, Field{"empty", ""}, Field{"漢字", "wide"}); err != nil {
		t.Fatal(err)
	}
	want := "QUEUE      STATE\na          OPEN\nlong name  x\uFFFD[2J\nstate  SUCCEEDED\n漢字   wide\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if _ = p.Table([]string{"queue"}, nil); out.String() != "QUEUE\n" {
		t.Errorf("an empty table is %q", out.String())
	}
}

func TestTimesAndLengths(t *testing.T) {
	for ms, want := range map[int64]string{0: "0s", 840: "840ms", 1500: "1.5s", 60_000: "1m", 5_400_000: "1h30m", 3_600_000: "1h", 3_601_000: "1h0m1s"} {
		if got := Millis(ms); got != want {
			t.Errorf("%d ms is %q, want %q", ms, got, want)
		}
	}
	at := time.Date(2031, 7, 1, 10, 30, 0, 123456000, time.FixedZone("", 7200))
	if got := Time(at); got != "2031-07-01T08:30:00.123Z" {
		t.Error(got)
	}
	if Brief("漢字漢字", 3) != "漢字…" || Brief("abc", 3) != "abc" {
		t.Error("cut on a character")
	}
}
