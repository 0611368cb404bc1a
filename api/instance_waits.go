package api

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// waiting is what is stored about one activation that waits: a wait, a poll, or both.
type waiting struct {
	activation []byte
	wait       *db.StepWait
	poll       *db.WeavePoll
}

// ListInstanceWaits pages what the steps of an instance wait or waited for, in order of activation.
func (s *Server) ListInstanceWaits(ctx context.Context, r httpapi.ListInstanceWaitsRequestObject) (httpapi.ListInstanceWaitsResponseObject, error) {
	b := bind(auth.CallerOf(ctx), "waits", r.InstanceId)
	after, err := b.readName(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	instance, err := s.readInstance(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.waits(ctx, instance, after, limit+1)
	if err != nil {
		return nil, err
	}
	names, err := s.stepNames(ctx, instance)
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListInstanceWaits200JSONResponse{}
	for i := range rows {
		out.Items = append(out.Items, rows[i].model(names))
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].activation)
	}
	return out, nil
}

// waits merges the first waits and polls behind a position.
func (s *Server) waits(ctx context.Context, instance db.Instance, after []byte, limit int32) ([]waiting, error) {
	found, err := s.q().ListWaits(ctx, db.ListWaitsParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, ActivationID: after, Limit: limit})
	if err != nil {
		return nil, err
	}
	polls, err := s.q().ListPolls(ctx, db.ListPollsParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, ActivationID: after, Limit: limit})
	if err != nil {
		return nil, err
	}
	at := map[engine.ID]*waiting{}
	for i := range found {
		at[engine.ID(found[i].ActivationID)] = &waiting{activation: found[i].ActivationID, wait: &found[i]}
	}
	for i := range polls {
		id := engine.ID(polls[i].ActivationID)
		if at[id] == nil {
			at[id] = &waiting{activation: polls[i].ActivationID}
		}
		at[id].poll = &polls[i]
	}
	out := make([]waiting, 0, len(at))
	for _, w := range at {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b waiting) int { return bytes.Compare(a.activation, b.activation) })
	return out, nil
}

func (w *waiting) model(names map[uint16]string) httpapi.Wait {
	out := httpapi.Wait{ActivationId: idText(prefixActivation, w.activation)}
	if q := w.poll; q != nil {
		out.Step, out.Kind, out.State = names[q.StepNo], weave.CheckpointPoll.String(), weave.WaitPending.String()
		if q.SettledAt != nil {
			out.State = weave.WaitSatisfied.String()
		}
		out.StartedAt, out.DeadlineAt, out.SettledAt, out.NextPollAt = q.StartedAt, q.DeadlineAt, q.SettledAt, q.NextPollAt
		out.PollState, out.UsedRounds = pointer(httpapi.WaitPollState(weave.PollState(q.State).String())), pointer(int32(q.UsedRounds))
		if len(q.LastTaskID) > 0 {
			out.TaskId = pointer(idText(prefixTask, q.LastTaskID))
		}
	}
	if r := w.wait; r != nil {
		out.Step, out.Kind, out.State = names[r.StepNo], weave.CheckpointKind(r.Kind).String(), weave.WaitState(r.State).String()
		out.StartedAt, out.DeadlineAt, out.SettledAt = r.StartedAt, r.DeadlineAt, cmp.Or(r.SettledAt, out.SettledAt)
		out.Signal, out.SignalVersion, out.Correlation = optional(r.SignalName), optional(r.SignalVersion), optional(r.Correlation)
		if len(r.WinnerID) > 0 {
			out.SignalId = pointer(idText(prefixSignal, r.WinnerID))
		}
	}
	return out
}
