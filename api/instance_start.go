package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine/exact"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// StartInstance starts one workflow, all or nothing. A replay answers with the first receipt's bytes.
func (s *Server) StartInstance(ctx context.Context, r httpapi.StartInstanceRequestObject) (httpapi.StartInstanceResponseObject, error) {
	out := s.Weave.Start(ctx, auth.CallerOf(ctx), []*lane.Start{start(ctx, r.Body, bodyOf(ctx).tree)})[0]
	if out.Refusal != nil {
		return nil, out.Refusal
	}
	return frozen{201, out.Receipt, out.Replayed}, nil
}

func start(ctx context.Context, r *httpapi.InstanceStart, tree exact.Value) *lane.Start {
	input, _ := tree.Get("input")
	c := auth.CallerOf(ctx)
	out := &lane.Start{
		Credential: c.Credential, Application: c.Application, InstanceID: store.NewID(), Key: r.StartKey, Definition: r.Definition,
		BusinessKey: r.BusinessKey, Input: r.Input, InputDigest: input.Digest(), Traceparent: traceOf(ctx),
	}
	if r.Version != nil {
		out.Version = uint32(*r.Version)
	}
	return out
}

// StartInstanceBatch starts up to 32 workflows, each for itself; the outcomes stand in the order of the items.
func (s *Server) StartInstanceBatch(ctx context.Context, r httpapi.StartInstanceBatchRequestObject) (httpapi.StartInstanceBatchResponseObject, error) {
	b := bodyOf(ctx)
	out := httpapi.StartInstanceBatch200JSONResponse{Items: make([]httpapi.InstanceBatchOutcome, len(r.Body.Items))}
	var good []*lane.Start
	var places []int
	for i := range r.Body.Items {
		if refused := b.itemProblem(i); refused != nil {
			out.Items[i].Problem = refused.Append(nil)
			continue
		}
		good, places = append(good, start(ctx, &r.Body.Items[i], b.item(i))), append(places, i)
	}
	if len(good) == 0 {
		return out, nil
	}
	for k, o := range s.Weave.Start(ctx, auth.CallerOf(ctx), good) {
		at := &out.Items[places[k]]
		if o.Refusal != nil {
			at.Problem = problem.FromRefusal(o.Refusal).Append(nil)
			continue
		}
		at.Receipt, at.Replayed = o.Receipt, o.Replayed
	}
	return out, nil
}
