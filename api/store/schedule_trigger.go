package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// receiptTrigger is receipt.kind of a manual trigger.
const receiptTrigger pulse.ReceiptKind = 8

// ScheduleReceipt is the frozen answer to a manual trigger.
type ScheduleReceipt struct {
	Body     []byte
	Replayed bool
	Queue    uint64 // of the new task, to wake its claims
}

// TriggerSchedule fires a schedule now, once per key, with its newest version. It asks neither overlap policy nor
// pause: a person decided. Quota and queue limits hold.
//
// lock: 1 identity S, 2 quota X, (3 receipt), 4 schedule X, 5 queue X.
func TriggerSchedule(ctx context.Context, d *tx.DB, c ScheduleCommand, key string) (ScheduleReceipt, error) {
	m := &manual{c: c, key: key}
	err := d.Run(ctx, c.Namespace, "trigger_schedule", func(ctx context.Context, b tx.Begun) error {
		m.out = ScheduleReceipt{}
		return m.run(ctx, b)
	})
	return m.out, err
}

type manual struct {
	c   ScheduleCommand
	key string
	out ScheduleReceipt
}

func (m *manual) digest() [32]byte {
	return sha256.Sum256([]byte(strconv.Quote(m.c.Schedule) + strconv.Quote(m.c.Reason)))
}

func (m *manual) receiptKey() pulse.ReceiptKey {
	return pulse.ReceiptKey{Application: m.c.Application, Kind: receiptTrigger, Key: m.key}
}

// replay answers a key that was used before.
func (m *manual) replay(ctx context.Context) func(*tx.Tx) (bool, error) {
	return func(t *tx.Tx) (bool, error) {
		found := map[pulse.ReceiptKey]pulse.Receipt{}
		if err := LoadReceipts(ctx, t, map[pulse.ReceiptKey]bool{m.receiptKey(): true}, found); err != nil {
			return false, err
		}
		r, ok := found[m.receiptKey()]
		switch {
		case !ok:
			return false, nil
		case r.Digest != m.digest():
			return true, engine.Refuse("idempotency_conflict", "this key was used for another request; use a new key")
		}
		m.out = ScheduleReceipt{Body: r.Body, Replayed: true}
		return true, nil
	}
}

func (m *manual) run(ctx context.Context, b tx.Begun) error {
	h, err := m.c.hold(ctx, b, m.replay(ctx))
	if err != nil || h == nil {
		return err
	}
	if !h.exists {
		return errScheduleGone()
	}
	row, err := h.version(h.head.Version)
	if err != nil {
		return err
	}
	f, spec, err := h.firing(&row)
	if err != nil {
		return err
	}
	if refusal := f.admit(spec); refusal != nil {
		return refusal
	}
	triggerID, taskID := f.add(trigger{schedule: h.head.ScheduleID, version: row.Version, at: f.now, origin: OriginManual, outcome: OutcomeManual, reason: m.c.Reason, task: spec})
	body := fmt.Appendf(nil, `{"trigger_id":%q,"schedule":%q,"version":%d,"planned_at":%q,"task_id":%q}`,
		triggerID.Text("trigger"), m.c.Schedule, row.Version, pulse.Time(f.now), taskID.Text("task"))
	if err := InsertReceipts(ctx, b.Tx, &pulse.Snapshot{Now: f.now}, []pulse.ReceiptWrite{{Key: m.receiptKey(), Receipt: pulse.Receipt{Digest: m.digest(), Subject: taskID, Body: body}}}); err != nil {
		return err
	}
	if err := f.write(); err != nil {
		return err
	}
	m.out = ScheduleReceipt{Body: body, Queue: spec.Task.Queue}
	return h.audit("schedule.triggered", string(body))
}

// firing locks the queue of a version's tasks and gets ready to make some.
func (h *scheduleHeld) firing(row *db.ScheduleVersion) (*firing, *ScheduleSpec, error) {
	spec, _, err := ReadSchedule(row, h.c.Application)
	if err != nil {
		return nil, nil, err
	}
	queues, _, err := h.place.LockQueues(h.ctx, []uint64{spec.Task.Queue})
	if err != nil {
		return nil, nil, err
	}
	h.now = h.t.Now()
	return &firing{ctx: h.ctx, t: h.t, usage: pulse.NewUsage(Quotas(h.quotas), Queues(queues)), now: h.now}, spec, nil
}
