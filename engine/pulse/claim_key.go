package pulse

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/orbitrun/orbit/engine"
)

// A claim whose answer is lost has started attempts that nobody runs: without more they wait for their leases, and then
// for a person or a repeat declared safe. A claim with a key can be asked again: it is given the same attempts, as far
// as they still run under the same numbers, and starts nothing.

// startedItem is a task id and the attempt number that a claim started.
const startedItem = len(engine.ID{}) + 2

func (c *Claim) receiptKey() ReceiptKey { return ReceiptKey{c.Application, ReceiptClaim, c.Key} }

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
	if c.Key == "" {
		return ClaimOutcome{}, false
	}
	r, ok := p.known(c.receiptKey())
	if !ok {
		return ClaimOutcome{}, false
	}
	if r.Digest != c.Digest() {
		return ClaimOutcome{Refusal: engine.Refuse("idempotency_conflict", "this claim key was used for another claim; use a new key")}, true
	}
	out := ClaimOutcome{Replayed: true}
	for _, s := range startedIn(r.Body) {
		w := p.task(s.Task)
		if w != nil && !w.gone && w.now.State == Running && w.now.AttemptNo == s.No && w.now.Application == c.Application {
			p.regrant(w, c)
			out.Started = append(out.Started, Started{w.now})
		}
	}
	return out, true
}

// regrant hands a running attempt out again under a new token. Whoever held the old one is fenced out: the node that
// could not deliver the first answer gives those attempts back, and that must not end what is now being run.
func (p *planner) regrant(w *work, c *Claim) {
	w.now.Token, w.now.Worker = AttemptToken(p.b.Secret, w.now.ID), c.Worker
	if until := earlier(p.s.Now.Add(c.Lease), w.now.AttemptDeadline()); until.After(w.now.LeaseUntil) {
		w.now.LeaseUntil = until
	}
}

// remember writes down what a claim with a key has started.
func (p *planner) remember(c *Claim, started []Started) {
	if c.Key == "" || len(started) == 0 {
		return
	}
	body := make([]byte, 0, startedItem*len(started))
	for i := range started {
		body = append(body, started[i].Task.ID[:]...)
		body = binary.BigEndian.AppendUint16(body, started[i].Task.AttemptNo)
	}
	p.writeReceipt(c.receiptKey(), Receipt{c.Digest(), started[0].Task.ID, body})
}

// startedIn reads what a claim has started.
func startedIn(body []byte) []AttemptKey {
	var out []AttemptKey
	for ; len(body) >= startedItem; body = body[startedItem:] {
		out = append(out, AttemptKey{engine.ID(body[:16]), binary.BigEndian.Uint16(body[16:startedItem])})
	}
	return out
}

// ClaimedBefore lists the tasks that repeated claims of a batch had started, for the locks of its transaction.
func (b *Batch) ClaimedBefore(receipts map[ReceiptKey]Receipt) []engine.ID {
	var ids []engine.ID
	for i := range b.Claims {
		if r, ok := receipts[b.Claims[i].receiptKey()]; ok && b.Claims[i].Key != "" {
			for _, s := range startedIn(r.Body) {
				ids = append(ids, s.Task)
			}
		}
	}
	return ids
}
