package store

import (
	"context"
	"database/sql"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// ApplyWeave writes what a plan says, in the order of the ladder. The number of statements does not depend on how many
// instances take part.
func ApplyWeave(ctx context.Context, t *tx.Tx, w *weave.World, c *weave.Changes) error {
	a := &weaveApply{ctx: ctx, t: t, w: w, c: c, ns: t.Namespace(), gone: map[uint16][]engine.ID{}}
	a.auditWrites = append(a.auditWrites, c.Audits...)
	a.gather()
	for _, write := range []func() error{
		a.receipts, a.counters, a.newInstances, a.instances, a.history, a.newGates, a.gates, a.newSteps, a.steps,
		a.activations, a.waits, a.sent, a.pollStates, a.pollRounds, a.inbox, a.checkpoints, a.goneCheckpoints, a.tasks, a.events, a.writeAudits,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// of is one row of one instance.
type of[T any] struct {
	instance engine.ID
	row      T
}

type weaveApply struct {
	ctx context.Context
	t   *tx.Tx
	w   *weave.World
	c   *weave.Changes
	ns  uint64

	whole       []weave.Instance
	revised     []engine.ID
	log         []of[weave.History]
	opened      []engine.ID
	closed      []engine.ID
	changed     []of[weave.Step]
	begun       []of[weave.Activation]
	ended       []of[weave.Activation]
	confirmed   []of[weave.Confirmation]
	due         []of[weave.Checkpoint]
	gone        map[uint16][]engine.ID // whose checkpoint of a step goes, by step number
	waited      []of[weave.Wait]
	signals     []of[weave.Signal]
	polled      []of[weave.Poll]
	rounds      []of[weave.Round]
	newTasks    []pulse.NewTask
	openTasks   []pulse.Task
	auditWrites []pulse.AuditWrite
}

func gatherOf[T any](into *[]of[T], instance engine.ID, rows []T) {
	for _, r := range rows {
		*into = append(*into, of[T]{instance, r})
	}
}

// gather turns decisions per instance into rows per table.
func (a *weaveApply) gather() {
	fresh := map[engine.ID]bool{}
	for i := range a.c.New {
		fresh[a.c.New[i].Instance.ID] = true
	}
	for i := range a.c.Decisions {
		d := &a.c.Decisions[i]
		id := d.Instance.ID
		switch {
		case fresh[id] || !d.Advanced:
		case d.Rewritten:
			a.whole = append(a.whole, d.Instance)
		default:
			a.revised = append(a.revised, id)
		}
		gatherOf(&a.log, id, d.History)
		gatherOf(&a.changed, id, d.Steps)
		gatherOf(&a.begun, id, d.Activations)
		gatherOf(&a.ended, id, d.Ended)
		gatherOf(&a.confirmed, id, d.Confirmed)
		a.auditWrites = append(a.auditWrites, d.Audits...)
		gatherOf(&a.waited, id, d.Waits)
		gatherOf(&a.signals, id, d.Signals)
		gatherOf(&a.polled, id, d.Polls)
		gatherOf(&a.rounds, id, d.Rounds)
		a.gate(d)
		for _, c := range append(d.Clocks, d.Checkpoint) {
			a.checkpoint(id, c)
		}
		for j := range d.Tasks {
			work := &d.Tasks[j]
			a.newTasks = append(a.newTasks, pulse.NewTask{Task: work.Task, Submission: work.Submission, CreatedAt: a.w.Now})
			a.openTasks = append(a.openTasks, work.Task)
		}
	}
}

func (a *weaveApply) gate(d *weave.Decision) {
	switch d.Gate {
	case weave.GateOpen:
		a.opened = append(a.opened, d.Instance.ID)
	case weave.GateClose:
		a.closed = append(a.closed, d.Instance.ID)
	}
}

func (a *weaveApply) checkpoint(instance engine.ID, c weave.CheckpointChange) {
	switch c.Kind {
	case weave.CheckpointWrite:
		a.due = append(a.due, of[weave.Checkpoint]{instance, c.Row})
	case weave.CheckpointDelete:
		a.gone[c.Row.Step] = append(a.gone[c.Row.Step], instance)
	}
}

func (a *weaveApply) receipts() error {
	return InsertReceipts(a.ctx, a.t, &pulse.Snapshot{Now: a.w.Now}, a.c.Receipts)
}

func (a *weaveApply) counters() error { return UpdateCounters(a.ctx, a.t, a.c.Quotas, a.c.Queues) }

func (a *weaveApply) newInstances() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertInstance), mapped(a.c.New, func(n *weave.New) db.InsertInstanceParams {
		i := &n.Instance
		return db.InsertInstanceParams{
			NamespaceID: a.ns, InstanceID: i.ID[:], ApplicationID: i.Application, Definition: []byte(i.Definition), Version: i.Version,
			State: uint8(i.State), Revision: i.Revision, Reason: Text(i.Reason), BusinessKey: Text(i.BusinessKey), Traceparent: Text(i.Traceparent),
			DeadlineAt: i.DeadlineAt, CreatedAt: i.CreatedAt, EndedAt: timeOrNull(i.EndAt), Input: i.Input, Output: i.Output,
		}
	}))
}

