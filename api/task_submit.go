package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/contract"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// SubmitTask accepts one task; accepted means durable. A replay answers with the first receipt's bytes.
func (s *Server) SubmitTask(ctx context.Context, r httpapi.SubmitTaskRequestObject) (httpapi.SubmitTaskResponseObject, error) {
	c := auth.CallerOf(ctx)
	item, err := s.submission(ctx, c, r.Body, bodyOf(ctx).tree)
	if err != nil {
		return nil, err
	}
	out := s.Pulse.Submit(ctx, c, []pulse.Submission{item})[0]
	if out.Refusal != nil {
		return nil, out.Refusal
	}
	return frozen{201, out.Receipt, out.Replayed}, nil
}

// submission turns a checked request into the engine's; tree is the exact tree of the same item.
func (s *Server) submission(ctx context.Context, c auth.Caller, r *httpapi.TaskSubmission, tree exact.Value) (pulse.Submission, error) {
	input, _ := tree.Get("input")
	out := pulse.Submission{
		Credential: c.Credential, Application: c.Application, TaskID: store.NewID(), Key: r.SubmitKey, QueueName: r.Queue,
		Handler: r.Handler, HandlerVersion: r.HandlerVersion, Input: r.Input, InputDigest: input.Digest(),
		BusinessKey: r.BusinessKey, ResourceKey: r.ResourceKey, Priority: uint8(r.Priority), DelayMS: r.DelayMs,
		DeadlineMS: r.DeadlineMs, AttemptTimeoutMS: r.AttemptTimeoutMs, Retry: retryOf(r.RetryPolicy), Lost: lostOf(r.LostPolicy),
		OutputContract: r.OutputContract, Traceparent: traceOf(ctx), Source: pulse.SourceDirect,
		Attributes: attributesOf(r.Attributes),
	}
	if err := slotOf(r, &out.Slot); err != nil {
		return out, err
	}
	if refusal := out.Check(); refusal != nil {
		return out, refusal
	}
	if err := checkContract(tree); err != nil {
		return out, err
	}
	var err error
	out.Queue, err = s.Queues.ID(ctx, c, r.Queue)
	if err == nil && out.Queue == 0 {
		err = engine.Refuse("queue_unknown", "create the queue first").At("/queue")
	}
	return out, err
}

// attributesOf sorts by name: the order of the request is not part of what was asked.
func attributesOf(list []httpapi.Attribute) []pulse.Attribute {
	out := make([]pulse.Attribute, len(list))
	for i, a := range list {
		out[i] = pulse.Attribute{Name: a.Name, Value: a.Value, At: i}
	}
	slices.SortStableFunc(out, func(a, b pulse.Attribute) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func slotOf(r *httpapi.TaskSubmission, rule *pulse.SlotRule) error {
	switch {
	case r.Unique != nil && r.Debounce != nil:
		return engine.Refuse("request_invalid", "a task is unique or debounced, not both").At("/debounce")
	case r.Unique != nil:
		*rule = pulse.SlotRule{Kind: pulse.SlotUnique, Key: r.Unique.Key, WindowMS: r.Unique.WindowMs}
	case r.Debounce != nil:
		*rule = pulse.SlotRule{Kind: pulse.SlotDebounce, Key: r.Debounce.Key, DelayMS: r.Debounce.DelayMs, MaxWaitMS: r.Debounce.MaxWaitMs}
	}
	return nil
}

func retryOf(r httpapi.RetryPolicy) pulse.Retry {
	return pulse.Retry{
		Kind: pulse.RetryKind(r.Kind), MaxAttempts: uint16(r.MaxAttempts), JitterPercent: uint8(r.JitterPercent), DelayMS: r.DelayMs,
		StepMS: r.StepMs, Factor: int64(r.Factor), MaxDelayMS: r.MaxDelayMs, DelaysMS: r.DelaysMs,
	}
}

func lostOf(name string) pulse.LostPolicy {
	if name == "RETRY" {
		return pulse.LostRetry
	}
	return pulse.LostReview
}

// checkContract refuses an output contract that could not be applied later, when nobody is there to repair it.
func checkContract(tree exact.Value) error {
	text, ok := tree.Get("output_contract")
	if !ok {
		return nil
	}
	_, problems := contract.Compile(text)
	if len(problems) == 0 {
		return nil
	}
	var faults []problem.Fault
	for _, p := range problems {
		faults = append(faults, problem.Fault{Code: p.Code, In: "body", Pointer: "/output_contract" + p.Pointer, Detail: p.Detail})
	}
	out := problem.New("contract_invalid", faults[0].Detail)
	out.Errors = faults
	return out
}
