package pulse

import (
	"crypto/sha256"
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

// AttemptToken draws the token of one attempt from the secret of the transaction that starts it. The database computes
// the same (UpdateOpenTasksStarted), so one statement starts tasks of many claims and no two attempts share a token.
func AttemptToken(secret, task engine.ID) engine.ID {
	sum := sha256.Sum256(append(secret[:], task[:]...))
	return engine.ID(sum[:16])
}
