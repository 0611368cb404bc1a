package cron

import (
	"slices"
	"time"
)

// Gap says what a wall-clock time that does not exist becomes. The numbers are those of schedule_version.dst_gap.
type Gap uint8

// Repeat says when a wall-clock time that exists twice is a slot. The numbers are those of schedule_version.dst_repeat.
type Repeat uint8

// The declarations; see the package comment.
const (
	GapSkip      Gap    = 1
	GapFireAfter Gap    = 2
	RepeatFirst  Repeat = 1
	RepeatBoth   Repeat = 2
)

// Timing says which instants are slots.
type Timing interface {
	// Next is the first slot strictly after t. ok is false when there is none within eight years.
	Next(t time.Time) (slot time.Time, ok bool)
	// Silent lists what the declarations took away or moved in [from, until), in order. Almost always nothing.
	Silent(from, until time.Time) []Silence
}

// Silence is a wall-clock time that did not become a slot of its own.
type Silence struct {
	At     time.Time // the instant: of the second occurrence, or where it would stand had the clock not jumped
	Local  string    // the wall-clock time, YYYY-MM-DDTHH:MM
	Into   time.Time // the slot it was moved into; zero: none
	Repeat bool      // a second occurrence; otherwise a time that does not exist
}

// Cron is an expression in a time zone.
type Cron struct {
	Expression Expression
	Zone       *time.Location
	Gap        Gap
	Repeat     Repeat
}

// settled is how long after a transition no wall-clock time of before can come again: no clock was ever moved by more
// than a day.
const settled = 25 * time.Hour

// Next walks the fields while the offset stays the same, and looks at every wall-clock time near a transition.
func (c Cron) Next(t time.Time) (time.Time, bool) {
	for range 2 * horizonDays { // a year has few transitions; the bound only ends what cannot be
		p := periodAt(c.Zone, t)
		if !p.start.IsZero() && t.Before(p.start.Add(settled)) {
			return c.careful(t)
		}
		wall, ok := c.Expression.nextWall(p.wall(t))
		if !ok {
			return time.Time{}, false
		}
		if next := p.instant(wall); p.holds(next) {
			return next, true
		}
		next, ok, decided := c.across(t, p)
		if decided {
			return next, ok
		}
		t = next
	}
	return time.Time{}, false
}

// across looks at the days around the end of a period. With nothing there it gives a time to go on from.
func (c Cron) across(t time.Time, p period) (next time.Time, ok, decided bool) {
	until := p.end.Add(settled)
	if slot, found := c.first(t, dateOf(p.wall(p.end)).AddDate(0, 0, -2), dateOf(p.wall(until)).AddDate(0, 0, 2)); found && slot.Before(until) {
		return slot, true, true
	}
	return until.Add(-time.Nanosecond), true, false
}

// careful is Next for a time shortly behind a transition.
func (c Cron) careful(t time.Time) (time.Time, bool) {
	day := dateOf(periodAt(c.Zone, t).wall(t)).AddDate(0, 0, -2)
	if slot, found := c.first(t, day, day.AddDate(0, 0, 6)); found && slot.Before(t.Add(3*24*time.Hour)) {
		return slot, true
	}
	return c.Next(t.Add(3*24*time.Hour - time.Nanosecond))
}

// first is the first slot strictly after t among the wall-clock times of days [from, until).
func (c Cron) first(t, from, until time.Time) (best time.Time, found bool) {
	for day := from; day.Before(until); day = day.AddDate(0, 0, 1) {
		if !c.Expression.onDate(day) {
			continue
		}
		for h := c.Expression.hour.from(0); h >= 0; h = c.Expression.hour.from(h + 1) {
			for m := c.Expression.minute.from(0); m >= 0; m = c.Expression.minute.from(m + 1) {
				for _, slot := range c.slots(day.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)) {
					if slot.After(t) && (!found || slot.Before(best)) {
						best, found = slot, true
					}
				}
			}
		}
	}
	return best, found
}

// slots are what one wall-clock time becomes.
func (c Cron) slots(wall time.Time) []time.Time {
	at, gapEnd, _ := instants(c.Zone, wall)
	switch {
	case len(at) == 0 && c.Gap == GapFireAfter && !gapEnd.IsZero():
		return []time.Time{gapEnd}
	case len(at) > 1 && c.Repeat == RepeatFirst:
		return at[:1]
	}
	return at
}

// Silent walks the transitions whose gap or repeat may reach into [from, until).
func (c Cron) Silent(from, until time.Time) []Silence {
	var out []Silence
	for p := periodAt(c.Zone, from.Add(-settled)); !p.end.IsZero() && p.end.Before(until); {
		next := periodAt(c.Zone, p.end)
		out = append(out, c.around(p, next)...)
		p = next
	}
	out = slices.DeleteFunc(out, func(s Silence) bool { return s.At.Before(from) || !s.At.Before(until) })
	slices.SortStableFunc(out, func(a, b Silence) int { return a.At.Compare(b.At) })
	return out
}

// around lists the silences of one transition.
func (c Cron) around(p, next period) []Silence {
	var out []Silence
	low, high, repeat := p.wall(p.end), next.wall(p.end), next.offset < p.offset
	if repeat {
		low, high = high, low
	}
	if repeat && c.Repeat == RepeatBoth {
		return nil
	}
	for wall := low.Add(time.Minute - time.Nanosecond).Truncate(time.Minute); wall.Before(high); wall = wall.Add(time.Minute) {
		if !c.Expression.matches(wall) {
			continue
		}
		s := Silence{At: p.instant(wall), Local: wall.Format("2006-01-02T15:04"), Repeat: repeat}
		if repeat {
			s.At = next.instant(wall)
		} else if c.Gap == GapFireAfter {
			s.Into = p.end
		}
		out = append(out, s)
	}
	return out
}

// Interval is a slot every so long, counted from an anchor: the same instants on every node and in every version.
type Interval struct {
	Every  time.Duration // at least IntervalMin
	Anchor time.Time     // also the first slot
}

// IntervalMin and IntervalMax bound an interval.
const (
	IntervalMin = time.Second
	IntervalMax = 366 * 24 * time.Hour
)

// Next is the first multiple of Every from the anchor on that lies after t.
func (i Interval) Next(t time.Time) (time.Time, bool) {
	if t.Before(i.Anchor) {
		return i.Anchor, true
	}
	// Microseconds: the whole range of a DATETIME, about 8000 years, does not fit into a Duration.
	every := i.Every.Microseconds()
	n := (t.UnixMicro() - i.Anchor.UnixMicro()) / every
	return time.UnixMicro(i.Anchor.UnixMicro() + (n+1)*every).UTC(), true
}

// Silent is empty: an interval knows no wall clock.
func (i Interval) Silent(time.Time, time.Time) []Silence { return nil }

// Slots lists the slots of [from, until), at most limit.
func Slots(t Timing, from, until time.Time, limit int) []time.Time {
	var out []time.Time
	for slot, ok := t.Next(from.Add(-time.Nanosecond)); ok && slot.Before(until) && len(out) < limit; slot, ok = t.Next(slot) {
		out = append(out, slot)
	}
	return out
}
