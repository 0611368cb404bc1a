package stream

import (
	"strings"
	"testing"
	"time"
)

// The table, written once more as a person reads it: a row per state, a column per event.
const wanted = `
          ack     ack older   nack      nack spent  nack older  release  offer     offer spent  redeliver
HELD      settle  superseded  postpone  bury        superseded  return   pass      pass         not dead
EXPIRED   settle  superseded  postpone  bury        superseded  return   hand out  bury         not dead
DELAYED   settle  superseded  same      same        superseded  same     pass      pass         not dead
READY     settle  superseded  same      same        superseded  same     hand out  bury         not dead
DEAD      settle  superseded  same      same        superseded  same     none      none         revive
SETTLED   same    same        gone      gone        gone        gone     none      none         not dead`

func TestEveryCell(t *testing.T) {
	lines := strings.Split(strings.TrimPrefix(wanted, "\n"), "\n")
	cells := func(line string) []string {
		var out []string
		for part := range strings.SplitSeq(line, "  ") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		return out
	}
	events := cells(lines[0])
	if len(events) != int(eventsEnd) || len(lines) != int(statesEnd)+1 {
		t.Fatalf("%d events and %d states in the text", len(events), len(lines)-1)
	}
	for s := range statesEnd {
		row := cells(lines[s+1])
		if row[0] != s.String() {
			t.Fatalf("row %s stands where %s should", row[0], s)
		}
		for e := range eventsEnd {
			if got := machine[s][e].String(); events[e] != e.String() || got != row[e+1] {
				t.Errorf("%s × %s: %s, want %s", s, e, got, row[e+1])
			}
		}
	}
}

func TestTheStateFollowsFromTheRow(t *testing.T) {
	now := time.Unix(100, 0)
	for want, d := range map[State]Delivery{
		Held: {Holder: 1, DueAt: now.Add(1)}, Expired: {Holder: 1, DueAt: now}, Delayed: {DueAt: now.Add(1)}, Ready: {DueAt: now}, Dead: {Dead: true},
	} {
		if got := d.StateAt(now); got != want {
			t.Errorf("%+v is %s, want %s", d, got, want)
		}
	}
}
