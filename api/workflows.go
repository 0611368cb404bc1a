package api

import (
	"context"
	"database/sql"

	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// Workflows is Weave over the lanes of a node and the publisher's transactions.
type Workflows struct {
	Set    *lane.Set
	Writer *tx.DB
	Reader *sql.DB
}

// Publish judges and stores a document.
func (w Workflows) Publish(ctx context.Context, c auth.Caller, document []byte, key string) store.Publication {
	who := store.Publisher{Namespace: c.Namespace, Application: c.Application, Credential: c.Credential}
	out, err := store.Publish(ctx, w.Writer, who, document, key)
	if refusal := asRefusal(err); refusal != nil {
		return store.Publication{Refusal: refusal}
	}
	return out
}

// Start runs starts in the caller's lane.
func (w Workflows) Start(ctx context.Context, c auth.Caller, items []*lane.Start) []lane.StartOutcome {
	out, err := w.Set.Start(ctx, c.Namespace, items)
	if refusal := asRefusal(err); refusal != nil {
		return all(len(items), lane.StartOutcome{Refusal: refusal})
	}
	return out
}

// Ask runs a request in the caller's lane.
func (w Workflows) Ask(ctx context.Context, c auth.Caller, request weave.Request) weave.Answer {
	out, err := w.Set.Ask(ctx, c.Namespace, request)
	if refusal := asRefusal(err); refusal != nil {
		return weave.Answer{Refusal: refusal}
	}
	return out[0]
}

// Check judges a document against the queues that exist, with plain reads.
func (w Workflows) Check(ctx context.Context, c auth.Caller, document []byte) ([]definition.Problem, error) {
	const page = 1000
	known := map[string]bool{}
	for last := []byte{}; ; {
		rows, err := db.New(w.Reader).ListQueues(ctx, db.ListQueuesParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: last, Limit: page})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			known[string(r.Name)], last = true, r.Name
		}
		if len(rows) < page {
			break
		}
	}
	_, problems := definition.Check(document, definition.Options{
		Queues: func(name string) bool { return known[name] }, Runnable: weave.Runnable(),
	})
	return problems, nil
}
