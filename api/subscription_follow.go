package api

import (
	"context"
	"sync"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
)

// followers knows which socket of this node follows for which consumer, so that a consumer who comes back finds no
// forerunner of its own. A peer that vanished without a word is found by a ping after a while; until then its socket would
// be handed results in the name of the one who came back. On other nodes the ping alone has to do.
type followers struct {
	mu   sync.Mutex
	ends map[follower]*context.CancelCauseFunc
}

type follower struct {
	namespace, application uint64
	subscription, consumer string
}

// take makes end the way to end the follower; the one before is ended.
func (f *followers) take(who follower, end context.CancelCauseFunc) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if before := f.ends[who]; before != nil {
		(*before)(problem.New("consumer_replaced", "another socket follows under this consumer's name"))
	}
	if f.ends == nil {
		f.ends = map[follower]*context.CancelCauseFunc{}
	}
	f.ends[who] = &end
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.ends[who] == &end {
			delete(f.ends, who)
		}
	}
}

// replace ends the socket that followed for this consumer before.
func (k *socket) replace(ctx context.Context, consumer string, end context.CancelCauseFunc) (leave func()) {
	c := auth.CallerOf(ctx)
	return k.followers.take(follower{c.Namespace, c.Application, k.name, consumer}, end)
}
