package store

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

func (a *pulseApply) attempts() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertAttempt), mapped(a.c.Attempts, func(w *pulse.AttemptWrite) db.InsertAttemptParams {
		return db.InsertAttemptParams{
			NamespaceID: a.ns, TaskID: w.Task[:], AttemptNo: w.No, Outcome: uint8(w.Outcome), Consumed: bit(w.Consumed), TaskState: uint8(w.TaskState),
			Token: w.Token[:], Worker: []byte(w.Worker), StartedAt: w.StartedAt, LeaseUntil: w.LeaseUntil, EndedAt: a.s.Now,
			ReportDigest: w.Digest[:], FailureCode: Text(w.FailureCode), FailureMessage: Text(w.FailureMessage),
			FailureDetails: w.FailureDetails, Output: w.Output,
		}
	}))
}

func (a *pulseApply) events() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertTaskEvent), mapped(a.c.Events, func(e *pulse.EventWrite) db.InsertTaskEventParams {
		return db.InsertTaskEventParams{
			NamespaceID: a.ns, TaskID: e.Task[:], EventNo: e.No, Kind: uint8(e.Kind), AttemptNo: e.AttemptNo, At: a.s.Now, Detail: Text(e.Detail),
		}
	}))
}

func (a *pulseApply) late() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).InsertLateEvidence, mapped(a.c.Late, func(w *pulse.LateWrite) db.InsertLateEvidenceParams {
		return db.InsertLateEvidenceParams{
			NamespaceID: a.ns, TaskID: w.Task[:], AttemptNo: w.AttemptNo, ReportDigest: w.Digest[:], Outcome: uint8(w.Outcome),
			ReceivedAt: a.s.Now, Worker: []byte(w.Worker), Report: w.Report,
		}
	}))
}

func (a *pulseApply) resources() error {
	err := tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertResourceLock), mapped(a.c.NewResources, func(r *pulse.Resource) db.InsertResourceLockParams {
		return db.InsertResourceLockParams{NamespaceID: a.ns, ResourceKey: []byte(r.Key), TaskID: r.Holder[:], Waiters: r.Waiters}
	}))
	if err != nil {
		return err
	}
	for i := range a.c.Resources {
		r := &a.c.Resources[i]
		rows, err := a.t.Queries().UpdateResourceLock(a.ctx, db.UpdateResourceLockParams{
			TaskID: r.Holder[:], Waiters: r.Waiters, NamespaceID: a.ns, ResourceKey: []byte(r.Key),
		})
		if err := tx.Affected(rows, err)(1); err != nil {
			return err
		}
	}
	if len(a.c.FreedResources) == 0 {
		return nil
	}
	keys := mapped(a.c.FreedResources, func(k *string) []byte { return []byte(*k) })
	rows, err := a.t.Queries().DeleteResourceLocks(a.ctx, db.DeleteResourceLocksParams{NamespaceID: a.ns, ResourceKeys: keys})
	return tx.Affected(rows, err)(len(keys))
}

func (a *pulseApply) waits() error {
	err := tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertKeyWait), mapped(a.c.NewKeyWaits, func(w *pulse.KeyWait) db.InsertKeyWaitParams {
		return db.InsertKeyWaitParams{
			NamespaceID: a.ns, ResourceKey: []byte(w.Key), DueAt: w.DueAt, TaskID: w.Task[:], ApplicationID: w.Application, QueueID: w.Queue,
		}
	}))
	if err != nil {
		return err
	}
	for i := range a.c.GoneKeyWaits {
		w := &a.c.GoneKeyWaits[i]
		rows, err := a.t.Queries().DeleteKeyWait(a.ctx, db.DeleteKeyWaitParams{NamespaceID: a.ns, ResourceKey: []byte(w.Key), DueAt: w.DueAt, TaskID: w.Task[:]})
		if err := tx.Affected(rows, err)(1); err != nil {
			return err
		}
	}
	return nil
}

func (a *pulseApply) counters() error { return UpdateCounters(a.ctx, a.t, a.c.Quotas, a.c.Queues) }

func (a *pulseApply) inbox() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertInbox), mapped(a.c.Inbox, func(w *pulse.InboxWrite) db.InsertInboxParams {
		digest := SnapshotDigest(w)
		return db.InsertInboxParams{
			NamespaceID: a.ns, InstanceID: w.Instance[:], TaskID: w.Task[:], StateVersion: w.Version, ActivationID: w.Activation[:],
			AvailableAt: a.s.Now, TaskState: uint8(w.State), AttemptNo: w.AttemptNo, FailureCode: Text(w.FailureCode),
			FailureMessage: Text(w.FailureMessage), OccurredAt: a.s.Now, SnapshotDigest: digest[:], Output: w.Output,
		}
	}))
}

// SnapshotDigest seals the frozen result a workflow will consume; the consumer verifies it.
func SnapshotDigest(w *pulse.InboxWrite) [32]byte {
	h := sha256.New()
	for _, part := range [][]byte{
		w.Instance[:], w.Activation[:], w.Task[:], binary.BigEndian.AppendUint32(nil, w.Version), {byte(w.State)},
		binary.BigEndian.AppendUint16(nil, w.AttemptNo), []byte(w.FailureCode), []byte(w.FailureMessage), w.Output,
	} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}

func (a *pulseApply) audits() error { return InsertAudits(a.ctx, a.t, a.s.Now, a.c.Audits) }
