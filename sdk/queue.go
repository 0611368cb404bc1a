package orbit

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Queue is a queue with its limits, exact counters and depth.
type Queue struct {
	QueueID            string          `json:"queue_id"`
	Name               string          `json:"name"`
	OpenTasksMax       int64           `json:"open_tasks_max"`
	RunningAttemptsMax int64           `json:"running_attempts_max"`
	Paused             bool            `json:"paused"`
	Draining           bool            `json:"draining"`
	Holds              []QueueHold     `json:"holds"` // why, where a command said so
	Rate               *QueueRateState `json:"rate"`  // nil: no limit
	OpenTasks          int64           `json:"open_tasks"`
	RunningAttempts    int64           `json:"running_attempts"`
	Depth              QueueDepth      `json:"depth"`
	OldestAgeMS        *int64          `json:"oldest_age_ms"` // nil when nothing is ready
	Version            int64           `json:"version"`
	CreatedAt          time.Time       `json:"created_at"`
}

// QueueDepth counts open tasks by what they wait for.
type QueueDepth struct {
	Ready       int64 `json:"ready"`
	Delayed     int64 `json:"delayed"`
	WaitingKey  int64 `json:"waiting_key"`
	WaitingGate int64 `json:"waiting_gate"`
	Running     int64 `json:"running"`
	NeedsReview int64 `json:"needs_review"`
}

// QueueHold says why a queue is paused or draining.
type QueueHold struct {
	Kind   string    `json:"kind"` // PAUSED or DRAINING
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// QueueRate limits the starts of a queue: Tokens come back per period, evenly, and up to Burst are saved. No stretch of
// one period sees more than Burst + Tokens starts.
type QueueRate struct {
	Tokens   int64 `json:"tokens"`
	PeriodMS int64 `json:"period_ms"`
	Burst    int64 `json:"burst"`
}

// QueueRateState is a rate and how many starts it would pay now.
type QueueRateState struct {
	QueueRate
	Available int64 `json:"available"`
}

// QueueSettings are a queue's limits and switches. A nil ExpectedVersion replaces whatever is there; 0 demands that the
// queue does not exist yet.
type QueueSettings struct {
	OpenTasksMax       int64      `json:"open_tasks_max"`
	RunningAttemptsMax int64      `json:"running_attempts_max"`
	Paused             bool       `json:"paused,omitempty"`
	Draining           bool       `json:"draining,omitempty"`
	Rate               *QueueRate `json:"rate,omitempty"` // nil: no limit
	ExpectedVersion    *int64     `json:"expected_version,omitempty"`
}

// PutQueue creates or changes a queue (scope queues:manage). The same settings again change nothing.
func (c *Client) PutQueue(ctx context.Context, name string, s QueueSettings) (*Queue, error) {
	body, err := object(s)
	if err != nil {
		return nil, err
	}
	return get[Queue](ctx, c, "putQueue", func() (*http.Request, error) {
		return rest.NewPutQueueRequestWithBody(c.server, name, jsonBody, bytes.NewReader(body))
	})
}

// GetQueue reads a queue (scope tasks:read).
func (c *Client) GetQueue(ctx context.Context, name string) (*Queue, error) {
	return get[Queue](ctx, c, "getQueue", func() (*http.Request, error) { return rest.NewGetQueueRequest(c.server, name) })
}

// Queues walks the queues of the application by name (scope tasks:read).
func (c *Client) Queues(ctx context.Context) iter.Seq2[Queue, error] {
	return pages[Queue](ctx, c, "listQueues", func(cursor *string) (*http.Request, error) {
		return rest.NewListQueuesRequest(c.server, &rest.ListQueuesParams{Cursor: cursor, Limit: &pageSize})
	})
}

// Whoami is who the key is.
type Whoami struct {
	NamespaceID   string     `json:"namespace_id"`
	Namespace     string     `json:"namespace"`
	ApplicationID string     `json:"application_id"`
	Application   string     `json:"application"`
	CredentialID  string     `json:"credential_id"`
	Credential    string     `json:"credential"`
	Scopes        []string   `json:"scopes"`
	ExpiresAt     *time.Time `json:"expires_at"`
}

// Whoami asks the server who the key is; any valid key may.
func (c *Client) Whoami(ctx context.Context) (*Whoami, error) {
	return get[Whoami](ctx, c, "whoami", func() (*http.Request, error) { return rest.NewWhoamiRequest(c.server) })
}
