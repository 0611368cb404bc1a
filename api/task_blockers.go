package api

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListTaskBlockers answers "why is it not running?" from the rows of one moment. Clearing every named cause starts the
// task with the next claim.
func (s *Server) ListTaskBlockers(ctx context.Context, r httpapi.ListTaskBlockersRequestObject) (httpapi.ListTaskBlockersResponseObject, error) {
	task, open, err := s.readOpen(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	out := httpapi.ListTaskBlockers200JSONResponse{
		TaskId: r.TaskId, State: httpapi.TaskState(pulse.Public(task.State).String()), At: task.ChangedAt, Items: []httpapi.TaskBlocker{},
	}
	if open == nil {
		return out, nil
	}
	standing, err := s.standing(ctx, task)
	if errors.Is(err, sql.ErrNoRows) { // it ended between the two reads, so nothing holds it back
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.State, out.At = httpapi.TaskState(standing.Task.State.Public().String()), standing.Now
	for _, b := range pulse.Blockers(&standing) {
		item := blocker(&b)
		if b.Kind == pulse.BlockedByQueuePause {
			if item.Reason, err = s.pauseReason(ctx, task); err != nil {
				return nil, err
			}
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// pauseReason is what the operator said who paused the task's queue; nil when nobody gave a reason.
func (s *Server) pauseReason(ctx context.Context, task db.Task) (*string, error) {
	rows, err := s.q().ListQueueHolds(ctx, db.ListQueueHoldsParams{NamespaceID: task.NamespaceID, QueueID: task.QueueID})
	for _, h := range rows {
		if h.Kind == holdPause {
			return pointer(string(h.Reason)), err
		}
	}
	return nil, err
}

// standing reads everything an open task may wait for, and counts who comes first when nothing else is in the way.
func (s *Server) standing(ctx context.Context, task db.Task) (pulse.Standing, error) {
	r, err := s.q().GetTaskStanding(ctx, db.GetTaskStandingParams{NamespaceID: task.NamespaceID, TaskID: task.TaskID})
	if err != nil {
		return pulse.Standing{}, err
	}
	out := pulse.Standing{
		Now: r.NowAt,
		Task: pulse.Task{
			ID: engine.ID(r.TaskID), Application: r.ApplicationID, Queue: r.QueueID, State: pulse.State(r.State), Priority: r.Priority,
			AvailableAt: r.AvailableAt, DeadlineAt: r.DeadlineAt, HandlerHash: r.HandlerHash,
		},
		Queue:      pulse.Queue{Paused: r.Paused == 1, RunningAttempts: r.QueueRunning, RunningAttemptsMax: r.QueueRunningMax},
		Quota:      pulse.Quota{RunningAttempts: r.ApplicationRunning, RunningAttemptsMax: r.ApplicationRunningMax},
		GateClosed: len(r.GateID) > 0 && r.GateState.Int16 != 1,
	}
	if r.RateLimited == 1 {
		rates, err := store.QueueRates(ctx, s.q(), task.NamespaceID, []uint64{r.QueueID})
		if err != nil {
			return out, err
		}
		out.Queue.Rate = rates[r.QueueID]
	}
	if len(r.GateID) > 0 {
		out.Task.Gate = engine.ID(r.GateID)
	}
	if len(r.HolderID) > 0 {
		out.Holder, out.HolderApplication, out.HolderState = engine.ID(r.HolderID), uint64(r.HolderApplicationID.Int64), pulse.State(r.HolderState.Int16).Public()
	}
	if out.Task.State == pulse.Queued {
		out.Ahead, err = s.q().CountTasksAhead(ctx, db.CountTasksAheadParams{
			NamespaceID: task.NamespaceID, QueueID: r.QueueID, HandlerHash: r.HandlerHash, DueAt: r.DueAt, TaskID: r.TaskID, Limit: engine.TasksAheadMax,
		})
	}
	return out, err
}

// blockerTexts say what a cause means and what ends it.
var blockerTexts = map[pulse.BlockerKind]string{
	pulse.BlockedByReview:           "nobody knows what the last execution did; a person reviews the task",
	pulse.BlockedByDeadline:         "the deadline has passed; the next scan ends the task",
	pulse.BlockedByTime:             "the time of the delay or of the next attempt has not come",
	pulse.BlockedByGate:             "the workflow instance lets nothing start: it is paused, stopping, or waits for a person",
	pulse.BlockedByKey:              "another task holds the resource key until its real result is known",
	pulse.BlockedByQueuePause:       "the queue is paused; resume it",
	pulse.BlockedByQueueLimit:       "as many attempts of the queue run as it allows",
	pulse.BlockedByRate:             "the queue has started as many tasks as its rate allows; the next token comes at the time given",
	pulse.BlockedByApplicationLimit: "as many attempts of the application run as its quota allows",
	pulse.BlockedByOthers:           "other tasks of this queue and handler come first; more workers help",
	pulse.Ready:                     "ready: waiting for a worker that claims this queue and handler",
}

func blocker(b *pulse.Blocker) httpapi.TaskBlocker {
	out := httpapi.TaskBlocker{Kind: httpapi.TaskBlockerKind(b.Kind), Detail: pointer(blockerTexts[b.Kind]), At: timeOf(b.At)}
	if b.Kind == pulse.BlockedByRate {
		out.Limit = pointer(b.Limit)
	} else if b.Limit > 0 || b.Current > 0 || b.Kind == pulse.BlockedByQueueLimit || b.Kind == pulse.BlockedByApplicationLimit {
		out.Limit, out.Current = pointer(b.Limit), pointer(b.Current)
	}
	if !b.Holder.Zero() {
		out.Holder, out.HolderState = pointer(b.Holder.Text(prefixTask)), pointer(httpapi.TaskState(b.HolderState.String()))
	}
	if !b.Instance.Zero() {
		out.InstanceId = pointer(b.Instance.Text(prefixInstance))
	}
	return out
}

// timeOf is nil for the zero time, so that an absent value leaves the answer.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
