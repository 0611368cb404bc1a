package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Review is a person's decision about a task in NEEDS_REVIEW. It ends the task, gives its permit and resource key back,
// and rewrites neither attempts nor late evidence.
type Review struct {
	Key                string          // idempotency key; empty: a new one
	Decision           TaskState       // TaskSucceeded or TaskFailed
	ExpectedVersion    int64           // StateVersion of the task the decision is about
	Reason             string          // kept in the audit, at most 1024 bytes
	Evidence           json.RawMessage // what the decision rests on, at most 64 KiB
	AllExecutionsEnded bool            // the reviewer's own statement; the server demands it
	Output             json.RawMessage // TaskSucceeded only; held to the task's contract
	Failure            *Failure        // TaskFailed only; nil: review_failed
}

type reviewWire struct {
	Decision           TaskState `json:"decision"`
	ExpectedVersion    int64     `json:"expected_version"`
	Reason             string    `json:"reason"`
	AllExecutionsEnded bool      `json:"all_executions_ended"`
}

// ReviewReceipt is the frozen answer to a review.
type ReviewReceipt struct {
	TaskID       string    `json:"task_id"`
	State        TaskState `json:"state"`
	StateVersion int64     `json:"state_version"`
	DecidedBy    string    `json:"decided_by"`
	At           time.Time `json:"at"`
	Replayed     bool      `json:"-"`
}

// TaskReview is the stored decision about a task.
type TaskReview struct {
	TaskID       string          `json:"task_id"`
	Decision     TaskState       `json:"decision"`
	StateVersion int64           `json:"state_version"`
	DecidedBy    string          `json:"decided_by"`
	At           time.Time       `json:"at"`
	Reason       string          `json:"reason"`
	Evidence     json.RawMessage `json:"evidence"` // byte for byte as given
	Output       json.RawMessage `json:"output"`
	Failure      *Failure        `json:"failure"`
}

func (r Review) body() ([]byte, error) {
	parts := []payload{{"evidence", r.Evidence}, {"output", r.Output}}
	if r.Failure != nil {
		failure, err := object(Failure{Code: r.Failure.Code, Message: r.Failure.Message}, payload{"details", r.Failure.Details})
		if err != nil {
			return nil, err
		}
		parts = append(parts, payload{"failure", failure})
	}
	return object(reviewWire{r.Decision, r.ExpectedVersion, r.Reason, r.AllExecutionsEnded}, parts...)
}

// Review decides about a task (scope tasks:review). Somebody else's earlier decision is review_decided, whose Subject is
// the key that made it.
func (c *Client) Review(ctx context.Context, taskID string, r Review) (*ReviewReceipt, error) {
	r.Key = keyOr(r.Key)
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	var receipt ReviewReceipt
	header, err := c.do(ctx, call{operation: "reviewTask", key: r.Key, out: &receipt, build: func() (*http.Request, error) {
		return rest.NewReviewTaskRequestWithBody(c.server, taskID, &rest.ReviewTaskParams{IdempotencyKey: r.Key}, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}

// TaskReview reads the decision about a task (scope tasks:audit:read); review_not_found when nobody decided.
func (c *Client) TaskReview(ctx context.Context, taskID string) (*TaskReview, error) {
	return get[TaskReview](ctx, c, "getTaskReview", func() (*http.Request, error) { return rest.NewGetTaskReviewRequest(c.server, taskID) })
}
