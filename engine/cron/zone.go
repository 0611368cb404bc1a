package cron

import "time"

// period is a stretch of time in which a zone's offset stays the same. A zero start or end is open.
type period struct {
	start, end time.Time
	offset     time.Duration
}

func periodAt(zone *time.Location, t time.Time) period {
	local := t.In(zone)
	start, end := local.ZoneBounds()
	_, seconds := local.Zone()
	return period{start.UTC(), end.UTC(), time.Duration(seconds) * time.Second}
}

func (p period) holds(t time.Time) bool {
	return (p.start.IsZero() || !t.Before(p.start)) && (p.end.IsZero() || t.Before(p.end))
}

// wall writes the wall-clock time of an instant as if it were UTC.
func (p period) wall(t time.Time) time.Time { return t.UTC().Add(p.offset) }

// instant is when the period's clock shows wall.
func (p period) instant(wall time.Time) time.Time { return wall.Add(-p.offset) }

// around lists the periods that may show a wall-clock time: offsets are within a day of UTC.
func around(zone *time.Location, wall time.Time) []period {
	var out []period
	last := wall.Add(26 * time.Hour)
	for t := wall.Add(-26 * time.Hour); ; {
		p := periodAt(zone, t)
		out = append(out, p)
		if p.end.IsZero() || p.end.After(last) {
			return out
		}
		t = p.end
	}
}

// instants are the instants at which a zone's clock shows wall, in order. For a wall-clock time inside a gap there are
// none, and then gapEnd is the first instant behind it and before the offset in force until then.
func instants(zone *time.Location, wall time.Time) (at []time.Time, gapEnd time.Time, before time.Duration) {
	periods := around(zone, wall)
	for i, p := range periods {
		if t := p.instant(wall); p.holds(t) {
			at = append(at, t)
		} else if i+1 < len(periods) && !t.Before(p.end) && periods[i+1].instant(wall).Before(p.end) {
			gapEnd, before = p.end, p.offset
		}
	}
	return at, gapEnd, before
}
