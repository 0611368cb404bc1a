package orbit

import (
	"context"
	"errors"
	"fmt"

	"github.com/orbitrun/orbit/sdk/flow"
)

// TaskError is a task that has a result, and no output: it failed, was cancelled or needs a person.
type TaskError struct{ Result TaskResult }

// Error names the state and the failure.
func (e *TaskError) Error() string {
	text := fmt.Sprintf("orbit: task %s is %s", e.Result.TaskID, e.Result.State)
	if f := e.Result.Failure; f != nil {
		text += ": " + f.Code + ": " + f.Message
	}
	return text
}

// Output decodes the output of a task that succeeded; any other state is a *TaskError.
func Output[Out any](r *TaskResult) (Out, error) {
	if r.State != TaskSucceeded {
		var none Out
		return none, &TaskError{*r}
	}
	return Decode[Out](r.Output)
}

// TaskOf is a handle of a submitted task whose output is an Out.
type TaskOf[Out any] struct {
	TaskReceipt
	client *Client
}

// Wait waits for the result and decodes the output. A task that did not succeed is a *TaskError, one in NEEDS_REVIEW
// too; waiting again then is fine.
func (t *TaskOf[Out]) Wait(ctx context.Context) (Out, error) {
	result, err := t.client.Wait(ctx, t.TaskID)
	if err != nil {
		var none Out
		return none, err
	}
	return Output[Out](result)
}

// SubmitTo submits a task to a typed handler: queue, handler, version and input come from ref and input, everything
// else from rules.
func SubmitTo[In, Out any](ctx context.Context, c *Client, ref flow.HandlerRef[In, Out], input In, rules Submission) (*TaskOf[Out], error) {
	raw, err := JSON(input)
	if err != nil {
		return nil, err
	}
	rules.Queue, rules.Handler, rules.HandlerVersion, rules.Input = ref.Queue(), ref.Name(), ref.Version(), raw
	receipt, err := c.Submit(ctx, rules)
	if err != nil {
		return nil, err
	}
	return &TaskOf[Out]{TaskReceipt: *receipt, client: c}, nil
}

// InstanceError is an instance that has no output: it failed, was cancelled or needs a person.
type InstanceError struct{ Status InstanceStatus }

// Error names the state and its reason.
func (e *InstanceError) Error() string {
	return fmt.Sprintf("orbit: instance %s is %s: %s", e.Status.InstanceID, e.Status.State, e.Status.Reason)
}

// WaitFor waits for the end of an instance and decodes its output; any other end than success is an *InstanceError.
func WaitFor[Out any](ctx context.Context, i *Instance) (Out, error) {
	status, err := i.Wait(ctx)
	if err == nil && status.State != InstanceSucceeded {
		err = &InstanceError{*status}
	}
	if err != nil {
		var none Out
		return none, err
	}
	return Decode[Out](status.Output)
}

// IsReview reports whether err says that a task or an instance waits for a person.
func IsReview(err error) bool {
	if task, ok := errors.AsType[*TaskError](err); ok {
		return task.Result.State == TaskNeedsReview
	}
	instance, ok := errors.AsType[*InstanceError](err)
	return ok && instance.Status.State == InstanceNeedsReview
}
