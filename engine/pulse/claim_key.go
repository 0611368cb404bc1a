package pulse

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/orbitrun/orbit/engine"
)

// A claim whose answer is lost has started attempts that nobody runs: without more they wait for their leases, and then
// for a person or a repeat declared safe. A claim with a key can be asked again: it is given the same attempts, as far
// as they still run under the same numbers, and starts nothing.
//
// Questions overtake each other: the first may stand in a node that has lost its database when the second is answered by
// another. So they are numbered, and a question gets attempts only if no newer one has been answered. Every answer gives
// new tokens: the node that could not deliver an older answer gives those attempts back, and must not give back what is
// being run.

// ClaimKey identifies a claim that can be asked again.
type ClaimKey struct {
	Application uint64
	Key         string
}

// ClaimRecord is what a claim with a key has started.
type ClaimRecord struct {
	Digest  [32]byte
	Asked   uint32 // the newest question that was answered; 0 is the first
	Started []AttemptKey
}

// ClaimRecordWrite inserts or, with Known, updates the record of a claim.
type ClaimRecordWrite struct {
	Key    ClaimKey
	Record ClaimRecord
	Known  bool
}

// RecordKey is the claim's key; false when it has none.
func (c *Claim) RecordKey() (ClaimKey, bool) { return ClaimKey{c.Application, c.Key}, c.Key != "" }

// Digest identifies the content of a claim; how long it waits and leases does not count.
func (c *Claim) Digest() [32]byte {
	h := sha256.New()
	field(h, "worker", c.Worker)
	field(h, "handlers", HandlersKey(c.Handlers))
	field(h, "queues", HandlersKey(c.Queues))
	number(h, "tasks", int64(c.Tasks))
	return [32]byte(h.Sum(nil))
}

// repeated answers a claim whose key is known; false when it is not.
func (p *planner) repeated(c *Claim) (ClaimOutcome, bool) {
	key, keyed := c.RecordKey()
	if !keyed {
		return ClaimOutcome{}, false
	}
	if p.handed[key] {
		// One plan draws one token for an attempt: it cannot go out twice.
		return ClaimOutcome{Refusal: engine.Refuse("busy", "this claim is being answered to somebody else; ask again")}, true
	}
	r, known := p.s.ClaimRecords[key]
	switch {
	case !known:
		return ClaimOutcome{}, false
	case r.Digest != c.Digest():
		return ClaimOutcome{Refusal: engine.Refuse("idempotency_conflict", "this claim key was used for another claim; use a new key")}, true
	case c.Question <= r.Asked:
		return ClaimOutcome{Replayed: true}, true
	}
	p.handed[key], r.Asked = true, c.Question
	p.ch.ClaimRecords = append(p.ch.ClaimRecords, ClaimRecordWrite{key, r, true})
	return ClaimOutcome{Replayed: true, Started: p.regrant(c, r.Started)}, true
}

// regrant hands the attempts that still run out again, under new tokens.
func (p *planner) regrant(c *Claim, before []AttemptKey) []Started {
	var out []Started
	for _, s := range before {
		w := p.task(s.Task)
		if w == nil || w.gone || w.now.State != Running || w.now.AttemptNo != s.No || w.now.Application != c.Application {
			continue
		}
		w.now.Token, w.now.Worker = AttemptToken(p.b.Secret, w.now.ID), c.Worker
		p.extend(w, c.Lease)
		out = append(out, Started{w.now})
	}
	return out
}

// remember writes down what a claim with a key has started.
func (p *planner) remember(c *Claim, started []Started) {
	key, keyed := c.RecordKey()
	if !keyed || len(started) == 0 {
		return
	}
	r := ClaimRecord{Digest: c.Digest(), Asked: c.Question}
	for i := range started {
		r.Started = append(r.Started, AttemptKey{started[i].Task.ID, started[i].Task.AttemptNo})
	}
	p.handed[key] = true
	p.ch.ClaimRecords = append(p.ch.ClaimRecords, ClaimRecordWrite{Key: key, Record: r})
}

// startedBytes is the size of one item of StartedText.
const startedBytes = len(engine.ID{}) + 2

// StartedText is how the row of a claim spells what it started.
func StartedText(started []AttemptKey) []byte {
	text := make([]byte, 0, startedBytes*len(started))
	for _, s := range started {
		text = binary.BigEndian.AppendUint16(append(text, s.Task[:]...), s.No)
	}
	return text
}

// ParseStarted reads what StartedText wrote.
func ParseStarted(text []byte) []AttemptKey {
	var out []AttemptKey
	for ; len(text) >= startedBytes; text = text[startedBytes:] {
		out = append(out, AttemptKey{engine.ID(text[:len(engine.ID{})]), binary.BigEndian.Uint16(text[len(engine.ID{}):startedBytes])})
	}
	return out
}
