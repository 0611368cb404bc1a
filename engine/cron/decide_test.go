package cron_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/cron"
)

// The stories run on a schedule of one slot a minute; minute 0 is noon, now is minute 10.
var noon = time.Date(2031, 7, 1, 12, 0, 0, 0, time.UTC)

func minute(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Minute))) }

func base() cron.Plan {
	return cron.Plan{
		Timing: cron.Interval{Every: time.Minute, Anchor: time.Unix(0, 0).UTC()}, Now: minute(10), Last: minute(5), Next: minute(6),
		Policy: cron.Policy{Overlap: cron.OverlapAllow, Misfire: cron.MisfireSkip, CatchUp: time.Hour},
		Admit:  func(bool) (string, bool) { return "", true },
	}
}

var letters = map[cron.Outcome]string{cron.Fired: "F", cron.SkippedMisfire: "M", cron.SkippedOverlap: "O", cron.SkippedPaused: "P", cron.SkippedClock: "C", cron.Merged: "m"}

// tell writes a decision: "6F 7m8 8F next 11".
func tell(d cron.Decision) string {
	num := func(t time.Time) string { return fmt.Sprint(t.Sub(noon).Minutes()) }
	var out []string
	for _, s := range d.Slots {
		text := num(s.At) + letters[s.Outcome]
		if !s.Into.IsZero() {
			text += num(s.Into)
		}
		if s.Reason != "" {
			text += "(" + s.Reason + ")"
		}
		out = append(out, text)
	}
	if !d.Next.IsZero() {
		out = append(out, "next "+num(d.Next))
	}
	if !d.Waiting.IsZero() {
		out = append(out, "waiting "+num(d.Waiting))
	}
	for word, on := range map[string]bool{"ended": d.Ended, "more": d.More, "blocked " + d.Blocked: d.Blocked != ""} {
		if on {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

func TestDecisionsAreStories(t *testing.T) {
	full := func(bool) (string, bool) { return "queue_full", false }
	for _, s := range []struct {
		name, want string
		change     func(*cron.Plan)
	}{
		{"nothing is due", "next 11", func(p *cron.Plan) { p.Next = minute(11) }},
		{"a slot fires at its instant, not before", "10F next 11", func(p *cron.Plan) { p.Next = minute(10) }},
		{"every slot inside the window fires", "6F 7F 8F 9F 10F next 11", func(*cron.Plan) {}},
		{"too late is skipped", "6M 7M 8F 9F 10F next 11", func(p *cron.Plan) { p.Policy.CatchUp = 2 * time.Minute }},
		{"too late is merged into the first in time", "6m8 7m8 8F 9F 10F next 11", func(p *cron.Plan) { p.Policy.CatchUp, p.Policy.Misfire = 2*time.Minute, cron.MisfireFireOnce }},
		{"all too late: the last fires once", "6m10 7m10 8m10 9m10 10F next 11", func(p *cron.Plan) {
			p.Now, p.Policy.CatchUp, p.Policy.Misfire = minute(10.9), 30*time.Second, cron.MisfireFireOnce
		}},
		{"all too late and no room: recorded as missed", "10M(queue_full) next 11", func(p *cron.Plan) {
			p.Now, p.Next, p.Policy.CatchUp, p.Policy.Misfire, p.Admit = minute(10.9), minute(10), 30*time.Second, cron.MisfireFireOnce, full
		}},
		{"no room inside the window: tried again", "next 6 blocked queue_full", func(p *cron.Plan) { p.Admit = full }},
		{"no room until the window is over: missed", "6M 7M next 8 blocked queue_full", func(p *cron.Plan) { p.Policy.CatchUp, p.Admit = 2*time.Minute, full }},
		{"skip while the last one runs", "6O 7O 8O 9O 10O next 11", func(p *cron.Plan) { p.Policy.Overlap, p.Open = cron.OverlapSkip, true }},
		{"the first fires, the others overlap it", "6F 7O 8O 9O 10O next 11", func(p *cron.Plan) { p.Policy.Overlap = cron.OverlapSkip }},
		{"one waits, the rest is merged into it", "7m6 8m6 9m6 10m6 next 11 waiting 6", func(p *cron.Plan) { p.Policy.Overlap, p.Open = cron.OverlapQueueOne, true }},
		{"the waiting one fires when the last has ended", "5F next 11", func(p *cron.Plan) { p.Policy.Overlap, p.Waiting, p.Next = cron.OverlapQueueOne, minute(5), minute(11) }},
		{"the waiting one goes first and the next waits", "5F 7m6 8m6 9m6 10m6 next 11 waiting 6", func(p *cron.Plan) { p.Policy.Overlap, p.Waiting = cron.OverlapQueueOne, minute(5) }},
		{"the waiting one stays while paused", "6P 7P 8P 9P 10P next 11 waiting 5", func(p *cron.Plan) { p.Paused, p.Waiting = true, minute(5) }},
		{"the waiting one waits for room", "next 6 waiting 5 blocked queue_full", func(p *cron.Plan) { p.Waiting, p.Admit = minute(5), full }},
		{"the waiting one misses its window in a full queue", "5M(queue_full) 6M 7M 8M 9M 10M next 11", func(p *cron.Plan) {
			p.Waiting, p.Admit, p.Policy.CatchUp, p.Now = minute(5), full, 30*time.Second, minute(10.9)
		}},
		{"paused", "6P 7P 8P 9P 10P next 11", func(p *cron.Plan) { p.Paused = true }},
		{"what came during the pause stays skipped", "6P 7P 8F 9F 10F next 11", func(p *cron.Plan) { p.SkipBefore = minute(7.5) }},
		{"the version ends", "6F 7F next 8 ended", func(p *cron.Plan) { p.Until = minute(7.5) }},
		{"the version has ended already", "next 11 ended", func(p *cron.Plan) { p.Next, p.Until = minute(11), minute(9.5) }},
		{"too late in an ended version: its last fires once", "6m7 7F next 8 ended", func(p *cron.Plan) {
			p.Until, p.Policy.CatchUp, p.Policy.Misfire = minute(7.5), time.Minute, cron.MisfireFireOnce
		}},
	} {
		p := base()
		s.change(&p)
		if got := tell(cron.Decide(p)); got != s.want {
			t.Errorf("%s: %s\n  want %s", s.name, got, s.want)
		}
	}
}

// A long absence is decided in bounded pieces, and the pieces together decide every slot once.
func TestLongAbsenceIsDecidedInPieces(t *testing.T) {
	for _, misfire := range []cron.Misfire{cron.MisfireSkip, cron.MisfireFireOnce} {
		p := base()
		p.Policy.Misfire, p.Policy.CatchUp = misfire, 90*time.Second
		p.Now = minute(5000.2)
		seen, fired, pieces := map[time.Time]int{}, 0, 0
		for more := true; more; pieces++ {
			d := cron.Decide(p)
			if len(d.Slots) > cron.SlotsPerDecision {
				t.Fatal("a piece of", len(d.Slots))
			}
			for _, s := range d.Slots {
				seen[s.At]++
				if s.Outcome == cron.Fired {
					fired++
				}
			}
			p.Last, p.Next, more = d.Last, d.Next, d.More
		}
		if len(seen) != 4995 || fired != 2 || pieces < 25 {
			t.Errorf("misfire %d: %d slots, %d fired, %d pieces", misfire, len(seen), fired, pieces)
		}
		for at, n := range seen {
			if n != 1 {
				t.Errorf("%s decided %d times", at, n)
			}
		}
	}
}

// Whatever happens, in whatever steps the clock is looked at: every slot is decided exactly once, none before its
// instant, none fires later than the window allows, and with SKIP and QUEUE_ONE never two at a time.
func TestAnyHistoryDecidesEverySlotOnce(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := base()
		p.Policy = cron.Policy{Overlap: cron.Overlap(1 + r.IntN(3)), Misfire: cron.Misfire(1 + r.IntN(2)), CatchUp: time.Duration(1+r.IntN(300)) * time.Second}
		p.Now = minute(6)
		room := true
		p.Admit = func(bool) (string, bool) { return map[bool]string{true: "", false: "queue_full"}[room], room }
		decided := map[time.Time]int{}
		for range 200 {
			p.Now = p.Now.Add(time.Duration(r.IntN(240)) * time.Second)
			room, p.Open = r.IntN(5) > 0, p.Open && r.IntN(3) > 0
			if paused := r.IntN(10) == 0; p.Paused && !paused {
				p.Paused, p.SkipBefore = false, p.Now
			} else {
				p.Paused = paused
			}
			open := p.Open
			d := cron.Decide(p)
			for _, s := range d.Slots {
				decided[s.At]++
				if s.At.After(p.Now) {
					t.Fatalf("seed %d: %s decided at %s", seed, s.At, p.Now)
				}
				if s.Outcome != cron.Fired {
					continue
				}
				if p.Paused || open && p.Policy.Overlap != cron.OverlapAllow || !room {
					t.Fatalf("seed %d: fired while paused %v, open %v, room %v", seed, p.Paused, open, room)
				}
				if p.Policy.Misfire == cron.MisfireSkip && !s.Waited && p.Now.Sub(s.At) > p.Policy.CatchUp {
					t.Fatalf("seed %d: fired %s too late", seed, p.Now.Sub(s.At))
				}
				open = true
			}
			p.Open, p.Last, p.Next, p.Waiting = open, d.Last, d.Next, d.Waiting
		}
		for at := minute(6); at.Before(p.Next); at = at.Add(time.Minute) {
			want := 1
			if at.Equal(p.Waiting) {
				want = 0
			}
			if decided[at] != want {
				t.Fatalf("seed %d: %s decided %d times", seed, at, decided[at])
			}
		}
	}
}

// A night of daylight saving leaves its records, once, whenever it is looked at.
func TestNightsLeaveRecords(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []time.Duration{time.Minute, 7 * time.Hour, 40 * 24 * time.Hour} {
		p := base()
		c := timing(t, "30 2 * * *", zone, cron.GapFireAfter, cron.RepeatFirst)
		p.Timing, p.Now = c, time.Date(2026, 3, 7, 0, 0, 0, 0, zone)
		p.Last, p.Policy.CatchUp = p.Now, 100*24*time.Hour
		p.Next, _ = c.Next(p.Now)
		records, fired := "", 0
		for end := p.Now.AddDate(0, 0, 5); p.Now.Before(end); {
			p.Now = p.Now.Add(step)
			d := cron.Decide(p)
			for _, s := range d.Slots {
				if s.Clock {
					records += s.Reason + letters[s.Outcome]
				} else if s.At.Before(end) {
					fired++
				}
			}
			p.Last, p.Next = d.Last, d.Next
		}
		if records != "2026-03-08T02:30m" || fired != 5 {
			t.Errorf("step %s: records %q, %d fired", step, records, fired)
		}
	}
}
