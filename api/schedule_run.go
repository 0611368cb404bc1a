package api

import (
	"context"
	"net/http"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// TriggerSchedule makes one task now, once per key. A replay answers with the first receipt's bytes.
//
// Refuses: schedule_not_found, idempotency_conflict, and what a submission to the queue would be refused for.
func (s *Server) TriggerSchedule(ctx context.Context, r httpapi.TriggerScheduleRequestObject) (httpapi.TriggerScheduleResponseObject, error) {
	c := auth.CallerOf(ctx)
	out, err := store.TriggerSchedule(ctx, s.Writer, scheduleCommand(c, r.Name, r.Body.Reason, nil), r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	s.woken(c, out.Queue)
	return frozen{201, out.Body, out.Replayed}, nil
}

func (f frozen) VisitTriggerScheduleResponse(w http.ResponseWriter) error { return f.write(w) }

// woken lets the claims of a queue look again.
func (s *Server) woken(c auth.Caller, queue uint64) {
	if queue != 0 && s.QueueChanged != nil {
		s.QueueChanged(c.Namespace, queue)
	}
}

// BackfillSchedule makes up for past slots. A limit that is met ends the call early and is told beside what was done.
func (s *Server) BackfillSchedule(ctx context.Context, r httpapi.BackfillScheduleRequestObject) (httpapi.BackfillScheduleResponseObject, error) {
	c := auth.CallerOf(ctx)
	if !r.Body.From.Before(r.Body.Until) {
		return nil, problem.FromFaults([]problem.Fault{{Code: "request_invalid", In: "body", Pointer: "/until", Detail: "the range is empty: until must lie after from"}})
	}
	done, err := store.BackfillSchedule(ctx, s.Writer, scheduleCommand(c, r.Name, r.Body.Reason, nil), store.Backfill{From: r.Body.From, Until: r.Body.Until, DryRun: r.Body.DryRun})
	if err != nil {
		return nil, err
	}
	s.woken(c, done.Queue)
	out := httpapi.BackfillSchedule200JSONResponse{Version: int32(done.Version)}
	for _, slot := range done.Slots {
		item := httpapi.ScheduleBackfillSlot{PlannedAt: slot.At, Outcome: httpapi.ScheduleBackfillSlotOutcome(slot.Outcome)}
		if !slot.Task.Zero() {
			item.TaskId = pointer(slot.Task.Text(prefixTask))
		}
		out.Items = append(out.Items, item)
	}
	if !done.Next.IsZero() {
		out.NextFrom = &done.Next
	}
	if done.Stopped != nil {
		out.Problem = problem.FromRefusal(done.Stopped).Append(nil)
	}
	return out, nil
}
