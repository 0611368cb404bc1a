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

// InstanceState is where an instance is.
type InstanceState string

// States of an instance. CANCELLING settles what is in flight; NEEDS_REVIEW waits for a person; the rest but RUNNING are
// ends.
const (
	InstanceRunning     InstanceState = "RUNNING"
	InstanceSucceeded   InstanceState = "SUCCEEDED"
	InstanceFailed      InstanceState = "FAILED"
	InstanceCancelled   InstanceState = "CANCELLED"
	InstanceNeedsReview InstanceState = "NEEDS_REVIEW"
	InstanceCancelling  InstanceState = "CANCELLING"
)

// Ended reports whether the state is an end.
func (s InstanceState) Ended() bool {
	return s == InstanceSucceeded || s == InstanceFailed || s == InstanceCancelled
}

// Start is one workflow to start. The same StartKey with the same content gives the first receipt again.
type Start struct {
	StartKey    string // 1 to 255 bytes, unique in the application; empty: a random one (see the package comment)
	Definition  string
	Version     int             // 0: the latest at first acceptance
	BusinessKey string          // what the instance is about; empty is none
	Input       json.RawMessage // any JSON, at most 256 KiB, kept byte for byte; empty is null
}

type startWire struct {
	StartKey    string `json:"start_key"`
	Definition  string `json:"definition"`
	Version     int    `json:"version,omitempty"`
	BusinessKey string `json:"business_key,omitempty"`
}

func (s Start) body() ([]byte, error) {
	return object(startWire{s.StartKey, s.Definition, s.Version, s.BusinessKey}, payload{"input", orNull(s.Input)})
}

// InstanceReceipt is what was started.
type InstanceReceipt struct {
	InstanceID string        `json:"instance_id"`
	Definition string        `json:"definition"`
	Version    int           `json:"version"`
	State      InstanceState `json:"state"`    // at acceptance
	Revision   int64         `json:"revision"` // after the first advance
	AcceptedAt time.Time     `json:"accepted_at"`
	DeadlineAt time.Time     `json:"deadline_at"`
	Replayed   bool          `json:"-"`
}

// Instance is a handle of one instance: its receipt, and the questions one can ask about it.
type Instance struct {
	InstanceReceipt
	client *Client
}

// StartInstance starts an instance (scope workflows:start): all or nothing, its first work included.
func (c *Client) StartInstance(ctx context.Context, s Start) (*Instance, error) {
	s.StartKey = keyOr(s.StartKey)
	body, err := s.body()
	if err != nil {
		return nil, err
	}
	i := Instance{client: c}
	header, err := c.do(ctx, call{operation: "startInstance", key: s.StartKey, out: &i.InstanceReceipt, build: func() (*http.Request, error) {
		return rest.NewStartInstanceRequestWithBody(c.server, nil, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	i.Replayed = replayed(header)
	return &i, nil
}

// Instance is the handle of an instance known by its id; nothing is sent, and of the receipt only the id is set.
func (c *Client) Instance(instanceID string) *Instance {
	return &Instance{InstanceReceipt: InstanceReceipt{InstanceID: instanceID}, client: c}
}

// InstanceSummary is an instance without its payloads.
type InstanceSummary struct {
	InstanceID  string        `json:"instance_id"`
	Definition  string        `json:"definition"`
	Version     int           `json:"version"`
	State       InstanceState `json:"state"`
	Paused      bool          `json:"paused"`   // results are collected, nothing new starts
	Revision    int64         `json:"revision"` // rises with every committed change
	Reason      string        `json:"reason"`   // stable reason of a failure or review
	BusinessKey string        `json:"business_key"`
	CreatedAt   time.Time     `json:"created_at"`
	DeadlineAt  time.Time     `json:"deadline_at"`
	EndedAt     *time.Time    `json:"ended_at"`
}

// InstanceStatus is an instance with its payloads, as it was when it was read.
type InstanceStatus struct {
	InstanceSummary
	ControlRevision int64           `json:"control_revision"` // rises with every pause, resume or cancel
	Input           json.RawMessage `json:"input"`
	Output          json.RawMessage `json:"output"`
}

// Step is one step of an instance.
type Step struct {
	StepNo       int             `json:"step_no"`
	Name         string          `json:"name"`
	Kind         string          `json:"kind"`  // TASK, SEQUENCE, BRANCH, PARALLEL, TIMER, SIGNAL or POLL
	State        string          `json:"state"` // WAITING, ACTIVE, SUCCEEDED, FAILED, CANCELLED, NEEDS_REVIEW or SKIPPED
	Version      int64           `json:"version"`
	ActivationNo int             `json:"activation_no"` // 0 when it never began
	TaskID       string          `json:"task_id"`
	Reason       string          `json:"reason"`
	SettledAt    *time.Time      `json:"settled_at"`
	Output       json.RawMessage `json:"output"`
}

// Revision is one committed change of an instance.
type Revision struct {
	Revision int64           `json:"revision"`
	Kind     string          `json:"kind"`
	At       time.Time       `json:"at"`
	Actor    string          `json:"actor"`
	Detail   json.RawMessage `json:"detail"`
}

// Status reads the instance (scope workflows:read).
func (i *Instance) Status(ctx context.Context) (*InstanceStatus, error) {
	return get[InstanceStatus](ctx, i.client, "getInstance", func() (*http.Request, error) {
		return rest.NewGetInstanceRequest(i.client.server, i.InstanceID)
	})
}

// Wait waits until the instance has ended or needs a person (NEEDS_REVIEW): look at State (scope workflows:read). Only
// ctx bounds it.
func (i *Instance) Wait(ctx context.Context) (*InstanceStatus, error) {
	return await(ctx, func() (*InstanceStatus, bool, error) {
		s, err := i.Status(ctx)
		return s, err == nil && (s.State.Ended() || s.State == InstanceNeedsReview), err
	})
}

// Steps walks the steps by number; internal ones are left out (scope workflows:read).
func (i *Instance) Steps(ctx context.Context) iter.Seq2[Step, error] {
	return pages[Step](ctx, i.client, "listInstanceSteps", func(cursor *string) (*http.Request, error) {
		return rest.NewListInstanceStepsRequest(i.client.server, i.InstanceID, &rest.ListInstanceStepsParams{Cursor: cursor, Limit: &pageSize})
	})
}

// History walks every committed change in order, without gaps (scope workflows:read).
func (i *Instance) History(ctx context.Context) iter.Seq2[Revision, error] {
	return pages[Revision](ctx, i.client, "listInstanceHistory", func(cursor *string) (*http.Request, error) {
		return rest.NewListInstanceHistoryRequest(i.client.server, i.InstanceID, &rest.ListInstanceHistoryParams{Cursor: cursor, Limit: &pageSize})
	})
}

// Instances walks the instances of the application by creation time, oldest first (scope workflows:read).
func (c *Client) Instances(ctx context.Context) iter.Seq2[InstanceSummary, error] {
	return pages[InstanceSummary](ctx, c, "listInstances", func(cursor *string) (*http.Request, error) {
		return rest.NewListInstancesRequest(c.server, &rest.ListInstancesParams{Cursor: cursor, Limit: &pageSize})
	})
}
