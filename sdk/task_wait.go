package orbit

import (
	"context"
	"time"
)

const (
	waitFirst = 20 * time.Millisecond
	waitMax   = time.Second
)

// Wait waits until a task has a result (scope tasks:read). It returns at NEEDS_REVIEW too, because a person may take
// days: look at State. It asks again in growing steps of at most a second and goes on through restarts of the server;
// only ctx bounds it.
func (c *Client) Wait(ctx context.Context, taskID string) (*TaskResult, error) {
	return await(ctx, func() (*TaskResult, bool, error) {
		result, err := c.TaskResult(ctx, taskID)
		return result, err == nil, err
	})
}

// await asks until done, an error that stays, or the end of ctx.
func await[T any](ctx context.Context, ask func() (value T, done bool, err error)) (T, error) {
	for wait := waitFirst; ; wait = min(wait*3/2, waitMax) {
		value, done, err := ask()
		if done || err != nil && !HasCode(err, "result_pending") && !Repeatable(err) {
			return value, err
		}
		if stopped := sleep(ctx, wait); stopped != nil {
			return value, stopped
		}
	}
}
