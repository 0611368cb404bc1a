package orbit

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// TaskFailure is a task that failed or waits for a person.
type TaskFailure struct {
	TaskID         string    `json:"task_id"`
	State          TaskState `json:"state"`
	StateVersion   int64     `json:"state_version"`
	Source         string    `json:"source"`
	Handler        string    `json:"handler"`
	HandlerVersion string    `json:"handler_version"`
	Code           string    `json:"code"`
	Message        string    `json:"message"`
	AttemptNo      int       `json:"attempt_no"` // that decided; 0: none ran
	BusinessKey    string    `json:"business_key"`
	EffectUnknown  bool      `json:"effect_unknown"` // an attempt ended UNKNOWN
	RetriedBy      string    `json:"retried_by"`
	InstanceID     string    `json:"instance_id"`
	CreatedAt      time.Time `json:"created_at"`
	ChangedAt      time.Time `json:"changed_at"`
	Actions        []string  `json:"actions"` // REVIEW, RETRY, FOLLOW_SUCCESSOR, SUBMIT_NEW, RECOVER_INSTANCE, TRIGGER_SCHEDULE
}

// FailureGroup counts the failures with one code and one handler.
type FailureGroup struct {
	Code           string    `json:"code"`
	Handler        string    `json:"handler"`
	HandlerVersion string    `json:"handler_version"`
	Tasks          int64     `json:"tasks"`
	OldestAt       time.Time `json:"oldest_at"`
	NewestAt       time.Time `json:"newest_at"`
}

// FailureGroups are the failures of a queue by code and handler, the largest group first. Without Complete they are the
// newest Counted.
type FailureGroups struct {
	State    TaskState      `json:"state"`
	Counted  int64          `json:"counted"`
	Complete bool           `json:"complete"`
	Items    []FailureGroup `json:"items"`
}

// FailureFilter chooses failures by state (TaskFailed, also when empty, or TaskNeedsReview) and time of acceptance.
type FailureFilter struct {
	State                      TaskState
	CreatedFrom, CreatedBefore *time.Time
}

func (f FailureFilter) state() *rest.FailureState {
	if f.State == "" {
		return nil
	}
	return new(rest.FailureState(f.State))
}

// Failures walks what failed or waits for a person in a queue, newest first (scope tasks:read).
func (c *Client) Failures(ctx context.Context, queue string, f FailureFilter) iter.Seq2[TaskFailure, error] {
	return pages[TaskFailure](ctx, c, "listFailures", func(cursor *string) (*http.Request, error) {
		return rest.NewListFailuresRequest(c.server, queue, &rest.ListFailuresParams{State: f.state(), CreatedFrom: f.CreatedFrom, CreatedBefore: f.CreatedBefore, Cursor: cursor, Limit: &pageSize})
	})
}

// FailureGroups counts the same by code and handler (scope tasks:read).
func (c *Client) FailureGroups(ctx context.Context, queue string, f FailureFilter) (*FailureGroups, error) {
	return get[FailureGroups](ctx, c, "countFailures", func() (*http.Request, error) {
		return rest.NewCountFailuresRequest(c.server, queue, &rest.CountFailuresParams{State: f.state(), CreatedFrom: f.CreatedFrom, CreatedBefore: f.CreatedBefore})
	})
}
