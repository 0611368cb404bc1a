package cron_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/orbitrun/orbit/engine/cron"
)

// The model knows nothing of the engine: it walks ten years minute by minute, reads the zone's clock, and notes when
// the clock jumps or comes back (C39).
type model struct {
	allowed [5][61]bool
	either  bool
}

// newModel reads an expression naively: every value of a field is tried against every item.
func newModel(text string) *model {
	words := strings.Fields(text)
	m := &model{either: words[2][0] != '*' && words[4][0] != '*'}
	for f, top := range []int{59, 23, 31, 12, 7} {
		for v := range top + 1 {
			for _, item := range strings.Split(words[f], ",") {
				m.allowed[f][v] = m.allowed[f][v] || modelItem(item, v, f, top)
			}
		}
	}
	m.allowed[4][0] = m.allowed[4][0] || m.allowed[4][7]
	return m
}

func modelItem(item string, v, f, top int) bool {
	low, high, step := 0, top, 1
	if f == 2 || f == 3 {
		low = 1
	}
	span, every, stepped := strings.Cut(item, "/")
	if stepped {
		step, _ = strconv.Atoi(every)
	}
	if span == "*" && f == 4 {
		high = 6
	}
	if span != "*" {
		a, b, ranged := strings.Cut(span, "-")
		low, _ = strconv.Atoi(a)
		switch {
		case ranged:
			high, _ = strconv.Atoi(b)
		case !stepped:
			high = low
		}
	}
	return v >= low && v <= high && (v-low)%step == 0
}

func (m *model) on(w wall) bool {
	day, weekday := m.allowed[2][w.day], m.allowed[4][w.weekday]
	both := day && weekday
	if m.either {
		both = day || weekday
	}
	return both && m.allowed[0][w.minute] && m.allowed[1][w.hour] && m.allowed[3][w.month]
}

type wall struct{ month, day, weekday, hour, minute int }

func wallOf(t time.Time) wall {
	_, month, day := t.Date()
	return wall{int(month), day, int(t.Weekday()), t.Hour(), t.Minute()}
}

// modelYears lists the slots of expressions in [from, until), and the number of silent times.
func modelYears(zone *time.Location, models []*model, gap cron.Gap, repeat cron.Repeat, from, until time.Time) (slots [][]int64, silent []int) {
	slots, silent = make([][]int64, len(models)), make([]int, len(models))
	// A day before: what came first must have been seen.
	var latest, last int64 // wall-clock minutes as if they were UTC
	for t := from.Add(-48 * time.Hour); t.Before(until); t = t.Add(time.Minute) {
		local := t.In(zone)
		_, offset := local.Zone()
		now := (t.Unix() + int64(offset)) / 60
		counts := !t.Before(from)
		for missing := last + 1; last != 0 && missing < now; missing++ { // the clock jumped over these
			w := wallOf(time.Unix(missing*60, 0).UTC())
			for i, m := range models {
				if !counts || !m.on(w) {
					continue
				}
				silent[i]++
				if n := len(slots[i]); gap == cron.GapFireAfter && (n == 0 || slots[i][n-1] != t.Unix()) {
					slots[i] = append(slots[i], t.Unix())
				}
			}
		}
		again := now <= latest
		w := wallOf(local)
		for i, m := range models {
			if !counts || !m.on(w) {
				continue
			}
			if again && repeat == cron.RepeatFirst {
				silent[i]++
				continue
			}
			if n := len(slots[i]); n == 0 || slots[i][n-1] != t.Unix() {
				slots[i] = append(slots[i], t.Unix())
			}
		}
		last, latest = now, max(latest, now)
	}
	return slots, silent
}

var expressions = []string{
	"30 2 * * *", "*/15 * * * *", "0 0 * * *", "59 23,0 * * 0", "0,30 1-3 * * *", "10 2 29 2 *", "5 */6 1,15 * 5", "1 0 31 * *", "45 1 * 3,10,11 7",
}

// Twelve zones, ten years each, chosen for their clocks: half an hour, two hours, at midnight, a whole day gone, rules
// that change every year, zones without daylight saving.
var zones = []struct {
	name string
	from int
}{
	{"America/New_York", 2024}, {"Europe/Berlin", 2024}, {"Australia/Lord_Howe", 2024}, {"America/Sao_Paulo", 2011},
	{"Pacific/Apia", 2009}, {"Africa/Casablanca", 2024}, {"Asia/Tehran", 2016}, {"America/St_Johns", 2005},
	{"Antarctica/Troll", 2024}, {"Africa/Cairo", 2022}, {"Asia/Kathmandu", 2024}, {"Asia/Shanghai", 2024},
}

