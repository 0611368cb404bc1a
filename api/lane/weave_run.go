package lane

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// Workflows is the Weaver: it starts instances and advances them, many in one transaction.
type Workflows struct {
	db       *tx.DB
	versions *store.Versions
	actor    string
	onFailed func(namespace uint64, instance engine.ID, err error)
}

// NewWorkflows makes the Weaver of a node. onFailed hears of instances that cannot be planned; their rows were pushed
// back. It may be nil.
func NewWorkflows(db *tx.DB, node string, onFailed func(namespace uint64, instance engine.ID, err error)) *Workflows {
	if onFailed == nil {
		onFailed = func(uint64, engine.ID, error) {}
	}
	return &Workflows{db: db, versions: store.NewVersions(), actor: "system:weave:" + node, onFailed: onFailed}
}

// Run works on starts and instances of one namespace in one transaction. If that fails for a reason of its contents,
// each request, each start and each instance runs alone, so that none takes another down; an instance that fails alone is pushed
// back, a start that fails alone is answered as internal.
func (w *Workflows) Run(ctx context.Context, namespace uint64, starts []*Start, instances []engine.ID, requests ...weave.Request) (WeaveResult, error) {
	out, err := w.together(ctx, namespace, starts, instances, requests...)
	if err == nil || passing(ctx, err) {
		return out, err
	}
	return w.apart(ctx, namespace, starts, instances, requests)
}

// passing reports an error that says nothing about the items: the same call may succeed later.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, tx.ErrBusy) || errors.Is(err, tx.ErrUnavailable) || errors.Is(err, tx.ErrOutcomeUnknown)
}

// together is one transaction.
//
// lock: what store.LoadWeave says.
func (w *Workflows) together(ctx context.Context, namespace uint64, starts []*Start, instances []engine.ID, requests ...weave.Request) (out WeaveResult, err error) {
	batch := store.WeaveBatch{Actor: w.actor, Starts: weaveStarts(starts), Requests: requests, Instances: instances}
	err = w.db.Run(ctx, namespace, "weave", func(ctx context.Context, b tx.Begun) (err error) {
		defer recovered(&err)
		world, place, err := store.LoadWeave(ctx, b, &batch, w.versions)
		if err != nil {
			return err
		}
		outcomes, changes := weave.Decide(world, batch.Starts, store.NewID, engine.PlanChangesMax, batch.Requests...)
		out = WeaveResult{Starts: startOutcomes(outcomes), Answers: changes.Answers, Overtaken: changes.Overtaken, Late: changes.Late, Ready: changes.Ready, Again: changes.Again, DueAt: changes.DueAt}
		return store.ApplyWeave(ctx, place.Tx, world, &changes)
	})
	return out, err
}

// recovered turns a panic of the engine (a state that cannot be) into an error, so that one broken instance ends its
// own transaction and not the node.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("weave: %v\n%s", r, debug.Stack())
	}
}

func (w *Workflows) apart(ctx context.Context, namespace uint64, starts []*Start, instances []engine.ID, requests []weave.Request) (WeaveResult, error) {
	var out WeaveResult
	for _, r := range requests {
		one, err := w.together(ctx, namespace, nil, nil, r)
		if passing(ctx, err) {
			return out, err
		}
		if err != nil {
			w.onFailed(namespace, r.Target(), err)
			one.Answers = []weave.Answer{{Refusal: engine.Refuse("internal", "the request failed; ask again with the same key")}}
		}
		out.add(&one)
	}
	for _, id := range instances {
		one, err := w.together(ctx, namespace, nil, []engine.ID{id})
		switch {
		case err == nil:
			out.add(&one)
		case passing(ctx, err):
			return out, err
		default:
			w.onFailed(namespace, id, err)
			if err := store.DelayWeave(ctx, w.db, namespace, id); err != nil {
				return out, err
			}
		}
	}
	for _, s := range starts {
		one, err := w.together(ctx, namespace, []*Start{s}, nil)
		if passing(ctx, err) {
			return out, err
		}
		if err != nil {
			w.onFailed(namespace, s.InstanceID, err)
			one.Starts = []StartOutcome{{Refusal: engine.Refuse("internal", "the start failed; ask again with the same key")}}
		}
		out.add(&one)
	}
	slices.Sort(out.Ready)
	out.Ready = slices.Compact(out.Ready)
	return out, nil
}

func weaveStarts(starts []*Start) []weave.Start {
	out := make([]weave.Start, len(starts))
	for i, s := range starts {
		out[i] = weave.Start{
			Credential: s.Credential, Application: s.Application, Instance: s.InstanceID, Key: s.Key, Definition: s.Definition,
			Version: s.Version, BusinessKey: s.BusinessKey, Input: s.Input, InputDigest: s.InputDigest, Traceparent: s.Traceparent,
		}
	}
	return out
}

func startOutcomes(outcomes []weave.StartOutcome) []StartOutcome {
	out := make([]StartOutcome, len(outcomes))
	for i, o := range outcomes {
		out[i] = StartOutcome{InstanceID: o.Instance, Receipt: o.Receipt, Replayed: o.Replayed, Refusal: o.Refusal}
	}
	return out
}
