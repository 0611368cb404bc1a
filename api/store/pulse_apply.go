package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// ApplyPulse writes what a plan says: tasks and what hangs on them, counters, audit, and the stream last.
func ApplyPulse(ctx context.Context, place tx.AfterTasks, s *pulse.Snapshot, c *pulse.Changes) error {
	a := &pulseApply{ctx: ctx, t: place.Tx, s: s, c: c, ns: place.Namespace()}
	for _, write := range []func() error{
		a.receipts, a.claimRecords, a.newTasks, a.newOpen, a.slots, a.attributes, a.progress, a.starts, a.renewals, a.parks, a.rewrites, a.closes, a.ends,
		a.attempts, a.events, a.late, a.reviews, a.retries, a.resources, a.waits, a.counters, a.rates, a.bulks, a.inbox, a.audits,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return a.stream(place)
}

type pulseApply struct {
	ctx context.Context
	t   *tx.Tx
	s   *pulse.Snapshot
	c   *pulse.Changes
	ns  uint64
}

func (a *pulseApply) receipts() error { return InsertReceipts(a.ctx, a.t, a.s, a.c.Receipts) }

// InsertReceipts writes new receipts at the snapshot's time.
func InsertReceipts(ctx context.Context, t *tx.Tx, s *pulse.Snapshot, receipts []pulse.ReceiptWrite) error {
	return tx.Many(ctx, t, tx.Rows((*db.Queries).InsertReceipt), mapped(receipts, func(r *pulse.ReceiptWrite) db.InsertReceiptParams {
		return db.InsertReceiptParams{
			NamespaceID: t.Namespace(), ApplicationID: r.Key.Application, Kind: uint8(r.Key.Kind), ReceiptKey: []byte(r.Key.Key),
			Digest: r.Receipt.Digest[:], SubjectID: r.Receipt.Subject[:], Body: r.Receipt.Body, CreatedAt: s.Now,
		}
	}))
}

func mapped[A, B any](items []A, f func(*A) B) []B {
	out := make([]B, len(items))
	for i := range items {
		out[i] = f(&items[i])
	}
	return out
}

func (a *pulseApply) newTasks() error { return InsertTasks(a.ctx, a.t, a.c.NewTasks) }

// InsertTasks writes the full rows of accepted tasks.
func InsertTasks(ctx context.Context, t *tx.Tx, tasks []pulse.NewTask) error {
	return tx.Many(ctx, t, tx.Rows((*db.Queries).InsertTask), mapped(tasks, func(n *pulse.NewTask) db.InsertTaskParams {
		s := &n.Submission
		source := s.Source
		if source == 0 {
			source = pulse.SourceDirect
		}
		return db.InsertTaskParams{
			NamespaceID: t.Namespace(), TaskID: n.Task.ID[:], ApplicationID: s.Application, QueueID: s.Queue, State: 1, StateVersion: 1,
			Priority: s.Priority, Source: uint8(source), OwnerID: idOrNull(s.Owner), GateID: idOrNull(s.Gate),
			Handler: []byte(s.Handler), HandlerVersion: []byte(s.HandlerVersion), AttemptTimeoutMs: uint64(s.AttemptTimeoutMS),
			MaxAttempts: s.Retry.MaxAttempts, RetryPolicy: s.Retry.Text(), LostPolicy: uint8(s.Lost), AvailableAt: n.Task.AvailableAt,
			DeadlineAt: n.Task.DeadlineAt, CreatedAt: n.CreatedAt, ChangedAt: n.CreatedAt, BusinessKey: Text(s.BusinessKey),
			ResourceKey: Text(s.ResourceKey), Traceparent: Text(s.Traceparent), OutputContract: s.OutputContract, Input: s.Input,
		}
	}))
}

func (a *pulseApply) newOpen() error { return InsertOpenTasks(a.ctx, a.t, a.c.NewOpen) }

// InsertOpenTasks writes the open rows of accepted tasks.
func InsertOpenTasks(ctx context.Context, t *tx.Tx, tasks []pulse.Task) error {
	return tx.Many(ctx, t, tx.Rows((*db.Queries).InsertOpenTask), mapped(tasks, func(o *pulse.Task) db.InsertOpenTaskParams {
		return openRow(t.Namespace(), o)
	}))
}

func (a *pulseApply) starts() error {
	for i := range a.c.Starts {
		s := &a.c.Starts[i]
		rows, err := a.t.Queries().UpdateOpenTasksStarted(a.ctx, db.UpdateOpenTasksStartedParams{
			StartedAt: &s.StartedAt, LeaseUntil: &s.LeaseUntil, Secret: s.Secret[:], Worker: []byte(s.Worker), NamespaceID: a.ns, TaskIds: plain(s.Tasks),
		})
		if err := tx.Affected(rows, err)(len(s.Tasks)); err != nil {
			return err
		}
	}
	return nil
}

func (a *pulseApply) renewals() error {
	for i := range a.c.Renewals {
		r := &a.c.Renewals[i]
		rows, err := a.t.Queries().UpdateOpenTasksRenewed(a.ctx, db.UpdateOpenTasksRenewedParams{LeaseUntil: &r.LeaseUntil, NamespaceID: a.ns, TaskIds: plain(r.Tasks)})
		if err := tx.Affected(rows, err)(len(r.Tasks)); err != nil {
			return err
		}
	}
	return nil
}

func (a *pulseApply) parks() error {
	for i := range a.c.Parks {
		p := &a.c.Parks[i]
		rows, err := a.t.Queries().UpdateOpenTasksParked(a.ctx, db.UpdateOpenTasksParkedParams{
			ToState: uint8(p.To), FromState: uint8(p.From), NamespaceID: a.ns, TaskIds: plain(p.Tasks),
		})
		if err := tx.Affected(rows, err)(len(p.Tasks)); err != nil {
			return err
		}
	}
	return nil
}

func (a *pulseApply) rewrites() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpdateOpenTask, mapped(a.c.Rewrites, func(o *pulse.Task) db.UpdateOpenTaskParams {
		return db.UpdateOpenTaskParams(openRow(a.ns, o))
	}))
}