// instances writes whole rows where more than the revision changed, and one statement for all others.
func (a *weaveApply) instances() error {
	err := tx.Many(a.ctx, a.t, (*db.Queries).UpdateInstance, mapped(a.whole, func(i *weave.Instance) db.UpdateInstanceParams {
		return db.UpdateInstanceParams{
			NamespaceID: a.ns, InstanceID: i.ID[:], ApplicationID: i.Application, Definition: []byte(i.Definition), Version: i.Version,
			State: uint8(i.State), Revision: i.Revision, StopKind: sql.NullInt16{Int16: int16(i.Stop), Valid: i.Stop != weave.StopNone},
			StopRequestedAt: timeOrNull(i.StopRequestedAt), Reason: Text(i.Reason), DeadlineAt: i.DeadlineAt, CreatedAt: i.CreatedAt,
			EndedAt: timeOrNull(i.EndAt), Output: i.Output,
		}
	}))
	if err != nil || len(a.revised) == 0 {
		return err
	}
	rows, err := a.t.Queries().UpdateInstancesRevision(a.ctx, db.UpdateInstancesRevisionParams{NamespaceID: a.ns, InstanceIds: plain(a.revised)})
	return tx.Affected(rows, err)(len(a.revised))
}

func (a *weaveApply) history() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertInstanceHistory), mapped(a.log, func(h *of[weave.History]) db.InsertInstanceHistoryParams {
		return db.InsertInstanceHistoryParams{
			NamespaceID: a.ns, InstanceID: h.instance[:], Revision: h.row.Revision, Kind: []byte(h.row.Kind), At: h.row.At,
			Actor: []byte(h.row.Actor), Detail: h.row.Detail,
		}
	}))
}

func (a *weaveApply) newGates() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertGate), mapped(a.c.New, func(n *weave.New) db.InsertGateParams {
		return db.InsertGateParams{NamespaceID: a.ns, GateID: n.Instance.ID[:], State: gateOpen, ChangedAt: a.w.Now}
	}))
}

const (
	gateOpen   = 1
	gateClosed = 2
)

func (a *weaveApply) gates() error {
	for _, change := range []struct {
		state uint8
		ids   []engine.ID
	}{{gateOpen, a.opened}, {gateClosed, a.closed}} {
		if len(change.ids) == 0 {
			continue
		}
		rows, err := a.t.Queries().UpdateGates(a.ctx, db.UpdateGatesParams{State: change.state, ChangedAt: a.w.Now, NamespaceID: a.ns, GateIds: plain(change.ids)})
		if err := tx.Affected(rows, err)(len(change.ids)); err != nil {
			return err
		}
	}
	return nil
}
