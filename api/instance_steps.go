package api

import (
	"context"
	"strings"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// activationsMax bounds one read of activations: 256 steps, each with its few generations.
const activationsMax = 4096

// ListInstanceSteps pages the steps of an instance. Internal steps, whose names begin with "$", are left out.
func (s *Server) ListInstanceSteps(ctx context.Context, r httpapi.ListInstanceStepsRequestObject) (httpapi.ListInstanceStepsResponseObject, error) {
	b := bind(auth.CallerOf(ctx), "steps", r.InstanceId)
	after, err := b.readNumber(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	instance, err := s.readInstance(ctx, r.InstanceId)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListSteps(ctx, db.ListStepsParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, StepNo: uint16(after), Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	tasks, err := s.stepTasks(ctx, instance)
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListInstanceSteps200JSONResponse{}
	for _, row := range rows {
		if !strings.HasPrefix(string(row.Name), "$") {
			out.Items = append(out.Items, stepModel(row, tasks[string(row.ActivationID)]))
		}
	}
	if more {
		out.NextCursor = b.writeNumber(uint64(rows[len(rows)-1].StepNo))
	}
	return out, nil
}

// stepTasks maps activations to the tasks they made; of a POLL, to the task of its last round.
func (s *Server) stepTasks(ctx context.Context, instance db.Instance) (map[string][]byte, error) {
	rows, err := s.q().ListActivations(ctx, db.ListActivationsParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, Limit: activationsMax})
	out := make(map[string][]byte, len(rows))
	for _, row := range rows {
		if len(row.TaskID) > 0 {
			out[string(row.ActivationID)] = row.TaskID
		}
	}
	if err != nil {
		return nil, err
	}
	polls, err := s.q().ListPolls(ctx, db.ListPollsParams{NamespaceID: instance.NamespaceID, InstanceID: instance.InstanceID, ActivationID: []byte{}, Limit: activationsMax})
	for _, row := range polls {
		if len(row.LastTaskID) > 0 {
			out[string(row.ActivationID)] = row.LastTaskID
		}
	}
	return out, err
}

func stepModel(row db.Step, task []byte) httpapi.Step {
	out := httpapi.Step{
		StepNo: int32(row.StepNo), Name: string(row.Name), Kind: httpapi.StepKind(weave.KindOf(row.Kind)), State: httpapi.StepState(weave.StepState(row.State).String()), Version: int64(row.Version),
		ActivationNo: int32(row.ActivationNo), Reason: optional(row.Reason), SettledAt: row.SettledAt, Output: row.Output,
	}
	if len(task) > 0 {
		out.TaskId = pointer(idText(prefixTask, task))
	}
	return out
}
