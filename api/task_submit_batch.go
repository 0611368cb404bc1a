package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// SubmitTaskBatch accepts up to 32 tasks, each for itself; the outcomes stand in the order of the items (T11).
func (s *Server) SubmitTaskBatch(ctx context.Context, r httpapi.SubmitTaskBatchRequestObject) (httpapi.SubmitTaskBatchResponseObject, error) {
	c, b := auth.CallerOf(ctx), bodyOf(ctx)
	out := httpapi.SubmitTaskBatch200JSONResponse{Items: make([]httpapi.TaskBatchOutcome, len(r.Body.Items))}
	var good []pulse.Submission
	var places []int
	for i := range r.Body.Items {
		item, refused := s.batchSubmission(ctx, c, b, i, &r.Body.Items[i])
		if refused != nil {
			out.Items[i].Problem = refused.Append(nil)
			continue
		}
		good, places = append(good, item), append(places, i)
	}
	if len(good) == 0 {
		return out, nil
	}
	for k, o := range s.Pulse.Submit(ctx, c, good) {
		at := &out.Items[places[k]]
		if o.Refusal != nil {
			at.Problem = problem.FromRefusal(o.Refusal).Append(nil)
			continue
		}
		at.Receipt, at.Replayed = o.Receipt, o.Replayed
	}
	return out, nil
}

func (s *Server) batchSubmission(ctx context.Context, c auth.Caller, b *body, i int, item *httpapi.TaskSubmission) (pulse.Submission, *problem.Problem) {
	if refused := b.itemProblem(i); refused != nil {
		return pulse.Submission{}, refused
	}
	out, err := s.submission(ctx, c, item, b.item(i))
	if err != nil {
		return out, problem.FromError(err)
	}
	return out, nil
}
