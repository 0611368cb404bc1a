package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// RenewLeases extends leases and tells the worker what to do; each item stands for itself.
func (s *Server) RenewLeases(ctx context.Context, r httpapi.RenewLeasesRequestObject) (httpapi.RenewLeasesResponseObject, error) {
	c, b := auth.CallerOf(ctx), bodyOf(ctx)
	out := httpapi.RenewLeases200JSONResponse{Items: make([]httpapi.RenewalOutcome, len(r.Body.Items))}
	var good []pulse.Renewal
	var places []int
	for i, item := range r.Body.Items {
		lease, ok := pulse.ParseLeaseToken(item.Token)
		refused := b.itemProblem(i)
		if refused == nil && !ok {
			refused = problem.FromRefusal(noLease())
		}
		if refused != nil {
			out.Items[i] = httpapi.RenewalOutcome{Outcome: "REFUSED", Problem: refused.Append(nil)}
			continue
		}
		out.Items[i].TaskId, out.Items[i].AttemptNo = &r.Body.Items[i].TaskId, &r.Body.Items[i].AttemptNo
		good, places = append(good, pulse.Renewal{
			Credential: c.Credential, Application: c.Application, Task: id(prefixTask, item.TaskId), AttemptNo: uint16(item.AttemptNo),
			Token: lease.Secret, Extend: time.Duration(item.ExtendMs) * time.Millisecond,
			Progress: progressOf(item.Progress),
		}), append(places, i)
	}
	if len(good) == 0 {
		return out, nil
	}
	for k, o := range s.Pulse.Renew(ctx, c, good) {
		answerRenewal(&out.Items[places[k]], o)
	}
	return out, nil
}

func progressOf(p *httpapi.Progress) *pulse.Progress {
	if p == nil {
		return nil
	}
	out := &pulse.Progress{Message: p.Message, Detail: p.Detail}
	if p.Percent != nil {
		percent := uint8(*p.Percent)
		out.Percent = &percent
	}
	return out
}

func answerRenewal(at *httpapi.RenewalOutcome, o pulse.RenewalOutcome) {
	if o.Refusal != nil {
		at.Outcome, at.Problem = "REFUSED", problem.FromRefusal(o.Refusal).Append(nil)
		return
	}
	at.Outcome = httpapi.RenewalOutcomeOutcome(o.Answer)
	if !o.LeaseUntil.IsZero() {
		at.LeaseUntil = &o.LeaseUntil
	}
}

// noLease refuses a token that no claim has given.
func noLease() *engine.Refusal {
	return engine.Refuse("lease_unknown", "no claim has given this token").At("/token")
}
