package orbit

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// CancelReceipt is what a cancel met.
type CancelReceipt struct {
	TaskID          string    `json:"task_id"`
	State           TaskState `json:"state"`            // CANCELLED when it waited; RUNNING when it was asked; else what it had ended as
	CancelRequested bool      `json:"cancel_requested"` // whether a running attempt was asked to stop; its real outcome decides
	At              time.Time `json:"at"`
	Replayed        bool      `json:"-"`
}

// Cancel asks for the end of a task (scope tasks:cancel). A waiting task ends at once; a running one is asked through
// its worker's next renewal, and its real outcome decides; a finished one stays what it is (T15). reason is kept in the
// audit.
func (c *Client) Cancel(ctx context.Context, taskID, reason string) (*CancelReceipt, error) {
	return c.CancelWithKey(ctx, taskID, reason, NewKey())
}

// CancelWithKey is Cancel with the caller's idempotency key, so that it can be asked again after a crash.
func (c *Client) CancelWithKey(ctx context.Context, taskID, reason, key string) (*CancelReceipt, error) {
	body, err := object(struct {
		Reason string `json:"reason"`
	}{reason})
	if err != nil {
		return nil, err
	}
	var receipt CancelReceipt
	header, err := c.do(ctx, call{operation: "cancelTask", key: key, out: &receipt, build: func() (*http.Request, error) {
		return rest.NewCancelTaskRequestWithBody(c.server, taskID, &rest.CancelTaskParams{IdempotencyKey: key}, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}
