package pulse

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/orbitrun/orbit/engine"
)

// LeaseToken is what a worker holds while it runs a task: a random secret that fences its reports, and the queue, so
// that a report's locks are known before any row is read. A forged queue matches no attempt.
type LeaseToken struct {
	Queue  uint64
	Secret engine.ID
}

// Text is the opaque spelling given to workers.
func (t LeaseToken) Text() string {
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, t.Queue), t.Secret[:]...))
}

// ParseLeaseToken reads what Text wrote.
func ParseLeaseToken(text string) (LeaseToken, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 24 {
		return LeaseToken{}, false
	}
	return LeaseToken{binary.BigEndian.Uint64(b), engine.ID(b[8:])}, true
}
