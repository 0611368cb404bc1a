package retention_test

import (
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/retention"
)

const hour, day = time.Hour, 24 * time.Hour

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		s    retention.Settings
		want string
	}{
		{retention.Settings{}, ""},
		{retention.Settings{Tasks: hour, Stream: hour, Receipts: 2 * day, Audit: day}, ""},
		{retention.Settings{Stream: hour}, ""},
		{retention.Settings{Tasks: day}, "/stream_ms"},
		{retention.Settings{Stream: hour - 1}, "/stream_ms"},
		{retention.Settings{Stream: hour, Tasks: 1}, "/tasks_ms"},
		{retention.Settings{Receipts: day}, "/receipts_ms"},
		{retention.Settings{Audit: hour}, "/audit_ms"},
		{retention.Settings{Audit: retention.Max + 1}, "/audit_ms"},
		{retention.Settings{Audit: -day}, "/audit_ms"},
	} {
		got := ""
		if refusal := c.s.Check(); refusal != nil {
			got = refusal.Field
		}
		if got != c.want {
			t.Errorf("%+v: refused at %q, want %q", c.s, got, c.want)
		}
	}
}

// The floor keeps what the slowest subscription reads next and the link before it.
func TestFloorAndCut(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	entries := []retention.Entry{{Seq: 5, At: at}, {Seq: 6, At: at.Add(hour)}, {Seq: 7, At: at}, {Seq: 8, At: at.Add(3 * hour)}}
	for _, c := range []struct {
		head   uint64
		wanted []uint64
		before time.Time
		floor  uint64
		cut    int
	}{
		{9, nil, at.Add(day), 8, 3},
		{9, []uint64{9, 7}, at.Add(day), 6, 1},
		{9, []uint64{5}, at.Add(day), 4, 0},
		{9, nil, at.Add(hour), 8, 1}, // the third is older than the second, but nothing goes out of order
		{1, nil, at.Add(day), 1, 0},
		{9, []uint64{1}, at.Add(day), 1, 0},
	} {
		floor := retention.Floor(c.head, c.wanted)
		if cut := retention.Cut(entries, floor, c.before); floor != c.floor || cut != c.cut {
			t.Errorf("%+v: floor %d, cut %d", c, floor, cut)
		}
	}
}

func TestNeeded(t *testing.T) {
	if (retention.Task{}).Needed() || !(retention.Task{InstanceOpen: true}).Needed() || !(retention.Task{SuccessorKept: true}).Needed() {
		t.Error("a task is needed by its open instance and by its successor, and by nothing else")
	}
}
