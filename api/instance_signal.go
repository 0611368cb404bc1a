package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// SignalInstance keeps a signal for one step of an instance; the same key gives the first receipt again.
func (s *Server) SignalInstance(ctx context.Context, r httpapi.SignalInstanceRequestObject) (httpapi.SignalInstanceResponseObject, error) {
	if _, err := s.readInstance(ctx, r.InstanceId); err != nil {
		return nil, err
	}
	c := auth.CallerOf(ctx)
	content, _ := bodyOf(ctx).tree.Get("content")
	out := s.Weave.Ask(ctx, c, &weave.SignalRequest{
		Credential: c.Credential, Application: c.Application, ID: store.NewID(), Audit: store.NewID(), Instance: id(prefixInstance, r.InstanceId),
		Key: r.Params.IdempotencyKey, Step: r.Body.Step, ActivationNo: uint16(r.Body.ActivationNo), Name: r.Body.Signal, Version: r.Body.SignalVersion,
		Correlation: r.Body.Correlation, Content: r.Body.Content, ContentDigest: content.Digest(), Reason: r.Body.Reason,
	})
	if out.Refusal != nil {
		return nil, out.Refusal
	}
	return frozen{201, out.Receipt, out.Replayed}, nil
}

// ListInstanceSignals pages every signal of an instance in order of acceptance.
func (s *Server) ListInstanceSignals(ctx context.Context, r httpapi.ListInstanceSignalsRequestObject) (httpapi.ListInstanceSignalsResponseObject, error) {
	b := bind(auth.CallerOf(ctx), "signals", r.InstanceId)
	after, err := b.readName(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	instance, err := s.readInstance(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListSignals(ctx, db.ListSignalsParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, SignalID: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	names, err := s.stepNames(ctx, instance)
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListInstanceSignals200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, httpapi.Signal{
			SignalId: idText(prefixSignal, row.SignalID), Step: names[row.StepNo], ActivationNo: int32(row.ActivationNo), Signal: string(row.SignalName),
			SignalVersion: string(row.SignalVersion), Correlation: string(row.Correlation), State: weave.SignalState(row.State).String(),
			Classification: optional(row.Classification), AcceptedAt: row.AcceptedAt, ExpiresAt: row.ExpiresAt, SettledAt: row.SettledAt, Content: row.Content,
		})
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].SignalID)
	}
	return out, nil
}

// stepNames maps the numbers of an instance's steps to their names.
func (s *Server) stepNames(ctx context.Context, instance db.Instance) (map[uint16]string, error) {
	rows, err := s.q().ListStepNames(ctx, db.ListStepNamesParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, Limit: activationsMax})
	out := make(map[uint16]string, len(rows))
	for _, row := range rows {
		out[row.StepNo] = string(row.Name)
	}
	return out, err
}
