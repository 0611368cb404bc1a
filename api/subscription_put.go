package api

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/stream"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// PutSubscription creates a subscription or changes its settings; the same request again changes nothing.
//
// Locks to create: caller S → queues X → stream X; to change: caller S → subscription X. Two creators of one name meet
// at the unique key, and the later one finds what the first made. Refuses: queue_unknown, subscription_fixed,
// revision_conflict, sequence_unavailable.
func (s *Server) PutSubscription(ctx context.Context, r httpapi.PutSubscriptionRequestObject) (httpapi.PutSubscriptionResponseObject, error) {
	put := subscriptionPut{subscribed: subscription(ctx, r.Subscription), want: r.Body, fresh: auth.NewID()}
	if err := put.resolve(ctx, s); err != nil {
		return nil, err
	}
	_, _ = rand.Read(put.secret[:])
	c := put.caller
	for try := 0; ; try++ {
		_, err := s.q().GetSubscription(ctx, db.GetSubscriptionParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(r.Subscription)})
		switch {
		case err == nil:
			err = s.Writer.Run(ctx, c.Namespace, "change_subscription", put.change)
		case errors.Is(err, sql.ErrNoRows):
			err = s.Writer.Run(ctx, c.Namespace, "create_subscription", put.create)
		}
		if tx.ClassOf(err) == tx.Duplicate && try == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		break
	}
	s.stream.Advanced(c.Namespace)
	model, err := s.readSubscription(ctx, r.Subscription)
	return httpapi.PutSubscription200JSONResponse(model), err
}

type subscriptionPut struct {
	subscribed
	want     *httpapi.SubscriptionSettings
	queues   []uint64
	states   stream.States
	handlers []string
	fresh    uint64   // id if it does not exist yet
	secret   [32]byte // likewise
}

// Defaults of settings that are left out; the description names them too.
const (
	windowDefault       int32 = 256
	ackTimeoutDefaultMs int64 = 30_000
	generationsDefault  int32 = 20
)

// resultStates are the states in which a task may have a result, as the stream writes them.
var resultStates = map[httpapi.ResultState]pulse.Public{
	"SUCCEEDED": pulse.PublicSucceeded, "FAILED": pulse.PublicFailed, "CANCELLED": pulse.PublicCancelled, "NEEDS_REVIEW": pulse.PublicReview,
}

// allResults names every state, which is the same as naming none.
var allResults = func() (all stream.States) {
	for _, state := range resultStates {
		all = all.With(uint8(state))
	}
	return all
}()

