package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/cron"
)

func TestExpressionsAreRefusedByName(t *testing.T) {
	for text, want := range map[string]string{
		"": "5 fields", "* * * *": "5 fields", "* * * * * *": "5 fields", "TZ=UTC * * * *": "minute", "@every 1s": "5 fields", "60 * * * *": "0 to 59",
		"* 24 * * *": "0 to 23", "* * 0 * *": "1 to 31", "* * * 13 *": "1 to 12", "* * * * 8": "0 to 7", "5-1 * * * *": "ends before", "*/0 * * * *": "step",
		"*/61 * * * *": "step", "1,,2 * * * *": "minute", "- * * * *": "minute", "1-2-3 * * * *": "minute", "0 0 31 2 *": "no month", "0 0 30 FEB *": "no month",
		"0 0 31 4,6,9,11 *": "no month", "-1 * * * *": "minute", "+1 * * * *": "minute", "1e1 * * * *": "minute", "99999999999 * * * *": "minute",
		"* * * * mon-": "day of week", "* * ? * *": "day of month", strings.Repeat("1,", 200) + "1 * * * *": "longer",
	} {
		if _, err := cron.ParseExpression(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want something about %q", text, err, want)
		}
	}
}

func TestExpressionsMeanTheSame(t *testing.T) {
	for text, same := range map[string]string{
		"@daily": "0 0 * * *", "0 0 * jan-mar Mon-FRI": "0 0 * 1-3 1-5", "0 0 * * 7": "0 0 * * 0", "0 0 * * 5-7": "0 0 * * 0,5,6", "5/20 * * * *": "5,25,45 * * * *",
		"0-10/5 1 1 1 *": "0,5,10 1 1 1 *", "\t0  0\t* * * ": "0 0 * * *", "@HOURLY": "0 * * * *", "0 0 * * */7": "0 0 * * 0",
	} {
		a, err := cron.ParseExpression(text)
		if err != nil {
			t.Fatal(text, err)
		}
		b, err := cron.ParseExpression(same)
		if err != nil {
			t.Fatal(same, err)
		}
		from := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		x := cron.Slots(cron.Cron{Expression: a, Zone: time.UTC, Gap: cron.GapSkip, Repeat: cron.RepeatBoth}, from, from.AddDate(0, 2, 0), 300)
		y := cron.Slots(cron.Cron{Expression: b, Zone: time.UTC, Gap: cron.GapSkip, Repeat: cron.RepeatBoth}, from, from.AddDate(0, 2, 0), 300)
		if len(x) == 0 || len(x) != len(y) {
			t.Fatalf("%q has %d slots, %q %d", text, len(x), same, len(y))
		}
		for i := range x {
			if !x[i].Equal(y[i]) {
				t.Errorf("%q and %q differ at %s and %s", text, same, x[i], y[i])
			}
		}
	}
}

// Whatever is accepted has a next slot, which lies ahead and is found quickly; nothing panics (C52).
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"* * * * *", "0 0 29 2 *", "0 0 29 2 1", "*/7 1-5/2 1,31 JAN-DEC SUN", "@yearly", "0 0 31 2 *", "59 23 31 12 7", "TZ=UTC 0 0 * * *", "\x00 * * * *", "1-1/1 * * * *"} {
		f.Add(seed, int64(1772953200))
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, second int64) {
		e, err := cron.ParseExpression(text)
		if err != nil {
			return
		}
		from := time.Unix(second%4_000_000_000, 0)
		for _, c := range []cron.Cron{{Expression: e, Zone: berlin, Gap: cron.GapFireAfter, Repeat: cron.RepeatFirst}, {Expression: e, Zone: berlin, Gap: cron.GapSkip, Repeat: cron.RepeatBoth}} {
			slot, ok := c.Next(from)
			if ok && !slot.After(from) {
				t.Fatalf("%q: %s is not after %s", text, slot, from)
			}
			if !ok && from.Year() > 1900 && from.Year() < 2090 {
				t.Fatalf("%q: accepted and never due after %s", text, from)
			}
			c.Silent(from, from.AddDate(1, 0, 0))
		}
	})
}
