package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// CompleteTasks takes reports and, when asked, starts the next tasks in the same transaction. The reports stand even
// when the claim is refused.
func (s *Server) CompleteTasks(ctx context.Context, r httpapi.CompleteTasksRequestObject) (httpapi.CompleteTasksResponseObject, error) {
	c, b := auth.CallerOf(ctx), bodyOf(ctx)
	out := httpapi.CompleteTasks200JSONResponse{Items: make([]httpapi.CompletionOutcome, len(r.Body.Items)), Tasks: []httpapi.ClaimedTask{}}
	var good []pulse.Report
	var places []int
	for i := range r.Body.Items {
		report, refused := s.batchReport(c, b, i, &r.Body.Items[i])
		if refused != nil {
			out.Items[i] = httpapi.CompletionOutcome{Outcome: "REFUSED", Problem: refused.Append(nil)}
			continue
		}
		out.Items[i].TaskId, out.Items[i].AttemptNo = &r.Body.Items[i].TaskId, &r.Body.Items[i].AttemptNo
		good, places = append(good, report), append(places, i)
	}
	claim := s.nextClaim(ctx, c, r.Body, &out)
	if len(good) == 0 && claim == nil {
		return out, nil
	}
	outcomes, next := s.Pulse.Complete(ctx, c, good, claim)
	for k, o := range outcomes {
		answerReport(&out.Items[places[k]], o)
	}
	if next.Refusal != nil {
		out.ClaimProblem = problem.FromRefusal(next.Refusal).Append(nil)
	}
	out.Tasks = granted(next.Tasks)
	return out, nil
}

// nextClaim resolves the claim that comes with reports; when it cannot be, the reports go on without it.
func (s *Server) nextClaim(ctx context.Context, c auth.Caller, r *httpapi.CompletionBatch, out *httpapi.CompleteTasks200JSONResponse) *pulse.Claim {
	if r.Claim == nil {
		return nil
	}
	claim, err := s.claim(ctx, c, r.Claim, "/claim")
	if err != nil {
		out.ClaimProblem = problem.FromError(err).Append(nil)
		return nil
	}
	return &claim
}

func answerReport(at *httpapi.CompletionOutcome, o pulse.ReportOutcome) {
	if o.Refusal != nil {
		at.Outcome, at.Problem = "REFUSED", problem.FromRefusal(o.Refusal).Append(nil)
		return
	}
	at.Outcome = httpapi.CompletionOutcomeOutcome(o.Status)
	if name := o.TaskState.String(); name != "" {
		at.State = pointer(httpapi.TaskState(name))
	}
}

// batchReport turns one checked item into the engine's report, or says what is wrong with it.
func (s *Server) batchReport(c auth.Caller, b *body, i int, item *httpapi.Completion) (pulse.Report, *problem.Problem) {
	if refused := b.itemProblem(i); refused != nil {
		return pulse.Report{}, refused
	}
	if refusal := fitting(item); refusal != nil {
		return pulse.Report{}, problem.FromRefusal(refusal)
	}
	lease, ok := pulse.ParseLeaseToken(item.Token)
	if !ok {
		return pulse.Report{}, problem.FromRefusal(noLease())
	}
	out := pulse.Report{
		Credential: c.Credential, Application: c.Application, Queue: lease.Queue, Task: id(prefixTask, item.TaskId), AttemptNo: uint16(item.AttemptNo),
		Token: lease.Secret, Outcome: reported(item), Output: item.Output, Text: evidence(b.item(i)),
	}
	if out.Outcome == pulse.Succeeded && out.Output == nil {
		out.Output = []byte("null")
	}
	if f := item.Failure; f != nil {
		out.FailureCode, out.FailureMessage, out.FailureDetails = f.Code, f.Message, f.Details
	}
	return out, nil
}

// fitting refuses fields that do not go with the outcome: what is said about an effect must not be half ignored.
func fitting(item *httpapi.Completion) *engine.Refusal {
	contradiction := func(pointer, detail string) *engine.Refusal {
		return engine.Refuse("request_invalid", detail).At(pointer)
	}
	succeeded, failed := item.Outcome == "SUCCEEDED", item.Outcome == "FAILED"
	switch {
	case item.Output != nil && !succeeded:
		return contradiction("/output", "an output goes with SUCCEEDED only")
	case item.Retryable && !failed:
		return contradiction("/retryable", "retryable goes with FAILED only")
	case item.Failure != nil && succeeded:
		return contradiction("/failure", "a failure does not go with SUCCEEDED")
	case item.Failure == nil && failed:
		return contradiction("/failure", "FAILED needs a failure with a code")
	}
	return nil
}

func reported(item *httpapi.Completion) pulse.Outcome {
	switch item.Outcome {
	case "SUCCEEDED":
		return pulse.Succeeded
	case "FAILED":
		if item.Retryable {
			return pulse.Retryable
		}
		return pulse.Permanent
	case "CANCELLED":
		return pulse.Cancelled
	case "RETURNED":
		return pulse.Returned
	}
	return pulse.Unknown
}

// evidence is the whole report without its token, which is nobody's business later.
func evidence(item exact.Value) []byte {
	var members []exact.Member
	for _, m := range item.Members() {
		if m.Name != "token" {
			members = append(members, m)
		}
	}
	return exact.Object(members...).Append(nil)
}
