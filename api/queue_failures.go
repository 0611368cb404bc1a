package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// failureRange is which failures of a queue are meant.
type failureRange struct {
	queue        uint64
	state        pulse.Public
	from, before time.Time
}

func (s *Server) failureRange(ctx context.Context, c auth.Caller, queue string, state httpapi.FailureState, from, before *time.Time) (failureRange, error) {
	out := failureRange{state: pulse.PublicFailed, from: time.Unix(0, 0).UTC(), before: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if state == "NEEDS_REVIEW" {
		out.state = pulse.PublicReview
	}
	if from != nil {
		out.from = from.UTC()
	}
	if before != nil {
		out.before = before.UTC()
	}
	var err error
	out.queue, err = s.Queues.ID(ctx, c, queue)
	if err == nil && out.queue == 0 {
		err = problem.Missing("queue")
	}
	return out, err
}

// ListFailures pages what failed or waits for a person in one queue, newest first, each with the legal next actions. All of
// it comes from the index of state and time; nothing is filtered in memory.
func (s *Server) ListFailures(ctx context.Context, r httpapi.ListFailuresRequestObject) (httpapi.ListFailuresResponseObject, error) {
	c := auth.CallerOf(ctx)
	f, err := s.failureRange(ctx, c, r.Queue, stateOr(r.Params.State), r.Params.CreatedFrom, r.Params.CreatedBefore)
	if err != nil {
		return nil, err
	}
	b := bind(c, "failures", r.Queue, f.state.String(), pulse.Time(f.from), pulse.Time(f.before))
	at, err := b.readMoment(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if r.Params.Cursor == nil {
		at.at = f.before
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListFailures(ctx, db.ListFailuresParams{NamespaceID: c.Namespace, QueueID: f.queue, State: uint8(f.state), CreatedFrom: f.from, CreatedBefore: f.before,
		BeforeAt: at.at, BeforeID: at.id[:], Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListFailures200JSONResponse{Items: []httpapi.TaskFailure{}}
	if out.Items, err = s.failures(ctx, c, rows); err != nil {
		return nil, err
	}
	if more {
		last := rows[len(rows)-1]
		out.NextCursor = b.write(moment{last.CreatedAt, engine.ID(last.TaskID)}.bytes())
	}
	return out, nil
}

func stateOr(s *httpapi.FailureState) httpapi.FailureState {
	if s == nil {
		return "FAILED"
	}
	return *s
}

// failures adds what the next actions are judged by: two reads for the whole page.
func (s *Server) failures(ctx context.Context, c auth.Caller, rows []db.ListFailuresRow) ([]httpapi.TaskFailure, error) {
	out := make([]httpapi.TaskFailure, 0, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	ids := make([][]byte, len(rows))
	for i := range rows {
		ids[i] = rows[i].TaskID
	}
	effects, err := s.q().ListUnknownEffects(ctx, db.ListUnknownEffectsParams{NamespaceID: c.Namespace, TaskIds: ids})
	if err != nil {
		return nil, err
	}
	retries, err := s.q().ListTaskRetries(ctx, db.ListTaskRetriesParams{NamespaceID: c.Namespace, TaskIds: ids})
	if err != nil {
		return nil, err
	}
	unknown, successors := map[engine.ID]bool{}, map[engine.ID]engine.ID{}
	for _, e := range effects {
		unknown[store.ID(e.TaskID)] = true
	}
	for _, r := range retries {
		successors[store.ID(r.TaskID)] = store.ID(r.SuccessorID)
	}
	for i := range rows {
		id := store.ID(rows[i].TaskID)
		out = append(out, failureModel(&rows[i], unknown[id], successors[id]))
	}
	return out, nil
}

func failureModel(r *db.ListFailuresRow, unknown bool, successor engine.ID) httpapi.TaskFailure {
	out := httpapi.TaskFailure{
		TaskId: idText(prefixTask, r.TaskID), State: httpapi.FailureState(pulse.Public(r.State).String()), StateVersion: int64(r.StateVersion), Source: sourceNames[pulse.Source(r.Source)],
		Handler: string(r.Handler), HandlerVersion: string(r.HandlerVersion), Code: optional(r.FailureCode), Message: optional(r.FailureMessage), BusinessKey: optional(r.BusinessKey),
		EffectUnknown: unknown, CreatedAt: r.CreatedAt, ChangedAt: r.ChangedAt, Actions: []httpapi.TaskAction{},
	}
	if r.ResultAttemptNo > 0 {
		out.AttemptNo = pointer(int32(r.ResultAttemptNo))
	}
	if !successor.Zero() {
		out.RetriedBy = pointer(successor.Text(prefixTask))
	}
	if pulse.Source(r.Source) == pulse.SourceWorkflow && len(r.GateID) > 0 {
		out.InstanceId = pointer(idText(prefixInstance, r.GateID))
	}
	for _, a := range pulse.NextActions(pulse.Standstill{State: pulse.Public(r.State), Source: pulse.Source(r.Source), Unknown: unknown, Retried: !successor.Zero()}) {
		out.Actions = append(out.Actions, httpapi.TaskAction(a))
	}
	return out
}

// CountFailures counts the newest failures of a queue by code and handler, up to engine.FailuresCountedMax of them.
func (s *Server) CountFailures(ctx context.Context, r httpapi.CountFailuresRequestObject) (httpapi.CountFailuresResponseObject, error) {
	c := auth.CallerOf(ctx)
	f, err := s.failureRange(ctx, c, r.Queue, stateOr(r.Params.State), r.Params.CreatedFrom, r.Params.CreatedBefore)
	if err != nil {
		return nil, err
	}
	rows, err := s.q().CountFailures(ctx, db.CountFailuresParams{NamespaceID: c.Namespace, QueueID: f.queue, State: uint8(f.state), CreatedFrom: f.from, CreatedBefore: f.before, Limit: engine.FailuresCountedMax})
	if err != nil {
		return nil, err
	}
	out := httpapi.CountFailures200JSONResponse{State: httpapi.FailureState(f.state.String()), Items: []httpapi.FailureGroup{}}
	for _, g := range rows {
		out.Counted += g.Tasks
		out.Items = append(out.Items, httpapi.FailureGroup{
			Code: optional(g.FailureCode), Handler: string(g.Handler), HandlerVersion: string(g.HandlerVersion), Tasks: g.Tasks, OldestAt: g.OldestAt, NewestAt: g.NewestAt,
		})
	}
	out.Complete = out.Counted < engine.FailuresCountedMax
	return out, nil
}
