package api

import (
	"context"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ClaimTasks starts attempts and waits for the first of them. The wait ends early, with nothing, when the node drains.
func (s *Server) ClaimTasks(ctx context.Context, r httpapi.ClaimTasksRequestObject) (httpapi.ClaimTasksResponseObject, error) {
	c := auth.CallerOf(ctx)
	claim, err := s.claim(ctx, c, r.Body, "")
	if err != nil {
		return nil, err
	}
	polling, cancel := s.polling(ctx)
	defer cancel()
	out := s.Pulse.Claim(polling, c, claim, time.Duration(r.Body.WaitMs)*time.Millisecond)
	if out.Refusal != nil {
		if polling.Err() != nil && ctx.Err() == nil {
			return httpapi.ClaimTasks200JSONResponse{}, nil
		}
		return nil, out.Refusal
	}
	return httpapi.ClaimTasks200JSONResponse{Tasks: granted(out.Tasks)}, nil
}

// polling is a request's context that also ends when the node drains.
func (s *Server) polling(ctx context.Context) (context.Context, context.CancelFunc) {
	polling, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.drain, cancel)
	return polling, func() { stop(); cancel() }
}

// claim resolves the names of a checked request; under is the pointer of the claim in its body.
func (s *Server) claim(ctx context.Context, c auth.Caller, r *httpapi.ClaimRequest, under string) (pulse.Claim, error) {
	out := pulse.Claim{
		Credential: c.Credential, Application: c.Application, Worker: r.Worker, Tasks: int(r.MaxTasks),
		Lease: time.Duration(r.LeaseMs) * time.Millisecond, Key: r.ClaimKey, Question: uint32(r.Question),
	}
	if r.Question > 0 && r.ClaimKey == "" {
		return out, engine.Refuse("request_invalid", "a claim that is asked again is known by its claim_key").At(under + "/claim_key")
	}
	for i, name := range r.Queues {
		queue, err := s.Queues.ID(ctx, c, name)
		if err != nil {
			return out, err
		}
		if queue == 0 {
			missing := problem.Missing("queue")
			missing.Errors = []problem.Fault{{Code: missing.Code, In: "body", Pointer: fmt.Sprintf("%s/queues/%d", under, i), Detail: missing.Detail}}
			return out, missing
		}
		out.Queues = append(out.Queues, queue)
	}
	for _, h := range r.Handlers {
		out.Handlers = append(out.Handlers, pulse.HandlerHash(h.Handler, h.HandlerVersion))
	}
	return out, nil
}

func granted(tasks []lane.Granted) []httpapi.ClaimedTask {
	out := make([]httpapi.ClaimedTask, len(tasks))
	for i := range tasks {
		t, row := &tasks[i].Task, &tasks[i].Payload
		out[i] = httpapi.ClaimedTask{
			TaskId: t.ID.Text(prefixTask), AttemptNo: int32(t.AttemptNo), Token: tasks[i].Token(), Queue: string(row.QueueName),
			Handler: string(row.Handler), HandlerVersion: string(row.HandlerVersion), Input: row.Input, BusinessKey: string(row.BusinessKey),
			ResourceKey: string(row.ResourceKey), Traceparent: string(row.Traceparent), Priority: int32(t.Priority), StartedAt: t.StartedAt,
			LeaseUntil: t.LeaseUntil, DeadlineAt: t.DeadlineAt, AttemptDeadlineAt: t.AttemptDeadline(), MaxAttempts: int32(t.MaxAttempts),
			AttemptsUsed: int32(t.AttemptsUsed),
		}
	}
	return out
}
