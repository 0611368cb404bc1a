package orbit

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// GetTask reads a task (scope tasks:read).
func (c *Client) GetTask(ctx context.Context, taskID string) (*Task, error) {
	return get[Task](ctx, c, "getTask", func() (*http.Request, error) { return rest.NewGetTaskRequest(c.server, taskID) })
}

// TaskSource reads where a task came from (scope tasks:read).
func (c *Client) TaskSource(ctx context.Context, taskID string) (*TaskSource, error) {
	return get[TaskSource](ctx, c, "getTaskSource", func() (*http.Request, error) { return rest.NewGetTaskSourceRequest(c.server, taskID) })
}

// TaskResult reads the result of a task (scope tasks:read); result_pending before there is one. Wait waits for it.
func (c *Client) TaskResult(ctx context.Context, taskID string) (*TaskResult, error) {
	return get[TaskResult](ctx, c, "getTaskResult", func() (*http.Request, error) { return rest.NewGetTaskResultRequest(c.server, taskID) })
}

func get[T any](ctx context.Context, c *Client, operation string, build func() (*http.Request, error)) (*T, error) {
	var out T
	if _, err := c.do(ctx, call{operation: operation, out: &out, build: build}); err != nil {
		return nil, err
	}
	return &out, nil
}

// TaskFilter selects the tasks of one queue. Zero fields select everything.
type TaskFilter struct {
	Queue         string // required
	State         TaskState
	BusinessKey   string    // exactly this key
	Attribute     string    // name:value, exactly; not together with BusinessKey
	CreatedFrom   time.Time // at this time or later
	CreatedBefore time.Time
}

// ListTasks walks the tasks of a queue by creation time, oldest first (scope tasks:read). It reads pages of 200 as the
// caller goes; an error is the last thing it yields.
func (c *Client) ListTasks(ctx context.Context, f TaskFilter) iter.Seq2[TaskSummary, error] {
	return pages[TaskSummary](ctx, c, "listTasks", func(cursor *string) (*http.Request, error) {
		return rest.NewListTasksRequest(c.server, &rest.ListTasksParams{
			Queue: f.Queue, State: set(rest.StateFilterParam(f.State)), BusinessKey: set(f.BusinessKey), Attribute: set(f.Attribute),
			CreatedFrom: setTime(f.CreatedFrom), CreatedBefore: setTime(f.CreatedBefore), Cursor: cursor, Limit: &pageSize,
		})
	})
}

// TaskAttempts walks the executions that have ended (scope tasks:read).
func (c *Client) TaskAttempts(ctx context.Context, taskID string) iter.Seq2[Attempt, error] {
	return pages[Attempt](ctx, c, "listTaskAttempts", func(cursor *string) (*http.Request, error) {
		return rest.NewListTaskAttemptsRequest(c.server, taskID, &rest.ListTaskAttemptsParams{Cursor: cursor, Limit: &pageSize})
	})
}

// TaskEvents walks every change of the task in order (scope tasks:read).
func (c *Client) TaskEvents(ctx context.Context, taskID string) iter.Seq2[TaskEvent, error] {
	return pages[TaskEvent](ctx, c, "listTaskEvents", func(cursor *string) (*http.Request, error) {
		return rest.NewListTaskEventsRequest(c.server, taskID, &rest.ListTaskEventsParams{Cursor: cursor, Limit: &pageSize})
	})
}

// LateEvidence reads what workers said after their attempts had been closed, at most 200 (scope tasks:audit:read).
func (c *Client) LateEvidence(ctx context.Context, taskID string) ([]LateEvidence, error) {
	p, err := get[page[LateEvidence]](ctx, c, "listLateEvidence", func() (*http.Request, error) {
		return rest.NewListLateEvidenceRequest(c.server, taskID)
	})
	if err != nil {
		return nil, err
	}
	return p.Items, nil
}

func set[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

func setTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