func (a *pulseApply) closes() error {
	if len(a.c.Closes) == 0 {
		return nil
	}
	rows, err := a.t.Queries().DeleteOpenTasks(a.ctx, db.DeleteOpenTasksParams{NamespaceID: a.ns, TaskIds: plain(a.c.Closes)})
	return tx.Affected(rows, err)(len(a.c.Closes))
}

func (a *pulseApply) ends() error {
	for i := range a.c.Ends {
		e := &a.c.Ends[i]
		rows, err := a.t.Queries().UpdateTasksEnded(a.ctx, db.UpdateTasksEndedParams{
			State: uint8(e.State), StateVersion: e.Version, ChangedAt: a.s.Now, ResultAttemptNo: e.AttemptNo,
			FailureCode: Text(e.FailureCode), NamespaceID: a.ns, TaskIds: plain(e.Tasks),
		})
		if err := tx.Affected(rows, err)(len(e.Tasks)); err != nil {
			return err
		}
	}
	return nil
}

// stream locks the head, links every entry to the one before it, and moves the head.
func (a *pulseApply) stream(place tx.AfterTasks) error {
	if len(a.c.Stream) == 0 {
		return nil
	}
	head, _, err := place.LockStream(a.ctx)
	if err != nil {
		return err
	}
	seq, hash := head.NextSeq, [32]byte(head.LastHash)
	entries := mapped(a.c.Stream, func(e *pulse.StreamWrite) db.InsertStreamEntryParams {
		hash = LinkHash(hash, seq, e)
		link := hash
		row := db.InsertStreamEntryParams{
			NamespaceID: a.ns, Seq: seq, ApplicationID: e.Application, QueueID: e.Queue, TaskID: e.Task[:],
			State: uint8(e.State), StateVersion: e.Version, At: a.s.Now, Hash: link[:],
		}
		seq++
		return row
	})
	if err := tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertStreamEntry), entries); err != nil {
		return err
	}
	rows, err := a.t.Queries().UpdateStream(a.ctx, db.UpdateStreamParams{NextSeq: seq, LastHash: hash[:], NamespaceID: a.ns})
	return tx.Affected(rows, err)(1)
}

// LinkHash binds an entry to everything before it: a consumer that recomputes the chain detects a missing, repeated
// or reordered entry offline.
func LinkHash(previous [32]byte, seq uint64, e *pulse.StreamWrite) [32]byte {
	b := append([]byte{}, previous[:]...)
	b = binary.BigEndian.AppendUint64(b, seq)
	b = binary.BigEndian.AppendUint64(b, e.Application)
	b = binary.BigEndian.AppendUint64(b, e.Queue)
	b = append(b, e.Task[:]...)
	b = append(b, byte(e.State))
	return sha256.Sum256(binary.BigEndian.AppendUint32(b, e.Version))
}
