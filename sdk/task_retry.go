package orbit

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Retry asks for a new task that repeats one which failed or was cancelled and left no unknown effect.
type Retry struct {
	SubmitKey       string        // of the new task; empty: a new one
	ExpectedVersion int64         // StateVersion of the task that is repeated
	Reason          string        // kept in the audit, at most 1024 bytes
	Deadline        time.Duration // total time of the new task; 0: as long as the original had
}

type retryTaskWire struct {
	SubmitKey       string `json:"submit_key"`
	ExpectedVersion int64  `json:"expected_version"`
	Reason          string `json:"reason"`
	DeadlineMS      int64  `json:"deadline_ms,omitempty"`
}

// RetryReceipt is the frozen acceptance of the new task.
type RetryReceipt struct {
	TaskID      string    `json:"task_id"`
	Queue       string    `json:"queue"`
	State       TaskState `json:"state"`
	AcceptedAt  time.Time `json:"accepted_at"`
	AvailableAt time.Time `json:"available_at"`
	DeadlineAt  time.Time `json:"deadline_at"`
	RetryOf     string    `json:"retry_of"`
	Replayed    bool      `json:"-"`
}

// Retry repeats an ended task under today's limits (scope tasks:retry). A task has one direct successor: a second try is
// retry_exists, whose Subject is the successor.
func (c *Client) Retry(ctx context.Context, taskID string, r Retry) (*RetryReceipt, error) {
	r.SubmitKey = keyOr(r.SubmitKey)
	body, err := object(retryTaskWire{r.SubmitKey, r.ExpectedVersion, r.Reason, milliseconds(r.Deadline)})
	if err != nil {
		return nil, err
	}
	var receipt RetryReceipt
	header, err := c.do(ctx, call{operation: "retryTask", key: r.SubmitKey, out: &receipt, build: func() (*http.Request, error) {
		return rest.NewRetryTaskRequestWithBody(c.server, taskID, nil, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}

// TaskBlocker is one thing that keeps a task from running. READY is none: only a worker is missing.
type TaskBlocker struct {
	Kind        string     `json:"kind"`         // REVIEW, DEADLINE, AVAILABLE_AT, GATE, RESOURCE_KEY, QUEUE_PAUSED, QUEUE_LIMIT, QUEUE_RATE, APPLICATION_LIMIT, TASKS_AHEAD or READY
	At          *time.Time `json:"at"`           // AVAILABLE_AT and DEADLINE; QUEUE_RATE: when the next token is there
	Limit       int64      `json:"limit"`        // the limit that is met; QUEUE_RATE: starts per period; TASKS_AHEAD: how far is counted
	Current     int64      `json:"current"`      // what runs now; TASKS_AHEAD: how many come first
	Holder      string     `json:"holder"`       // RESOURCE_KEY: the task that holds it; empty when it is another application's
	HolderState TaskState  `json:"holder_state"` // RESOURCE_KEY
	InstanceID  string     `json:"instance_id"`  // GATE
	Reason      string     `json:"reason"`       // QUEUE_PAUSED: what the operator said
	Detail      string     `json:"detail"`       // for people
}

// TaskBlockers says why a task is not running, at one moment.
type TaskBlockers struct {
	TaskID string        `json:"task_id"`
	State  TaskState     `json:"state"`
	At     time.Time     `json:"at"`
	Items  []TaskBlocker `json:"items"` // in the order a claim meets them; empty: it runs or has ended
}

// Blockers answers "why is it not running?" (scope tasks:read).
func (c *Client) Blockers(ctx context.Context, taskID string) (*TaskBlockers, error) {
	return get[TaskBlockers](ctx, c, "listTaskBlockers", func() (*http.Request, error) { return rest.NewListTaskBlockersRequest(c.server, taskID) })
}
