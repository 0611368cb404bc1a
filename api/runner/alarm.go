package runner

import (
	"sync"
	"time"
)

// alarm remembers the next time each namespace becomes due. It is a hint: forgetting it costs a tick.
type alarm struct {
	mu   sync.Mutex
	at   map[uint64]time.Time
	ring chan struct{}
	late time.Duration // how long after its time an alarm rings
}

func newAlarm(late time.Duration) *alarm {
	return &alarm{at: map[uint64]time.Time{}, ring: make(chan struct{}, 1), late: late}
}

// set keeps the earlier of what is known and what is new. A time before the next tick is what the alarm is for; the
// tick finds everything later.
func (a *alarm) set(namespace uint64, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.at[namespace]; ok && !at.Before(known) {
		return
	}
	a.at[namespace] = at
	select {
	case a.ring <- struct{}{}:
	default:
	}
}

// after fires when the first alarm is due, or at once when a new one may have come before it.
func (a *alarm) after(offset time.Duration) <-chan time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := time.Hour
	for _, at := range a.at {
		first = min(first, time.Until(at.Add(a.late-offset)))
	}
	return time.After(max(first, 0))
}

// due takes the namespaces whose time has come.
func (a *alarm) due(now time.Time) []uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []uint64
	for ns, at := range a.at {
		if !at.Add(a.late).After(now) {
			out = append(out, ns)
			delete(a.at, ns)
		}
	}
	return out
}
