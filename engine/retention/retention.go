// Package retention decides what is no longer needed. It is pure: who deletes asks it, page by page.
//
// What has ended passes three gates in order. A result leaves the stream when it is old enough and every subscription
// has it behind itself. Only then its task may go, when it is old enough in turn and neither an open instance nor a
// repetition of it points at it. Receipts and audit go by age, unless their subject is still open (pulse.md Retention).
package retention

import (
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Settings say how long each kind is kept. Zero keeps it for ever.
type Settings struct{ Tasks, Stream, Receipts, Audit time.Duration }

// Bounds of the settings. A receipt is what keeps a repeated request from becoming a second task, so it outlives every
// client that may still repeat (the outbox repeats for 24 hours).
const (
	ResultsMin  = time.Hour
	ReceiptsMin = 48 * time.Hour
	AuditMin    = 24 * time.Hour
	Max         = 100 * 365 * 24 * time.Hour
)

// Check refuses settings that cannot be meant. Field names are those of the API.
func (s Settings) Check() *engine.Refusal {
	for _, f := range []struct {
		name     string
		kept     time.Duration
		shortest time.Duration
	}{{"tasks_ms", s.Tasks, ResultsMin}, {"stream_ms", s.Stream, ResultsMin}, {"receipts_ms", s.Receipts, ReceiptsMin}, {"audit_ms", s.Audit, AuditMin}} {
		if f.kept != 0 && (f.kept < f.shortest || f.kept > Max) {
			return engine.Refuse("retention_invalid", fmt.Sprintf("%s is 0, which keeps for ever, or %d to %d", f.name, f.shortest.Milliseconds(), Max.Milliseconds())).At("/" + f.name)
		}
	}
	if s.Tasks != 0 && s.Stream == 0 {
		return engine.Refuse("retention_invalid", "a task is kept as long as its result is in the stream; give stream_ms as well").At("/stream_ms")
	}
	return nil
}

// Entry is a result in the stream.
type Entry struct {
	Seq   uint64
	At    time.Time
	Final bool // the task has ended with it; else it waits for a person
}

// Floor is the smallest number that must stay: what somebody may still ask for, and the entry before it, whose link
// proves that nothing is missing. head is the number the next result will get.
func Floor(head uint64, wanted []uint64) uint64 {
	floor := head
	for _, seq := range wanted {
		floor = min(floor, seq)
	}
	return max(floor, 2) - 1
}

// Cut is how many of the oldest entries may go: those below the floor and before the bound, up to the first that may not.
func Cut(entries []Entry, floor uint64, before time.Time) int {
	for i := range entries {
		if entries[i].Seq >= floor || !entries[i].At.Before(before) {
			return i
		}
	}
	return len(entries)
}

// Task is an ended task whose result has left the stream and whose time is over.
type Task struct {
	InstanceOpen  bool // the workflow it belongs to has not ended
	SuccessorKept bool // a manual retry points at it as its source
}

// Needed reports whether the task has to wait.
func (t Task) Needed() bool { return t.InstanceOpen || t.SuccessorKept }
