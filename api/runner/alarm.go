package runner

import (
	"container/heap"
	"sync"
	"time"
)

// alarmsMax bounds what a node remembers of one namespace; a tick finds what it forgets.
const alarmsMax = 4096

// alarm remembers when namespaces become due. It is a hint: forgetting it costs a tick.
type alarm struct {
	mu   sync.Mutex
	at   map[uint64]*times
	ring chan struct{}
	late time.Duration // how long after its time an alarm rings
}

// times is a heap, the earliest first.
type times []time.Time

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i].Before(t[j]) }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(v any)        { *t = append(*t, v.(time.Time)) }
func (t *times) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func newAlarm(late time.Duration) *alarm {
	return &alarm{at: map[uint64]*times{}, ring: make(chan struct{}, 1), late: late}
}

// set remembers a time. Only one that is earlier than all others changes when the alarm rings next.
func (a *alarm) set(namespace uint64, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.at[namespace]
	if known == nil {
		known = &times{}
		a.at[namespace] = known
	}
	first := known.Len() == 0 || at.Before((*known)[0])
	if !first && (known.Len() >= alarmsMax || at.Equal((*known)[0])) {
		return
	}
	heap.Push(known, at)
	if !first {
		return
	}
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
	for _, t := range a.at {
		if t.Len() > 0 {
			first = min(first, time.Until((*t)[0].Add(a.late-offset)))
		}
	}
	return time.After(max(first, 0))
}

// due takes the namespaces whose time has come, and all their times up to now.
func (a *alarm) due(now time.Time) []uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []uint64
	for ns, t := range a.at {
		rings := false
		for t.Len() > 0 && !(*t)[0].Add(a.late).After(now) {
			heap.Pop(t)
			rings = true
		}
		if rings {
			out = append(out, ns)
		}
		if t.Len() == 0 {
			delete(a.at, ns)
		}
	}
	return out
}