func TestTwelveZonesTenYearsAgainstTheModel(t *testing.T) {
	models := make([]*model, len(expressions))
	for i, text := range expressions {
		models[i] = newModel(text)
	}
	checked, quiet := 0, 0
	for n, z := range zones {
		zone, err := time.LoadLocation(z.name)
		if err != nil {
			t.Fatal(err)
		}
		gap, repeat := cron.Gap(1+n%2), cron.Repeat(1+n/2%2)
		from, until := time.Date(z.from, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(z.from+10, 1, 1, 0, 0, 0, 0, time.UTC)
		want, silent := modelYears(zone, models, gap, repeat, from, until)
		for i, text := range expressions {
			c := timing(t, text, zone, gap, repeat)
			got := 0
			for slot, ok := c.Next(from.Add(-time.Nanosecond)); ok && slot.Before(until); slot, ok = c.Next(slot) {
				if got >= len(want[i]) || slot.Unix() != want[i][got] {
					t.Fatalf("%s in %s (gap %d, repeat %d): slot %d is %s, the model says %s", text, z.name, gap, repeat, got, slot.In(zone), at(want[i], got, zone))
				}
				got++
			}
			if got != len(want[i]) {
				t.Fatalf("%s in %s: %d slots, the model has %d; next %s", text, z.name, got, len(want[i]), at(want[i], got, zone))
			}
			if s := c.Silent(from, until); len(s) != silent[i] {
				t.Errorf("%s in %s: %d silences, the model has %d", text, z.name, len(s), silent[i])
			}
			checked, quiet = checked+got, quiet+silent[i]
		}
	}
	if quiet == 0 {
		t.Error("no transition was met: the test proves nothing")
	}
	t.Logf("%d slots and %d silences of %d expressions in %d zones agree", checked, quiet, len(expressions), len(zones))
}

func at(list []int64, i int, zone *time.Location) string {
	if i >= len(list) {
		return "none"
	}
	return time.Unix(list[i], 0).In(zone).String()
}

func timing(t testing.TB, text string, zone *time.Location, gap cron.Gap, repeat cron.Repeat) cron.Cron {
	t.Helper()
	e, err := cron.ParseExpression(text)
	if err != nil {
		t.Fatal(err)
	}
	return cron.Cron{Expression: e, Zone: zone, Gap: gap, Repeat: repeat}
}

// Next from any instant, also inside a gap and inside a repeat, is the first slot of the list behind that instant.
func TestNextFromAnywhere(t *testing.T) {
	for _, name := range []string{"America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Antarctica/Troll"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for policy := range 4 {
			c := timing(t, "17,30 */2 * * *", zone, cron.Gap(1+policy%2), cron.Repeat(1+policy/2))
			from := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)
			list := cron.Slots(c, from, from.AddDate(1, 0, 10), 20_000)
			i := 0
			for probe := from; probe.Before(from.AddDate(1, 0, 0)); probe = probe.Add(13*time.Minute + 7*time.Second) {
				for !list[i].After(probe) {
					i++
				}
				if got, ok := c.Next(probe); !ok || !got.Equal(list[i]) {
					t.Fatalf("%s policy %d: after %s comes %s, want %s", name, policy, probe, got, list[i])
				}
			}
		}
	}
}

func TestDaylightSavingNights(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range []struct {
		gap          cron.Gap
		repeat       cron.Repeat
		text, day    string
		slots, quiet string
	}{
		{cron.GapSkip, cron.RepeatFirst, "30 2 * * *", "2026-03-08", "", "2026-03-08T02:30 gone"},
		{cron.GapFireAfter, cron.RepeatFirst, "30 2 * * *", "2026-03-08", "03:00 EDT", "2026-03-08T02:30 moved"},
		{cron.GapFireAfter, cron.RepeatFirst, "0,15 2-3 * * *", "2026-03-08", "03:00 EDT, 03:15 EDT", "2026-03-08T02:00 moved, 2026-03-08T02:15 moved"},
		{cron.GapSkip, cron.RepeatFirst, "30 1 * * *", "2026-11-01", "01:30 EDT", "2026-11-01T01:30 again"},
		{cron.GapSkip, cron.RepeatBoth, "30 1 * * *", "2026-11-01", "01:30 EDT, 01:30 EST", ""},
	} {
		c := timing(t, story.text, zone, story.gap, story.repeat)
		from, _ := time.ParseInLocation("2006-01-02", story.day, zone)
		until := from.AddDate(0, 0, 1)
		var slots, quiet []string
		for _, s := range cron.Slots(c, from, until, 100) {
			slots = append(slots, s.In(zone).Format("15:04 MST"))
		}
		for _, s := range c.Silent(from, until) {
			word := map[bool]string{true: "again", false: "gone"}[s.Repeat]
			if !s.Into.IsZero() {
				word = "moved"
			}
			quiet = append(quiet, s.Local+" "+word)
		}
		if got := strings.Join(slots, ", "); got != story.slots {
			t.Errorf("%s on %s: %q, want %q", story.text, story.day, got, story.slots)
		}
		if got := strings.Join(quiet, ", "); got != story.quiet {
			t.Errorf("%s on %s: silent %q, want %q", story.text, story.day, got, story.quiet)
		}
	}
}

func TestIntervals(t *testing.T) {
	anchor := time.Date(2031, 7, 1, 0, 0, 0, 0, time.UTC)
	i := cron.Interval{Every: 90 * time.Second, Anchor: anchor}
	for _, c := range []struct{ after, want time.Duration }{
		{-time.Hour, 0}, {-time.Microsecond, 0}, {0, 90 * time.Second}, {89 * time.Second, 90 * time.Second}, {90 * time.Second, 180 * time.Second}, {24 * time.Hour, 24*time.Hour + 90*time.Second},
	} {
		if got, ok := i.Next(anchor.Add(c.after)); !ok || !got.Equal(anchor.Add(c.want)) {
			t.Errorf("after %s comes %s, want %s", c.after, got.Sub(anchor), c.want)
		}
	}
	epoch := cron.Interval{Every: 15 * time.Minute, Anchor: time.Unix(0, 0).UTC()}
	if got, _ := epoch.Next(time.Date(9998, 1, 1, 0, 7, 0, 0, time.UTC)); fmt.Sprint(got) != "9998-01-01 00:15:00 +0000 UTC" {
		t.Error(got)
	}
}
