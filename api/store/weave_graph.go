package store

import (
	"fmt"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// assemble sorts locked rows into one graph per instance.
func (l *weaveLoad) assemble(instances []db.Instance, gates []db.LockGatesRow, rows *tx.Graph) error {
	graphs := make(map[engine.ID]*weave.Graph, len(instances))
	for i := range instances {
		g := &weave.Graph{Now: l.w.Now, Actor: l.w.Actor, Instance: instanceOf(&instances[i]), Activations: map[engine.ID]weave.Activation{}}
		graphs[g.Instance.ID] = g
	}
	for _, r := range gates {
		if g := graphs[ID(r.GateID)]; g != nil {
			g.GateOpen = r.State == 1
		}
	}
	for i := range rows.Steps {
		g := graphs[ID(rows.Steps[i].InstanceID)]
		g.Steps = append(g.Steps, stepOf(&rows.Steps[i]))
	}
	for i := range rows.Activations {
		a := activationOf(&rows.Activations[i])
		graphs[ID(rows.Activations[i].InstanceID)].Activations[a.ID] = a
	}
	for i := range rows.Inbox {
		g := graphs[ID(rows.Inbox[i].InstanceID)]
		g.Results = append(g.Results, resultOf(&rows.Inbox[i]))
	}
	for i := range rows.Advances {
		g := graphs[ID(rows.Advances[i].InstanceID)]
		g.Checkpoints = append(g.Checkpoints, checkpointOf(&rows.Advances[i]))
	}
	for _, f := range l.fixed {
		g := graphs[f.instance]
		if g == nil {
			continue
		}
		g.Version, g.Active = f.version, l.active[f.application]
		if err := sound(g, f.application); err != nil {
			return fmt.Errorf("instance %s: %w", f.instance.Text("inst"), err)
		}
		l.w.Graphs = append(l.w.Graphs, g)
	}
	return nil
}

// sound refuses rows that are not the graph of the fixed version: nothing can be planned on them.
func sound(g *weave.Graph, application uint64) error {
	if g.Instance.Application != application {
		return fmt.Errorf("it belongs to application %d and to %d", g.Instance.Application, application)
	}
	return g.Sound()
}

// handled reads processed versions for rows that may be stale: those whose step is not active.
func (l *weaveLoad) handled() error {
	var late []engine.ID
	byID := map[engine.ID]*weave.Graph{}
	for _, g := range l.w.Graphs {
		if g.HasLate() {
			late = append(late, g.Instance.ID)
			byID[g.Instance.ID] = g
			g.Handled = map[engine.ID]uint32{}
		}
	}
	if len(late) == 0 {
		return nil
	}
	rows, err := l.t.Queries().ListHandledVersions(l.ctx, db.ListHandledVersionsParams{NamespaceID: l.t.Namespace(), InstanceIds: Bytes(late)})
	for _, r := range rows {
		byID[ID(r.InstanceID)].Handled[ID(r.TaskID)] = uint32(r.StateVersion)
	}
	return err
}

func instanceOf(r *db.Instance) weave.Instance {
	return weave.Instance{
		ID: ID(r.InstanceID), Application: r.ApplicationID, Definition: string(r.Definition), Version: r.Version,
		State: weave.InstanceState(r.State), Paused: r.Paused == 1, Revision: r.Revision, ControlRevision: r.ControlRevision,
		Stop: weave.StopKind(r.StopKind.Int16), StopRequestedAt: Time(r.StopRequestedAt), Reason: string(r.Reason),
		BusinessKey: string(r.BusinessKey), Traceparent: string(r.Traceparent), DeadlineAt: r.DeadlineAt, CreatedAt: r.CreatedAt,
		EndAt: Time(r.EndedAt), Input: r.Input, Output: r.Output,
	}
}

func stepOf(r *db.Step) weave.Step {
	return weave.Step{
		No: r.StepNo, Name: string(r.Name), Kind: r.Kind, State: weave.StepState(r.State), Version: r.Version,
		ActivationNo: r.ActivationNo, Activation: ID(r.ActivationID), Reason: string(r.Reason), SettledAt: Time(r.SettledAt), Output: r.Output,
	}
}

func activationOf(r *db.Activation) weave.Activation {
	return weave.Activation{
		ID: ID(r.ActivationID), Step: r.StepNo, No: r.ActivationNo, Task: ID(r.TaskID),
		DeadlineAt: r.DeadlineAt, CreatedAt: r.CreatedAt, SettledAt: Time(r.SettledAt),
	}
}

// resultOf reads a frozen result and checks the seal it was written with.
func resultOf(r *db.WeaveInbox) weave.Result {
	out := weave.Result{
		Task: ID(r.TaskID), Version: r.StateVersion, Activation: ID(r.ActivationID), TaskState: pulse.Public(r.TaskState),
		AttemptNo: r.AttemptNo, FailureCode: string(r.FailureCode), FailureMessage: string(r.FailureMessage),
		OccurredAt: r.OccurredAt, Output: r.Output,
	}
	digest := SnapshotDigest(&pulse.InboxWrite{
		Instance: ID(r.InstanceID), Activation: out.Activation, Task: out.Task, Version: out.Version, State: out.TaskState,
		AttemptNo: out.AttemptNo, FailureCode: out.FailureCode, FailureMessage: out.FailureMessage, Output: out.Output,
	})
	out.Sealed = string(digest[:]) == string(r.SnapshotDigest)
	return out
}

func checkpointOf(r *db.WeavePendingAdvance) weave.Checkpoint {
	return weave.Checkpoint{
		Step: r.StepNo, Kind: weave.CheckpointKind(r.Kind), Activation: ID(r.ActivationID), StepVersion: r.StepVersion, DueAt: r.DueAt,
	}
}