func statesModel(s stream.States) []httpapi.ResultState {
	out := []httpapi.ResultState{}
	for name, state := range resultStates {
		if s != 0 && s.Has(uint8(state)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func or[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

func (p *subscriptionPut) resolve(ctx context.Context, s *Server) error {
	for i, name := range p.want.Queues {
		id, err := s.Queues.ID(ctx, p.caller, name)
		if err != nil {
			return err
		}
		if id == 0 {
			return problem.FromFaults([]problem.Fault{{Code: "queue_unknown", In: "body", Pointer: fmt.Sprintf("/queues/%d", i), Detail: "the application has no such queue"}})
		}
		p.queues = append(p.queues, id)
	}
	slices.Sort(p.queues)
	p.queues = slices.Compact(p.queues)
	for _, state := range p.want.States {
		p.states = p.states.With(uint8(resultStates[state]))
	}
	if p.states == allResults {
		p.states = 0
	}
	p.handlers = slices.Compact(slices.Sorted(slices.Values(p.want.Handlers)))
	return nil
}

func (p *subscriptionPut) expected(version uint32) error {
	e := p.want.ExpectedVersion
	if e == nil || *e == int64(version) {
		return nil
	}
	refusal := problem.FromFaults([]problem.Fault{{Code: "revision_conflict", In: "body", Pointer: "/expected_version", Detail: "the subscription was changed meanwhile; read it again"}})
	refusal.Limit, refusal.Current = *e, int64(version)
	return refusal
}

func (p *subscriptionPut) create(ctx context.Context, b tx.Begun) error {
	callers, _, identified, err := b.LockIdentity(ctx, []uint64{p.caller.Credential}, nil)
	if err != nil {
		return err
	}
	_, subscribing, err := identified.LockSubscribed(ctx, p.queues)
	if err != nil {
		return err
	}
	if _, err := subscribing.LockStream(ctx); err != nil {
		return err
	}
	now, err := b.Clock(ctx)
	if err != nil {
		return err
	}
	if err := judge(callers, auth.ScopeSubscriptionsManage, now); err != nil {
		return err
	}
	if err := p.expected(0); err != nil {
		return err
	}
	if start := or(p.want.Start, "HEAD"); start != "HEAD" {
		if _, err := subscribing.HoldRetention(ctx); err != nil {
			return err
		}
	}
	at, err := position(ctx, b.Queries(), p.caller.Namespace, or(p.want.Start, "HEAD"), p.want.StartSeq)
	if err != nil {
		return err
	}
	if err := p.insert(ctx, b, &at); err != nil {
		return err
	}
	return p.audit(ctx, b.Tx, "created", "", p.detail(exact.Field("next_seq", exact.Int(int64(at.Next)))))
}

func (p *subscriptionPut) insert(ctx context.Context, b tx.Begun, at *stream.Position) error {
	row := db.InsertSubscriptionParams{
		NamespaceID: p.caller.Namespace, SubscriptionID: p.fresh, ApplicationID: p.caller.Application, Name: []byte(p.name),
		QueueIds: store.PackQueueIDs(p.queues), States: uint8(p.states), Handlers: store.PackHandlers(p.handlers), InOrder: flag(or(p.want.InOrder, true)), Paused: flag(p.want.Paused),
		WindowMax: uint16(or(p.want.Window, windowDefault)), AckTimeoutMs: uint32(or(p.want.AckTimeoutMs, ackTimeoutDefaultMs)),
		GenerationsMax: uint16(or(p.want.GenerationsMax, generationsDefault)), NextSeq: at.Next, Secret: p.secret[:], CreatedAt: b.Now(),
	}
	if at.Anchored {
		row.LastHash = at.Hash[:]
	}
	rows, err := b.Queries().InsertSubscription(ctx, row)
	return tx.Affected(rows, err)(1)
}

func (p *subscriptionPut) change(ctx context.Context, b tx.Begun) error {
	old, _, err := p.manage(ctx, b)
	if err != nil {
		return err
	}
	if err := p.expected(old.Version); err != nil {
		return err
	}
	if !slices.Equal(old.Queues, p.queues) || old.States != p.states || !slices.Equal(old.Handlers, p.handlers) || old.InOrder != or(p.want.InOrder, true) {
		return problem.New("subscription_fixed", "queues, states, handlers and in_order hold from the creation on; make another subscription")
	}
	window, timeout, generations := or(p.want.Window, windowDefault), or(p.want.AckTimeoutMs, ackTimeoutDefaultMs), or(p.want.GenerationsMax, generationsDefault)
	if old.Window == int(window) && old.AckTimeout == milliseconds(timeout) && old.Generations == int(generations) && old.Paused == p.want.Paused {
		return nil
	}
	rows, err := b.Queries().UpdateSubscriptionSettings(ctx, db.UpdateSubscriptionSettingsParams{
		Paused: flag(p.want.Paused), WindowMax: uint16(window), AckTimeoutMs: uint32(timeout), GenerationsMax: uint16(generations),
		NamespaceID: p.caller.Namespace, SubscriptionID: old.ID,
	})
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	return p.audit(ctx, b.Tx, "changed", "", p.detail())
}

func (p *subscriptionPut) detail(more ...exact.Member) exact.Value {
	return exact.Object(append([]exact.Member{
		exact.Field("window", exact.Int(int64(or(p.want.Window, windowDefault)))),
		exact.Field("ack_timeout_ms", exact.Int(or(p.want.AckTimeoutMs, ackTimeoutDefaultMs))),
		exact.Field("generations_max", exact.Int(int64(or(p.want.GenerationsMax, generationsDefault)))),
		exact.Field("paused", exact.Bool(p.want.Paused)),
	}, more...)...)
}
