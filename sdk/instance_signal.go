package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Signal is content for one step of an instance. The same Key with the same content gives the first receipt again.
type Signal struct {
	Key          string          // 1 to 255 bytes, unique in the application; empty: a random one (see the package comment)
	Step         string          // a SIGNAL step, or a POLL step with a final signal
	ActivationNo int             // the step's activation; 0 means 1, which is also right while the step has never begun
	Signal       string          // name of the contract the definition waits for
	Version      string          // version of that contract
	Correlation  string          // 1 to 512 bytes, compared byte by byte with what the wait asks for
	Content      json.RawMessage // any JSON the contract allows, at most 256 KiB, kept byte for byte
	Reason       string          // kept in the audit
}

type signalWire struct {
	Step         string `json:"step"`
	ActivationNo int    `json:"activation_no"`
	Signal       string `json:"signal"`
	Version      string `json:"signal_version"`
	Correlation  string `json:"correlation"`
	Reason       string `json:"reason"`
}

// SignalReceipt says that a signal is kept, not what will become of it: see Instance.Signals.
type SignalReceipt struct {
	SignalID     string    `json:"signal_id"`
	InstanceID   string    `json:"instance_id"`
	Step         string    `json:"step"`
	ActivationNo int       `json:"activation_no"`
	AcceptedAt   time.Time `json:"accepted_at"`
	ExpiresAt    time.Time `json:"expires_at"`
	Replayed     bool      `json:"-"`
}

// Signal sends a signal (scope workflows:signal, never implied by another). It is stored before it is acknowledged: an
// early one waits for its step, a duplicate or late one is kept and classified (T14).
func (i *Instance) Signal(ctx context.Context, s Signal) (*SignalReceipt, error) {
	s.Key = keyOr(s.Key)
	body, err := object(signalWire{s.Step, max(s.ActivationNo, 1), s.Signal, s.Version, s.Correlation, s.Reason}, payload{"content", orNull(s.Content)})
	if err != nil {
		return nil, err
	}
	var receipt SignalReceipt
	header, err := i.client.do(ctx, call{operation: "signalInstance", key: s.Key, out: &receipt, build: func() (*http.Request, error) {
		return rest.NewSignalInstanceRequestWithBody(i.client.server, i.InstanceID, &rest.SignalInstanceParams{IdempotencyKey: s.Key}, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}

// SignalStatus is one accepted signal and what became of it.
type SignalStatus struct {
	SignalID       string          `json:"signal_id"`
	Step           string          `json:"step"`
	ActivationNo   int             `json:"activation_no"`
	Signal         string          `json:"signal"`
	Version        string          `json:"signal_version"`
	Correlation    string          `json:"correlation"`
	State          string          `json:"state"`          // PENDING, APPLIED, EXPIRED or REJECTED
	Classification string          `json:"classification"` // why it ended so; empty while it is PENDING
	AcceptedAt     time.Time       `json:"accepted_at"`
	ExpiresAt      time.Time       `json:"expires_at"`
	SettledAt      *time.Time      `json:"settled_at"`
	Content        json.RawMessage `json:"content"`
}

// Signals walks every signal of the instance in order of acceptance (scope workflows:read).
func (i *Instance) Signals(ctx context.Context) iter.Seq2[SignalStatus, error] {
	return pages[SignalStatus](ctx, i.client, "listInstanceSignals", func(cursor *string) (*http.Request, error) {
		return rest.NewListInstanceSignalsRequest(i.client.server, i.InstanceID, &rest.ListInstanceSignalsParams{Cursor: cursor, Limit: &pageSize})
	})
}

// StepWait is what one activation of a step waits or waited for, beside results of tasks.
type StepWait struct {
	ActivationID string     `json:"activation_id"`
	Step         string     `json:"step"`
	Kind         string     `json:"kind"`  // TIMER, SIGNAL or POLL
	State        string     `json:"state"` // PENDING, SATISFIED, EXPIRED or CLOSED
	StartedAt    time.Time  `json:"started_at"`
	DeadlineAt   time.Time  `json:"deadline_at"`
	SettledAt    *time.Time `json:"settled_at"`
	Signal       string     `json:"signal"`
	Version      string     `json:"signal_version"`
	Correlation  string     `json:"correlation"`
	SignalID     string     `json:"signal_id"`    // the signal that was applied
	PollState    string     `json:"poll_state"`   // POLL only: ASKING, WAITING or SETTLED
	UsedRounds   int        `json:"used_rounds"`  // POLL only
	NextPollAt   *time.Time `json:"next_poll_at"` // POLL only: when the next round begins
	TaskID       string     `json:"task_id"`      // POLL only: the task of the last round
}

// Waits walks what the steps wait for, in order of activation (scope workflows:read).
func (i *Instance) Waits(ctx context.Context) iter.Seq2[StepWait, error] {
	return pages[StepWait](ctx, i.client, "listInstanceWaits", func(cursor *string) (*http.Request, error) {
		return rest.NewListInstanceWaitsRequest(i.client.server, i.InstanceID, &rest.ListInstanceWaitsParams{Cursor: cursor, Limit: &pageSize})
	})
}
