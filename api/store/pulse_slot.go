package store

import (
	"context"
	"database/sql"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// slots reads who holds the slots the batch asks about, and returns their tasks: the plan must know whether they are
// open. Batches without slots read nothing. The queue rows are held, so nobody else gives a slot away meanwhile.
func (l *pulseLoad) slots(ctx context.Context, t *tx.Tx) ([]engine.ID, error) {
	type group struct {
		queue uint64
		kind  pulse.SlotKind
	}
	groups := textSets[group]{}
	for i := range l.batch.Submissions {
		key, asked := l.batch.Submissions[i].SlotKey()
		if !asked {
			continue
		}
		groups.add(group{key.Queue, key.Kind}, key.Key)
	}
	var holders []engine.ID
	for g, keys := range groups {
		rows, err := t.Queries().ListTaskSlots(ctx, db.ListTaskSlotsParams{NamespaceID: t.Namespace(), QueueID: g.queue, Kind: uint8(g.kind), SlotKeys: sortedTexts(keys)})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			key := pulse.SlotKey{Queue: r.QueueID, Kind: pulse.SlotKind(r.Kind), Key: string(r.SlotKey)}
			l.s.Slots[key] = pulse.Slot{Task: ID(r.TaskID), FirstAt: r.FirstAt, HeldUntil: r.HeldUntil, Receipt: r.Receipt}
			holders = append(holders, ID(r.TaskID))
		}
	}
	return holders, nil
}

func (a *pulseApply) slots() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).InsertTaskSlot, mapped(a.c.Slots, func(w *pulse.SlotWrite) db.InsertTaskSlotParams {
		return db.InsertTaskSlotParams{
			NamespaceID: a.ns, QueueID: w.Key.Queue, Kind: uint8(w.Key.Kind), SlotKey: []byte(w.Key.Key), TaskID: w.Slot.Task[:],
			FirstAt: w.Slot.FirstAt, HeldUntil: w.Slot.HeldUntil, Receipt: w.Slot.Receipt,
		}
	}))
}

func (a *pulseApply) attributes() error {
	var rows []db.InsertTaskAttributeParams
	for i := range a.c.NewTasks {
		n := &a.c.NewTasks[i]
		for _, at := range n.Submission.Attributes {
			rows = append(rows, db.InsertTaskAttributeParams{
				NamespaceID: a.ns, QueueID: n.Submission.Queue, Name: []byte(at.Name), Value: []byte(at.Value), CreatedAt: n.CreatedAt, TaskID: n.Task.ID[:],
			})
		}
	}
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertTaskAttribute), rows)
}

func (a *pulseApply) progress() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).InsertTaskProgress, mapped(a.c.Progress, func(w *pulse.ProgressWrite) db.InsertTaskProgressParams {
		return db.InsertTaskProgressParams{
			NamespaceID: a.ns, TaskID: w.Task[:], AttemptNo: w.AttemptNo, At: a.s.Now, Percent: percent(w.Progress.Percent),
			Message: Text(w.Progress.Message), Detail: w.Progress.Detail,
		}
	}))
}

func percent(p *uint8) sql.NullInt16 {
	if p == nil {
		return sql.NullInt16{}
	}
	return sql.NullInt16{Int16: int16(*p), Valid: true}
}
