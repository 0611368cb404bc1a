package worker

import (
	"errors"
	"math/rand/v2"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// backoff is a pause that grows while something keeps failing.
type backoff struct {
	tries int
	until time.Time
}

const (
	pauseFirst = 50 * time.Millisecond
	pauseMax   = 5 * time.Second
)

// failed lengthens the pause; a server that asks for more gets it.
func (b *backoff) failed(err error) {
	most := min(pauseFirst<<min(b.tries, 10), pauseMax)
	wait := most/2 + rand.N(most/2+1)
	if refusal, ok := errors.AsType[*orbit.Error](err); ok {
		wait = max(wait, refusal.RetryAfter)
	}
	b.tries, b.until = b.tries+1, time.Now().Add(wait)
}

func (b *backoff) succeeded() { *b = backoff{} }

// average is an exponentially weighted mean; 0 before the first value.
type average struct{ value time.Duration }

func (a *average) add(d time.Duration) {
	d = max(d, 1)
	if a.value == 0 {
		a.value = d
		return
	}
	a.value += (d - a.value) / 8
	a.value = max(a.value, 1)
}
