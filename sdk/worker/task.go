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
}

// Progress remembers how far the handler is. It is not sent while the handler runs; if the outcome is UNKNOWN or the
// attempt fails, it is in the failure's details, where a reviewer sees what had been done. value is any JSON, small:
// what is over 8 KiB or no JSON is dropped.
func (t *Task) Progress(value any) {
	raw, err := orbit.JSON(value)
	if err != nil || len(raw) > progressMax {
		return
	}
	t.progress.Store(&raw)
}

// progressMax leaves room in the 16 KiB of a failure's details.
const progressMax = 8 << 10

func (t *Task) progressed() json.RawMessage {
	if p := t.progress.Load(); p != nil {
		return *p
	}
	return nil
}
