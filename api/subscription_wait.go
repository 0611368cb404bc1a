package api

import (
	"context"
	"sync"
	"time"

	"github.com/orbitrun/orbit/gen/db"
)

const (
	// streamProbe is how often the head of a namespace's stream is read while somebody waits: four plain reads of one row
	// per second and namespace, however many wait.
	streamProbe = 250 * time.Millisecond
	// pullAgain bounds a wait without a hint: what another node's consumers give back is seen after this at the latest.
	pullAgain = time.Second
	// pullSpacing keeps a stream of commits from becoming a stream of looks.
	pullSpacing = 5 * time.Millisecond
)

// streamHints wakes waiting pulls. A hint is never an answer: who is woken looks at the rows.
type streamHints struct {
	head   func(context.Context, uint64) (uint64, error)
	mu     sync.Mutex
	topics map[uint64]*streamTopic
}

// streamTopic is one namespace while somebody waits there.
type streamTopic struct {
	changed chan struct{} // closed and replaced at every hint
	waiting int
	stop    context.CancelFunc
}

func newStreamHints(head func(context.Context, uint64) (uint64, error)) *streamHints {
	return &streamHints{head: head, topics: map[uint64]*streamTopic{}}
}

// StreamAdvanced tells waiting pulls of this node that results were committed in a namespace. Calling it is optional:
// a probe sees the same within a quarter of a second.
func (s *Server) StreamAdvanced(namespace uint64) { s.stream.Advanced(namespace) }

func (s *Server) streamHead(ctx context.Context, namespace uint64) (uint64, error) {
	head, err := db.New(s.Reader).GetStreamHead(ctx, namespace)
	return head.NextSeq, err
}

// Advanced wakes everybody who waits in a namespace.
func (h *streamHints) Advanced(namespace uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[namespace]; t != nil {
		close(t.changed)
		t.changed = make(chan struct{})
	}
}

// enter begins a wait; the first of a namespace starts its probe and the last ends it.
func (h *streamHints) enter(namespace uint64) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[namespace]
	if t == nil {
		ctx, stop := context.WithCancel(context.Background())
		t = &streamTopic{changed: make(chan struct{}), stop: stop}
		h.topics[namespace] = t
		go h.probe(ctx, namespace)
	}
	t.waiting++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if t.waiting--; t.waiting == 0 {
			t.stop()
			delete(h.topics, namespace)
		}
	}
}

// next is closed by the next hint; take it before looking.
func (h *streamHints) next(namespace uint64) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.topics[namespace].changed
}

func (h *streamHints) probe(ctx context.Context, namespace uint64) {
	tick := time.NewTicker(streamProbe)
	defer tick.Stop()
	var seen uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if head, err := h.head(ctx, namespace); err == nil && head != seen {
			seen = head
			h.Advanced(namespace)
		}
	}
}

// wait returns after a hint, at a time when something becomes due, or when it is worth looking again; false when ctx
// or the deadline ended it.
func waitStream(ctx context.Context, changed <-chan struct{}, due, deadline time.Duration) bool {
	if deadline <= 0 {
		return false
	}
	timer := time.NewTimer(min(due, deadline))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-changed:
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pullSpacing):
		}
	}
	return true
}
