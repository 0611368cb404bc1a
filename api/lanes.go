package api

import (
	"context"
	"errors"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/problem"
)

// Lanes is Pulse over the lanes of a node.
type Lanes struct{ Set *lane.Set }

// asRefusal names what ended a whole transaction, for every item that was in it.
func asRefusal(err error) *engine.Refusal {
	if err == nil {
		return nil
	}
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	p := problem.FromError(err)
	return engine.Refuse(p.Code, p.Detail)
}

// Submit runs submissions in the caller's lane.
func (l Lanes) Submit(ctx context.Context, caller auth.Caller, items []pulse.Submission) []pulse.SubmitOutcome {
	out, err := l.Set.Submit(ctx, caller.Namespace, items)
	if refusal := asRefusal(err); refusal != nil {
		return all(len(items), pulse.SubmitOutcome{Refusal: refusal})
	}
	return out
}

// Claim waits in the caller's lane.
func (l Lanes) Claim(ctx context.Context, caller auth.Caller, claim pulse.Claim, wait time.Duration) ClaimAnswer {
	tasks, refusal, err := l.Set.Claim(ctx, caller.Namespace, claim, wait)
	if failed := asRefusal(err); failed != nil {
		refusal = failed
	}
	return ClaimAnswer{tasks, refusal}
}

// Renew runs renewals in the caller's lane.
func (l Lanes) Renew(ctx context.Context, caller auth.Caller, items []pulse.Renewal) []pulse.RenewalOutcome {
	out, err := l.Set.Renew(ctx, caller.Namespace, items)
	if refusal := asRefusal(err); refusal != nil {
		return all(len(items), pulse.RenewalOutcome{Refusal: refusal})
	}
	return out
}

// Complete runs reports and an optional claim in one transaction of the caller's lane.
func (l Lanes) Complete(ctx context.Context, caller auth.Caller, reports []pulse.Report, claim *pulse.Claim) ([]pulse.ReportOutcome, ClaimAnswer) {
	out, tasks, refusal, err := l.Set.Complete(ctx, caller.Namespace, reports, claim)
	if failed := asRefusal(err); failed != nil {
		return all(len(reports), pulse.ReportOutcome{Refusal: failed}), ClaimAnswer{Refusal: failed}
	}
	return out, ClaimAnswer{tasks, refusal}
}

// Cancel runs a cancel in the caller's lane.
func (l Lanes) Cancel(ctx context.Context, caller auth.Caller, cancel pulse.Cancel) pulse.CancelOutcome {
	out, err := l.Set.Cancel(ctx, caller.Namespace, cancel)
	if refusal := asRefusal(err); refusal != nil {
		return pulse.CancelOutcome{Refusal: refusal}
	}
	return out
}

// Review runs a review in the caller's lane.
func (l Lanes) Review(ctx context.Context, caller auth.Caller, review pulse.ReviewRequest) pulse.ReviewOutcome {
	out, err := l.Set.Review(ctx, caller.Namespace, review)
	if refusal := asRefusal(err); refusal != nil {
		return pulse.ReviewOutcome{Refusal: refusal}
	}
	return out
}

// Retry runs a manual retry in the caller's lane.
func (l Lanes) Retry(ctx context.Context, caller auth.Caller, retry pulse.ManualRetry) pulse.SubmitOutcome {
	out, err := l.Set.Retry(ctx, caller.Namespace, retry)
	if refusal := asRefusal(err); refusal != nil {
		return pulse.SubmitOutcome{Refusal: refusal}
	}
	return out
}

func all[T any](n int, one T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = one
	}
	return out
}
