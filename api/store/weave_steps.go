package store

import (
	"maps"
	"slices"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

func (a *weaveApply) newSteps() error {
	var all []of[weave.Step]
	for i := range a.c.New {
		gatherOf(&all, a.c.New[i].Instance.ID, a.c.New[i].Steps)
	}
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertStep), mapped(all, a.stepRow))
}

func (a *weaveApply) steps() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpdateStep, mapped(a.changed, func(s *of[weave.Step]) db.UpdateStepParams {
		return db.UpdateStepParams(a.stepRow(s))
	}))
}

func (a *weaveApply) stepRow(s *of[weave.Step]) db.InsertStepParams {
	r := &s.row
	return db.InsertStepParams{
		NamespaceID: a.ns, InstanceID: s.instance[:], StepNo: r.No, Name: []byte(r.Name), Kind: r.Kind, State: uint8(r.State),
		Version: r.Version, ActivationNo: r.ActivationNo, ActivationID: idOrNull(r.Activation), Reason: Text(r.Reason),
		SettledAt: timeOrNull(r.SettledAt), Output: r.Output,
	}
}

// activations writes new ones and the ends of others with one statement.
func (a *weaveApply) activations() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpsertActivation, mapped(append(a.ended, a.begun...), a.activationRow))
}

func (a *weaveApply) activationRow(x *of[weave.Activation]) db.UpsertActivationParams {
	r := &x.row
	return db.UpsertActivationParams{
		NamespaceID: a.ns, InstanceID: x.instance[:], ActivationID: r.ID[:], StepNo: r.Step, ActivationNo: r.No, TaskID: idOrNull(r.Task),
		DeadlineAt: r.DeadlineAt, CreatedAt: r.CreatedAt, SettledAt: timeOrNull(r.SettledAt),
	}
}

func (a *weaveApply) inbox() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpdateInboxConsumed, mapped(a.confirmed, func(c *of[weave.Confirmation]) db.UpdateInboxConsumedParams {
		return db.UpdateInboxConsumedParams{
			NamespaceID: a.ns, InstanceID: c.instance[:], TaskID: c.row.Task[:], StateVersion: c.row.Version, State: uint8(c.row.State),
			Classification: []byte(c.row.Classification), AvailableAt: a.w.Now, OccurredAt: a.w.Now,
		}
	}))
}

func (a *weaveApply) checkpoints() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpsertAdvance, mapped(a.due, func(c *of[weave.Checkpoint]) db.UpsertAdvanceParams {
		return db.UpsertAdvanceParams{
			NamespaceID: a.ns, InstanceID: c.instance[:], StepNo: c.row.Step, Kind: uint8(c.row.Kind), ActivationID: idOrNull(c.row.Activation),
			StepVersion: c.row.StepVersion, DueAt: c.row.DueAt,
		}
	}))
}

func (a *weaveApply) goneCheckpoints() error {
	for _, step := range slices.Sorted(maps.Keys(a.gone)) {
		ids := a.gone[step]
		rows, err := a.t.Queries().DeleteAdvances(a.ctx, db.DeleteAdvancesParams{NamespaceID: a.ns, InstanceIds: plain(ids), StepNo: step})
		if err := tx.Affected(rows, err)(len(ids)); err != nil {
			return err
		}
	}
	return nil
}

func (a *weaveApply) tasks() error {
	if err := InsertTasks(a.ctx, a.t, a.newTasks); err != nil {
		return err
	}
	return InsertOpenTasks(a.ctx, a.t, a.openTasks)
}

func (a *weaveApply) events() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertTaskEvent), mapped(a.newTasks, func(n *pulse.NewTask) db.InsertTaskEventParams {
		return db.InsertTaskEventParams{NamespaceID: a.ns, TaskID: n.Task.ID[:], EventNo: 1, Kind: uint8(pulse.EventSubmitted), At: a.w.Now}
	}))
}

func (a *weaveApply) writeAudits() error { return InsertAudits(a.ctx, a.t, a.w.Now, a.auditWrites) }
