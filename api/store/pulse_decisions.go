package store

import (
	"context"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// decisions reads what reviews and manual retries are judged by: who decided before, what is repeated, and by whom it
// was repeated already. All of it changes only under the quota row, which is held, so plain reads are exact.
func (l *pulseLoad) decisions(ctx context.Context, t tx.AfterSteps) error {
	if err := l.reviewed(ctx, t.Tx); err != nil {
		return err
	}
	var repeated []engine.ID
	for r := range l.batch.EachRetry() {
		repeated = append(repeated, r.Task)
	}
	if len(repeated) == 0 {
		return nil
	}
	tasks := Bytes(repeated)
	rows, err := t.LockTaskOriginals(ctx, tasks)
	if err != nil {
		return err
	}
	l.s.Originals = map[engine.ID]pulse.Original{}
	for i := range rows {
		if l.s.Originals[ID(rows[i].TaskID)], err = original(&rows[i]); err != nil {
			return err
		}
	}
	retries, err := t.Queries().ListTaskRetries(ctx, db.ListTaskRetriesParams{NamespaceID: t.Namespace(), TaskIds: tasks})
	l.s.Retried = map[engine.ID]engine.ID{}
	for _, r := range retries {
		l.s.Retried[ID(r.TaskID)] = ID(r.SuccessorID)
	}
	return err
}

// reviewed asks who decided about the tasks that are no longer open: those in review have nobody yet.
func (l *pulseLoad) reviewed(ctx context.Context, t *tx.Tx) error {
	var over []engine.ID
	for i := range l.batch.Reviews {
		if task := l.batch.Reviews[i].Task; l.s.Open[task].State == 0 {
			over = append(over, task)
		}
	}
	if len(over) == 0 {
		return nil
	}
	rows, err := t.Queries().ListTaskReviews(ctx, db.ListTaskReviewsParams{NamespaceID: t.Namespace(), TaskIds: Bytes(over)})
	l.s.Reviewed = map[engine.ID]pulse.Reviewed{}
	for _, r := range rows {
		l.s.Reviewed[ID(r.TaskID)] = pulse.Reviewed{By: string(r.DecidedBy), Decision: pulse.Public(r.Decision), At: r.At}
	}
	return err
}

// original turns a stored task back into the request it was. Its total deadline becomes a duration again.
func original(r *db.LockTaskOriginalsRow) (pulse.Original, error) {
	retry, err := pulse.ParseRetry(r.RetryPolicy)
	return pulse.Original{
		State: pulse.Public(r.State), Version: r.StateVersion, Source: pulse.Source(r.Source),
		Submission: pulse.Submission{
			Application: r.ApplicationID, Queue: r.QueueID, Handler: string(r.Handler), HandlerVersion: string(r.HandlerVersion),
			Input: r.Input, BusinessKey: string(r.BusinessKey), ResourceKey: string(r.ResourceKey), Priority: r.Priority,
			DeadlineMS: r.DeadlineAt.Sub(r.CreatedAt).Milliseconds(), AttemptTimeoutMS: int64(r.AttemptTimeoutMs), Retry: retry,
			Lost: pulse.LostPolicy(r.LostPolicy), OutputContract: r.OutputContract,
		},
	}, err
}

func (a *pulseApply) reviews() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertTaskReview), mapped(a.c.Reviews, func(w *pulse.ReviewWrite) db.InsertTaskReviewParams {
		return db.InsertTaskReviewParams{
			NamespaceID: a.ns, TaskID: w.Task[:], Decision: uint8(w.Reviewed.Decision), StateVersion: w.Version, DecidedBy: []byte(w.Reviewed.By),
			At: w.Reviewed.At, Reason: []byte(w.Reason), FailureCode: Text(w.FailureCode), FailureMessage: Text(w.FailureMessage),
			FailureDetails: w.FailureDetails, Evidence: w.Evidence, Output: w.Output,
		}
	}))
}

func (a *pulseApply) retries() error {
	return tx.Many(a.ctx, a.t, tx.Rows((*db.Queries).InsertTaskRetry), mapped(a.c.Retries, func(w *pulse.RetryWrite) db.InsertTaskRetryParams {
		return db.InsertTaskRetryParams{
			NamespaceID: a.ns, TaskID: w.Task[:], SuccessorID: w.Successor[:], RetriedBy: []byte(w.By), At: a.s.Now, Reason: []byte(w.Reason),
		}
	}))
}
