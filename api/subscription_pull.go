package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// PullSubscription hands out results and waits for the first of them. The wait ends early, with nothing, when the node
// drains. The key is judged before every look: one that is revoked while it waits gets nothing more. Refuses: stream_broken.
func (s *Server) PullSubscription(ctx context.Context, r httpapi.PullSubscriptionRequestObject) (httpapi.PullSubscriptionResponseObject, error) {
	polling, cancel := s.polling(ctx)
	defer cancel()
	out, err := s.pull(ctx, polling, r.Subscription, r.Body)
	return httpapi.PullSubscription200JSONResponse(out), err
}

// pull looks until there is something or the waiting ends. A look under way is never cut short by the end of the waiting:
// what it hands out is answered.
func (s *Server) pull(ctx, waiting context.Context, name string, body *httpapi.PullRequest) (httpapi.Pulled, error) {
	p := &pull{subscribed: subscription(ctx, name), ask: stream.Pull{
		Holder: stream.Holder(body.Consumer), Holding: uint64(body.HoldingThrough), Max: int(body.Max)}}
	leave := s.stream.enter(p.caller.Namespace)
	defer leave()
	until := time.Now().Add(milliseconds(body.WaitMs))
	for {
		if refused := auth.JudgeAgain(ctx); refused != nil {
			return httpapi.Pulled{}, refused
		}
		changed := s.stream.next(p.caller.Namespace)
		if err := s.Writer.Run(ctx, p.caller.Namespace, "pull_subscription", p.run); err != nil {
			return httpapi.Pulled{}, err
		}
		if len(p.answer.Out) > 0 {
			break
		}
		if p.answer.More {
			continue
		}
		if !waitStream(waiting, changed, p.due(), time.Until(until)) {
			break
		}
	}
	return s.pulled(ctx, p)
}

// pull is one pull; run overwrites everything below ask.
type pull struct {
	subscribed
	ask     stream.Pull
	answer  stream.PullAnswer
	after   stream.Subscription
	settled int64
	now     time.Time
}

// due is how long until something that waits may be delivered.
func (p *pull) due() time.Duration {
	if p.answer.Wake.IsZero() {
		return pullAgain
	}
	return min(max(p.answer.Wake.Sub(p.now), time.Millisecond), pullAgain)
}

// run is one look. It writes nothing when there is nothing to hand out.
//
// Locks: subscription X → its deliveries X. Statements: at most 12.
func (p *pull) run(ctx context.Context, b tx.Begun) error {
	sub, held, err := p.lock(ctx, b)
	if err != nil {
		return err
	}
	locked, _, err := held.LockDeliveries(ctx)
	if err != nil {
		return err
	}
	entries, head, err := readAhead(ctx, b.Queries(), b.Namespace(), &sub)
	if err != nil {
		return err
	}
	changes, answer, err := stream.PullPlan(sub, store.Deliveries(locked), entries, head, p.ask, b.Now())
	if err != nil {
		return err
	}
	p.answer, p.after, p.now = answer, changes.After, b.Now()
	if err := store.ApplySubscription(ctx, b.Tx, &changes); err != nil {
		return err
	}
	p.settled, err = settledThrough(ctx, b.Queries(), b.Namespace(), &p.after)
	return err
}

// readAhead reads the next stretch of the stream. The head is read first: every entry below it is committed.
func readAhead(ctx context.Context, q *db.Queries, namespace uint64, sub *stream.Subscription) ([]stream.Entry, uint64, error) {
	if sub.Paused || sub.Pending >= int64(sub.Window) {
		return nil, 0, nil
	}
	head, err := q.GetStreamHead(ctx, namespace)
	if err != nil || head.NextSeq <= sub.Next {
		return nil, head.NextSeq, err
	}
	before := min(head.NextSeq, sub.Next+stream.ScanMax)
	rows, err := q.ListStreamRange(ctx, db.ListStreamRangeParams{NamespaceID: namespace, FromSeq: sub.Next, BeforeSeq: before})
	if err != nil {
		return nil, head.NextSeq, err
	}
	entries := store.StreamEntries(rows)
	return entries, head.NextSeq, store.ReadHandlers(ctx, q, namespace, sub, entries)
}
