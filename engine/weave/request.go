package weave

import (
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// Request is what a caller asks of one instance that exists. It is judged under the instance's locks, written with a
// frozen receipt, and the instance is planned with it in the same transaction.
type Request interface {
	// By is who asks, and for which application.
	By() (credential, application uint64)
	// Target is the instance.
	Target() engine.ID
	// Scope is the permission it needs; a replay needs it too.
	Scope() string
	// ReceiptKey is where its receipt is kept.
	ReceiptKey() pulse.ReceiptKey
	// Digest identifies its content.
	Digest() [32]byte
	// apply judges the request against the graph as it stands and notes in it what was accepted. A refused one leaves
	// the graph as it was.
	apply(d *decider, g *Graph) (receipt []byte, subject engine.ID, refusal *engine.Refusal)
}

// Answer is the answer to one request.
type Answer struct {
	Receipt  []byte
	Replayed bool
	Refusal  *engine.Refusal
}

// answer replays a known key before anything else is looked at; the permission is judged in any case.
func (d *decider) answer(r Request) Answer {
	credential, application := r.By()
	if refusal := d.w.Callers[credential].Judge(r.Scope(), d.w.Now); refusal != nil {
		return Answer{Refusal: refusal}
	}
	key, digest := r.ReceiptKey(), r.Digest()
	if known, ok := d.known(key); ok {
		if known.Digest != digest {
			return Answer{Refusal: engine.Refuse("idempotency_conflict", "this key was used for another request; use a new key")}
		}
		return Answer{Receipt: known.Body, Replayed: true}
	}
	g := d.graph(r.Target())
	if g == nil || g.Instance.Application != application {
		return Answer{Refusal: engine.Refuse("instance_not_found", "there is no such instance in this application")}
	}
	body, subject, refusal := r.apply(d, g)
	if refusal != nil {
		return Answer{Refusal: refusal}
	}
	if g.AskedBy == "" {
		g.AskedBy = engine.CredentialText(credential)
	}
	d.freeze(key, pulse.Receipt{Digest: digest, Subject: subject, Body: body})
	return Answer{Receipt: body}
}

func (d *decider) graph(instance engine.ID) *Graph {
	for _, g := range d.w.Graphs {
		if g.Instance.ID == instance {
			return g
		}
	}
	return nil
}
