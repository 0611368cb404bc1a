package pulse

import (
	"fmt"
	"hash"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// SlotKind says what a slot is for. The numbers are those of task_slot.kind.
type SlotKind uint8

// A unique slot keeps others out while its task is open and, beyond its end, for a window. A debounced slot lets the
// newest submission take the place of one that still waits.
const (
	SlotNone     SlotKind = 0
	SlotUnique   SlotKind = 1
	SlotDebounce SlotKind = 2
)

// SlotRule is what a submission asks of the slot of its key, in its queue.
type SlotRule struct {
	Kind      SlotKind
	Key       string // exact bytes
	WindowMS  int64  // unique: taken at least this long after acceptance
	DelayMS   int64  // debounce: how long the newest submission waits for a newer one
	MaxWaitMS int64  // debounce: after the first submission of the round nothing is put off any more
}

// SlotKey identifies a slot.
type SlotKey struct {
	Queue uint64
	Kind  SlotKind
	Key   string
}

// Slot is who holds a slot. Whether its task is still open is the open row's to say.
type Slot struct {
	Task      engine.ID
	FirstAt   time.Time // when the round began
	HeldUntil time.Time
	Receipt   []byte // of Task
}

// SlotWrite gives a slot to a task.
type SlotWrite struct {
	Key  SlotKey
	Slot Slot
}

// SlotKey is the slot a submission asks about; false when it asks for none.
func (s *Submission) SlotKey() (SlotKey, bool) {
	return SlotKey{s.Queue, s.Slot.Kind, s.Slot.Key}, s.Slot.Kind != SlotNone
}

// check refuses what can be judged without a row.
func (r *SlotRule) check(s *Submission) *engine.Refusal {
	name := map[SlotKind]string{SlotUnique: "/unique", SlotDebounce: "/debounce"}[r.Kind]
	window, wait := engine.UniqueWindowMax.Milliseconds(), engine.DebounceWaitMax.Milliseconds()
	switch {
	case r.Kind == SlotNone:
		return nil
	case len(r.Key) < 1 || len(r.Key) > engine.KeyBytesMax:
		return invalid(name+"/key", fmt.Sprintf("key is 1 to %d bytes, here %d", engine.KeyBytesMax, len(r.Key)))
	case r.WindowMS < 0 || r.WindowMS > window:
		return invalid(name+"/window_ms", "window_ms is 0 to 31 days")
	case r.Kind == SlotUnique:
		return nil
	case s.DelayMS != 0:
		return invalid("/delay_ms", "debounce has a delay of its own: leave delay_ms out")
	case r.DelayMS < 1 || r.DelayMS > wait:
		return invalid(name+"/delay_ms", "delay_ms is 1 ms to 7 days")
	case r.MaxWaitMS < r.DelayMS || r.MaxWaitMS > wait:
		return invalid(name+"/max_wait_ms", "max_wait_ms is delay_ms to 7 days")
	case r.DelayMS >= s.DeadlineMS:
		return invalid(name+"/delay_ms", "the deadline covers the delay, so delay_ms must be below deadline_ms")
	}
	return nil
}

func (r *SlotRule) digest(h hash.Hash) {
	number(h, "slot", int64(r.Kind))
	field(h, "slot_key", r.Key)
	number(h, "slot_window_ms", r.WindowMS)
	number(h, "slot_delay_ms", r.DelayMS)
	number(h, "slot_max_wait_ms", r.MaxWaitMS)
}

// slot is who holds the slot at this point of the plan, and its task while that is open.
func (p *planner) slot(s *Submission) (SlotKey, Slot, *work, bool) {
	key, asked := s.SlotKey()
	if !asked {
		return key, Slot{}, nil, false
	}
	held, ok := p.slots[key]
	if !ok {
		held, ok = p.s.Slots[key]
	}
	if !ok {
		return key, Slot{}, nil, false
	}
	w := p.task(held.Task)
	if w != nil && w.gone {
		w = nil
	}
	return key, held, w, true
}

// taken reports the task that keeps a unique submission out: an open one, or one accepted within the window.
func (p *planner) taken(s *Submission) (Slot, bool) {
	_, held, w, ok := p.slot(s)
	return held, ok && s.Slot.Kind == SlotUnique && (w != nil || p.s.Now.Before(held.HeldUntil))
}

// waitingFor finds the task a debounced submission takes the place of: it was never started and its time has not come.
// Once it may start, a newer submission begins a new round beside it.
func (p *planner) waitingFor(s *Submission) (first time.Time, old *work) {
	_, held, w, ok := p.slot(s)
	if !ok || s.Slot.Kind != SlotDebounce || w == nil || w.now.State != Delayed || w.now.AttemptNo != 0 || !p.s.Now.Before(w.now.AvailableAt) {
		return p.s.Now, nil
	}
	return held.FirstAt, w
}

// supersede ends the waiting task in favour of a newer submission. Its input stays what it was: who reads it later sees
// what was asked first, that it never ran, and which task did.
func (p *planner) supersede(w *work, by engine.ID) {
	p.settle(w, verdict{on: OnCancel, kind: EventCancelled, code: "superseded", detail: fmt.Sprintf(`{"code":"superseded","by":%q}`, by.Text("task"))})
}

// startAt is when a submission may start: after its delay, or as the newest of the debounced round that began at first.
func (s *Submission) startAt(first, now time.Time) time.Time {
	if s.Slot.Kind != SlotDebounce {
		return now.Add(time.Duration(s.DelayMS) * time.Millisecond)
	}
	limit := first.Add(time.Duration(s.Slot.MaxWaitMS) * time.Millisecond)
	at := earlier(now.Add(time.Duration(s.Slot.DelayMS)*time.Millisecond), limit)
	if at.Before(now) {
		return now
	}
	return at
}

// occupy gives the slot to the accepted task.
func (p *planner) occupy(s *Submission, t *Task, first time.Time, receipt []byte) {
	key, asked := s.SlotKey()
	if !asked {
		return
	}
	until := t.AvailableAt
	if s.Slot.Kind == SlotUnique {
		until = p.s.Now.Add(time.Duration(s.Slot.WindowMS) * time.Millisecond)
	}
	slot := Slot{t.ID, first, until, receipt}
	p.slots[key] = slot
	p.ch.Slots = append(p.ch.Slots, SlotWrite{key, slot})
}

// deduplicated is the receipt of a submission that was kept out: the holder's, marked.
func deduplicated(receipt []byte) []byte {
	body := append([]byte{}, receipt[:len(receipt)-1]...)
	return append(body, `,"deduplicated":true}`...)
}
