package api

import (
	"context"
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// readTask reads a task of the caller's application. Another application's task, of whatever namespace, answers like
// one that does not exist (O12).
func (s *Server) readTask(ctx context.Context, taskID string) (db.Task, error) {
	c, key := auth.CallerOf(ctx), id(prefixTask, taskID)
	row, err := s.q().GetTask(ctx, db.GetTaskParams{NamespaceID: c.Namespace, TaskID: key[:]})
	if err == nil && row.ApplicationID != c.Application {
		return db.Task{}, problem.Missing("task")
	}
	return row, found(err, "task")
}

// readOpen reads a task and, while it is open, its open row. The two are two reads: when the task ended in between,
// the task is read once more, and then it says how it ended.
func (s *Server) readOpen(ctx context.Context, taskID string) (db.Task, *db.ListOpenStatesRow, error) {
	for range 3 {
		row, err := s.readTask(ctx, taskID)
		if err != nil || !stillOpen(row) {
			return row, nil, err
		}
		open, err := s.q().GetOpenTask(ctx, db.GetOpenTaskParams{NamespaceID: row.NamespaceID, TaskID: row.TaskID})
		if err == nil {
			return row, openState(open), nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return row, nil, err
		}
	}
	return db.Task{}, nil, problem.New("busy", "the task is changing; ask again")
}

// stillOpen reports whether the open row speaks for the task: until it ends, review included.
func stillOpen(row db.Task) bool {
	state := pulse.Public(row.State)
	return state == pulse.PublicQueued || state == pulse.PublicReview
}

func openState(o db.OpenTask) *db.ListOpenStatesRow {
	return &db.ListOpenStatesRow{
		TaskID: o.TaskID, State: o.State, StateVersion: o.StateVersion, AttemptNo: o.AttemptNo, AttemptsUsed: o.AttemptsUsed,
		AvailableAt: o.AvailableAt, CancelRequestedAt: o.CancelRequestedAt, LeaseUntil: o.LeaseUntil, StartedAt: o.StartedAt, Worker: o.Worker,
	}
}

// summary is a task without payloads; open is nil once it has ended.
func summary(row *db.Task, open *db.ListOpenStatesRow, queue string) httpapi.TaskSummary {
	out := httpapi.TaskSummary{
		TaskId: idText(prefixTask, row.TaskID), Queue: queue, State: httpapi.TaskState(pulse.Public(row.State).String()),
		StateVersion: int64(row.StateVersion), Priority: int32(row.Priority), Source: sourceNames[pulse.Source(row.Source)],
		Handler: string(row.Handler), HandlerVersion: string(row.HandlerVersion), BusinessKey: optional(row.BusinessKey), ResourceKey: optional(row.ResourceKey),
		AttemptNo: int32(row.ResultAttemptNo), MaxAttempts: int32(row.MaxAttempts), AvailableAt: row.AvailableAt, DeadlineAt: row.DeadlineAt,
		CreatedAt: row.CreatedAt, ChangedAt: row.ChangedAt, FailureCode: optional(row.FailureCode),
	}
	if open != nil {
		out.State = httpapi.TaskState(pulse.State(open.State).Public().String())
		out.StateVersion, out.AttemptNo = int64(open.StateVersion), int32(open.AttemptNo)
		out.AvailableAt, out.CancelRequestedAt = open.AvailableAt, open.CancelRequestedAt
	}
	return out
}

// queueNameOf reads the name of a task's queue.
func (s *Server) queueNameOf(ctx context.Context, row db.Task) (string, error) {
	payloads, err := s.q().ListTaskPayloads(ctx, db.ListTaskPayloadsParams{NamespaceID: row.NamespaceID, TaskIds: [][]byte{row.TaskID}})
	if err != nil {
		return "", err
	}
	if len(payloads) != 1 {
		return "", errors.New("the task's queue does not resolve")
	}
	return string(payloads[0].QueueName), nil
}

// outcomeOf reads an attempt's failure, nil when it did not fail.
func failureOf(code, message, details []byte) *httpapi.Failure {
	if len(code) == 0 {
		return nil
	}
	return &httpapi.Failure{Code: string(code), Message: string(message), Details: details}
}

// idsOf lists the ids of rows for a second read.
func idsOf(rows []db.Task) [][]byte {
	out := make([][]byte, len(rows))
	for i := range rows {
		out[i] = rows[i].TaskID
	}
	return out
}

// openStates reads the open rows of a page, by task.
func (s *Server) openStates(ctx context.Context, namespace uint64, rows []db.Task) (map[string]*db.ListOpenStatesRow, error) {
	out := map[string]*db.ListOpenStatesRow{}
	if len(rows) == 0 {
		return out, nil
	}
	open, err := s.q().ListOpenStates(ctx, db.ListOpenStatesParams{NamespaceID: namespace, TaskIds: idsOf(rows)})
	for i := range open {
		out[string(open[i].TaskID)] = &open[i]
	}
	return out, err
}
