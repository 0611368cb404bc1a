package worker

import (
	"encoding/json"
	"sync/atomic"

	orbit "github.com/orbitrun/orbit/sdk"
)

// Task is one attempt, as its handler sees it. TaskID is the same for every attempt: it is what an outside system needs
// to recognise a repetition.
type Task struct {
	orbit.ClaimedTask
	progress atomic.Pointer[json.RawMessage]
	unsent   atomic.Pointer[orbit.Progress]
}

// Progress tells how far the handler is. It goes with the next renewal of the lease, at most once a second, and is shown
// with the task; if the outcome is UNKNOWN or the attempt fails, it is in the failure's details, where a reviewer sees
// what had been done. value is any JSON, small: what is over 8 KiB or no JSON is dropped, what is over 4 KiB is only
// kept for the failure.
func (t *Task) Progress(value any) {
	raw, err := orbit.JSON(value)
	if err != nil || len(raw) > progressMax {
		return
	}
	t.progress.Store(&raw)
	if len(raw) <= detailMax {
		t.unsent.Store(&orbit.Progress{Detail: raw})
	}
}

// ProgressPercent tells how much is done, 0 to 100, and a sentence for people, the way Progress does. A message over
// 1024 bytes is cut.
func (t *Task) ProgressPercent(percent int, message string) {
	percent = min(max(percent, 0), 100)
	if raw, err := orbit.JSON(map[string]any{"percent": percent, "message": cut(message, tellMax)}); err == nil {
		t.progress.Store(&raw)
	}
	t.unsent.Store(&orbit.Progress{Percent: &percent, Message: cut(message, tellMax)})
}

const (
	progressMax = 8 << 10 // leaves room in the 16 KiB of a failure's details
	detailMax   = 4 << 10
	tellMax     = 1024
)

func (t *Task) progressed() json.RawMessage {
	if p := t.progress.Load(); p != nil {
		return *p
	}
	return nil
}
