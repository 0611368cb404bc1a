package api

import (
	"context"
	"encoding/hex"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// results is what the deliveries of one pull are about, read after the commit from rows that never change.
type results struct {
	entries  map[uint64]db.ListStreamEntriesBySeqRow
	tasks    map[string]db.ListResultTasksRow
	attempts map[string]db.ListResultAttemptsRow // by task and the version of the result; number 0: a person's decision
}

// pulled is the answer of a pull. A failure here leaves the deliveries with the consumer's name; asking again, it is
// handed them again.
func (s *Server) pulled(ctx context.Context, p *pull) (httpapi.Pulled, error) {
	out := httpapi.Pulled{Items: []httpapi.Delivery{}, Epoch: int64(p.after.Epoch), InOrder: p.after.InOrder, SettledThrough: p.settled}
	if len(p.answer.Out) == 0 {
		return out, nil
	}
	r, err := s.readResults(ctx, p)
	if err != nil {
		return out, err
	}
	for _, d := range p.answer.Out {
		item := r.delivery(d.Seq)
		item.PreviousSeq, item.Generation, item.AckUntil = int64(d.Previous), int64(d.Generation), d.DueAt
		item.Proof = p.after.Proof(d.Seq, d.Generation)
		out.Items = append(out.Items, item)
	}
	return out, nil
}

func (s *Server) readResults(ctx context.Context, p *pull) (*results, error) {
	r := &results{entries: map[uint64]db.ListStreamEntriesBySeqRow{}, tasks: map[string]db.ListResultTasksRow{}, attempts: map[string]db.ListResultAttemptsRow{}}
	var seqs []uint64
	for _, d := range p.answer.Out {
		seqs = append(seqs, d.Seq-1, d.Seq)
	}
	entries, err := s.q().ListStreamEntriesBySeq(ctx, db.ListStreamEntriesBySeqParams{NamespaceID: p.caller.Namespace, Seqs: seqs})
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		r.entries[e.Seq] = e
	}
	var ids [][]byte
	var versions []uint32
	for _, d := range p.answer.Out {
		e := r.entries[d.Seq]
		ids, versions = append(ids, e.TaskID), append(versions, e.StateVersion)
	}
	if err := r.readTasks(ctx, s.q(), p.caller.Namespace, ids); err != nil {
		return nil, err
	}
	if err := r.readAttempts(ctx, s.q(), p.caller.Namespace, ids, versions); err != nil {
		return nil, err
	}
	return r, r.readReviews(ctx, s.q(), p.caller.Namespace, ids)
}

// readReviews adds the results that a person decided: their output and failure stand in the review, not in an attempt.
func (r *results) readReviews(ctx context.Context, q *db.Queries, namespace uint64, ids [][]byte) error {
	rows, err := q.ListResultReviews(ctx, db.ListResultReviewsParams{NamespaceID: namespace, TaskIds: ids})
	for _, v := range rows {
		r.attempts[resultKey(v.TaskID, v.StateVersion)] = db.ListResultAttemptsRow{
			TaskID: v.TaskID, FailureCode: v.FailureCode, FailureMessage: v.FailureMessage, FailureDetails: v.FailureDetails, Output: v.Output,
		}
	}
	return err
}

func (r *results) readTasks(ctx context.Context, q *db.Queries, namespace uint64, ids [][]byte) error {
	tasks, err := q.ListResultTasks(ctx, db.ListResultTasksParams{NamespaceID: namespace, TaskIds: ids})
	for _, t := range tasks {
		r.tasks[string(t.TaskID)] = t
	}
	return err
}

// resultKey names a result: a task may have several, the one that asked for a review and the one that decided it.
func resultKey(task []byte, version uint32) string {
	return string(task) + string([]byte{byte(version >> 24), byte(version >> 16), byte(version >> 8), byte(version)})
}

func (r *results) readAttempts(ctx context.Context, q *db.Queries, namespace uint64, ids [][]byte, versions []uint32) error {
	events, err := q.ListResultEvents(ctx, db.ListResultEventsParams{NamespaceID: namespace, TaskIds: ids, EventNos: versions})
	if err != nil || len(events) == 0 {
		return err
	}
	var numbers []uint16
	for _, e := range events {
		numbers = append(numbers, e.AttemptNo)
	}
	attempts, err := q.ListResultAttempts(ctx, db.ListResultAttemptsParams{NamespaceID: namespace, TaskIds: ids, AttemptNos: numbers})
	for _, e := range events {
		for _, a := range attempts {
			if string(a.TaskID) == string(e.TaskID) && a.AttemptNo == e.AttemptNo {
				r.attempts[resultKey(e.TaskID, e.EventNo)] = a
			}
		}
	}
	return err
}

func (r *results) delivery(seq uint64) httpapi.Delivery {
	e := r.entries[seq]
	out := httpapi.Delivery{
		Seq: int64(seq), At: e.At, ApplicationId: auth.ApplicationText(e.ApplicationID), QueueId: auth.QueueText(e.QueueID),
		TaskId: idText(prefixTask, e.TaskID), State: httpapi.TaskState(pulse.Public(e.State).String()), StateVersion: int64(e.StateVersion),
		Hash: hex.EncodeToString(e.Hash),
	}
	if before, kept := r.entries[seq-1]; kept {
		out.PreviousHash = hex.EncodeToString(before.Hash)
	} else if seq == 1 {
		out.PreviousHash = hex.EncodeToString(make([]byte, 32))
	}
	var code []byte
	if t, kept := r.tasks[string(e.TaskID)]; kept {
		out.Queue, out.Handler, out.HandlerVersion, out.BusinessKey = string(t.QueueName), string(t.Handler), string(t.HandlerVersion), string(t.BusinessKey)
		if t.StateVersion == e.StateVersion {
			code = t.FailureCode
		}
	}
	a, gave := r.attempts[resultKey(e.TaskID, e.StateVersion)]
	if gave {
		out.Output = a.Output
	}
	if a.AttemptNo > 0 {
		out.AttemptNo = pointer(int32(a.AttemptNo))
	}
	if code == nil {
		code = a.FailureCode
	}
	if pulse.Public(e.State) != pulse.PublicSucceeded {
		out.Failure = failureOf(code, a.FailureMessage, a.FailureDetails)
	}
	return out
}
