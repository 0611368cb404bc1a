package stream

import (
	"context"
	"sync"

	orbit "github.com/orbitrun/orbit/sdk"
)

// acker acknowledges beside the handler: while one acknowledgement is under way the next ones gather, and none waits for
// company. It belongs to one consumer.
type acker struct {
	via carrier

	mu      sync.Mutex
	queue   []orbit.Delivery
	busy    chan struct{} // closed when the goroutine at work ends; nil when there is none
	failure error
	late    bool // the server no longer knew one of them
}

// ackMax is the most one request acknowledges.
const ackMax = 256

// add acknowledges a result soon.
func (a *acker) add(ctx context.Context, d orbit.Delivery) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, d)
	if a.busy == nil {
		a.busy = make(chan struct{})
		go a.work(context.WithoutCancel(ctx), a.busy)
	}
}

func (a *acker) work(ctx context.Context, busy chan struct{}) {
	defer close(busy)
	for {
		a.mu.Lock()
		n := min(len(a.queue), ackMax)
		if n == 0 || a.failure != nil {
			a.busy, a.queue = nil, nil
			a.mu.Unlock()
			return
		}
		some := a.queue[:n:n]
		a.queue = a.queue[n:]
		a.mu.Unlock()
		outcomes, err := a.via.ack(ctx, some)
		a.mu.Lock()
		a.failure = err
		for _, o := range outcomes {
			a.late = a.late || o.Outcome != orbit.DeliveryAcknowledged
		}
		a.mu.Unlock()
	}
}

// trouble is what went wrong since it was asked last.
func (a *acker) trouble() (late bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	late, err = a.late, a.failure
	a.late, a.failure = false, nil
	return late, err
}

// flush waits until everything added is answered, or ctx ends.
func (a *acker) flush(ctx context.Context) {
	for {
		a.mu.Lock()
		busy := a.busy
		a.mu.Unlock()
		if busy == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-busy:
		}
	}
}
