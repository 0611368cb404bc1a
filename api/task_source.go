package api

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetTaskSource resolves where a task came from against the rows it names. A reference that is dangling or wrong is
// source_broken, never DIRECT (pulse.md Source).
func (s *Server) GetTaskSource(ctx context.Context, r httpapi.GetTaskSourceRequestObject) (httpapi.GetTaskSourceResponseObject, error) {
	task, err := s.readTask(ctx, r.TaskId)
	if err != nil {
		return nil, err
	}
	out := httpapi.TaskSource{Kind: sourceNames[pulse.Source(task.Source)]}
	switch pulse.Source(task.Source) {
	case pulse.SourceDirect:
		if len(task.OwnerID) != 0 || len(task.GateID) != 0 {
			err = broken("the task says DIRECT and names an owner")
		}
	case pulse.SourceRetry:
		err = s.retrySource(ctx, task, &out)
	case pulse.SourceSchedule:
		err = s.scheduleSource(ctx, task, &out)
	case pulse.SourceWorkflow:
		err = s.workflowSource(ctx, task, &out)
	default:
		err = broken("the source of the task is of a kind this node does not know")
	}
	return httpapi.GetTaskSource200JSONResponse(out), err
}

func broken(detail string) error { return problem.New("source_broken", detail) }

// dangling turns a missing referenced row into the named refusal.
func dangling(err error, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return broken("the task names " + what + " that does not exist")
	}
	return err
}

func (s *Server) retrySource(ctx context.Context, task db.Task, out *httpapi.TaskSource) error {
	first, err := s.q().GetTask(ctx, db.GetTaskParams{NamespaceID: task.NamespaceID, TaskID: task.OwnerID})
	if err != nil {
		return dangling(err, "a task")
	}
	if first.ApplicationID != task.ApplicationID {
		return broken("the task names a task of another application")
	}
	out.RetryOf = pointer(idText(prefixTask, first.TaskID))
	return nil
}

func (s *Server) workflowSource(ctx context.Context, task db.Task, out *httpapi.TaskSource) error {
	q, ns := s.q(), task.NamespaceID
	instance, err := q.GetInstance(ctx, db.GetInstanceParams{NamespaceID: ns, InstanceID: task.GateID})
	if err != nil {
		return dangling(err, "an instance")
	}
	activation, err := q.GetActivation(ctx, db.GetActivationParams{NamespaceID: ns, InstanceID: task.GateID, ActivationID: task.OwnerID})
	if err != nil {
		return dangling(err, "an activation")
	}
	owns, err := s.owns(ctx, ns, activation, task.TaskID)
	if err != nil {
		return err
	}
	if instance.ApplicationID != auth.CallerOf(ctx).Application || !owns {
		return broken("the activation belongs to another task")
	}
	step, err := s.step(ctx, ns, task.GateID, activation.StepNo)
	if err != nil {
		return dangling(err, "a step")
	}
	out.InstanceId, out.Definition = pointer(idText(prefixInstance, instance.InstanceID)), pointer(string(instance.Definition))
	out.Version, out.Step = pointer(int32(instance.Version)), pointer(string(step.Name))
	out.ActivationId, out.ActivationNo = pointer(engine.ID(activation.ActivationID).Text(prefixActivation)), pointer(int32(activation.ActivationNo))
	return nil
}

// owns reports whether a task is its activation's: the one it made, or one of its rounds.
func (s *Server) owns(ctx context.Context, ns uint64, activation db.Activation, task []byte) (bool, error) {
	if len(activation.TaskID) > 0 {
		return bytes.Equal(activation.TaskID, task), nil
	}
	round, err := s.q().GetRound(ctx, db.GetRoundParams{NamespaceID: ns, TaskID: task})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return bytes.Equal(round.ActivationID, activation.ActivationID), err
}

// step reads one step by number; 0 is the root and never the source of a task.
func (s *Server) step(ctx context.Context, ns uint64, instance []byte, no uint16) (db.Step, error) {
	if no == 0 {
		return db.Step{}, sql.ErrNoRows
	}
	rows, err := s.q().ListSteps(ctx, db.ListStepsParams{NamespaceID: ns, InstanceID: instance, StepNo: no - 1, Limit: 1})
	if err == nil && (len(rows) != 1 || rows[0].StepNo != no) {
		err = sql.ErrNoRows
	}
	if err != nil {
		return db.Step{}, err
	}
	return rows[0], nil
}
