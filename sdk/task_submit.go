package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// LostPolicy says what a lost worker leads to, when nobody knows whether the work was done.
type LostPolicy string

// LostReview, the default, asks a person. LostRetry runs it again: the submitter declares the handler safe to repeat.
const (
	LostReview LostPolicy = "REVIEW"
	LostRetry  LostPolicy = "RETRY"
)

// Submission is one task to run. The same SubmitKey with the same content gives the first receipt again, for ever; with
// other content it is refused as submission_conflict.
type Submission struct {
	SubmitKey      string // 1 to 255 bytes, unique in the application; empty: a random one (see the package comment)
	Queue          string
	Handler        string
	HandlerVersion string
	Input          json.RawMessage // any JSON, at most 256 KiB, kept byte for byte; empty is null
	BusinessKey    string          // what the task is about; empty is none
	ResourceKey    string          // at most one task of the namespace with it runs at a time; empty is none
	Priority       int             // 0 to 9; one level is worth 30 s of waiting
	Delay          time.Duration   // not before acceptance plus this
	Deadline       time.Duration   // acceptance plus this ends the task: waits, attempts and retries included
	AttemptTimeout time.Duration   // longest time of one attempt
	Retry          RetryPolicy
	Lost           LostPolicy
	OutputContract json.RawMessage // JSON Schema, at most 16 KiB; a success that breaks it is a review case
	Unique         *Unique         // at most one task with this key at a time; nil: none
	Debounce       *Debounce       // the newest submission of this key wins; nil: none, and not together with Unique or Delay
	Attributes     Attributes      // at most 8, found again with TaskFilter.Attribute
}

// Unique keeps a second task out while one with the same key of the queue is open, and for Window after its acceptance.
// A submission that is kept out gets the receipt of the task that holds the key, with Deduplicated set.
type Unique struct {
	Key    string
	Window time.Duration // at most 31 days; 0: until the task ends
}

// Debounce lets the newest submission of a key take the place of one that still waits, which then ends CANCELLED with
// the code superseded. The task starts Delay after the last submission, at the latest MaxWait after the first.
type Debounce struct {
	Key     string
	Delay   time.Duration
	MaxWait time.Duration
}

// Attributes are what a task can be found by: names of a-z, 0-9 and _, values of at most 255 bytes.
type Attributes map[string]string

// Attribute is a name and its value, exact bytes.
type Attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// MarshalJSON writes the list of the API, by name.
func (a Attributes) MarshalJSON() ([]byte, error) {
	list := make([]Attribute, 0, len(a))
	for _, name := range slices.Sorted(maps.Keys(a)) {
		list = append(list, Attribute{name, a[name]})
	}
	return JSON(list)
}

// UnmarshalJSON reads the list of the API.
func (a *Attributes) UnmarshalJSON(text []byte) error {
	var list []Attribute
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*a = Attributes{}
	for _, one := range list {
		(*a)[one.Name] = one.Value
	}
	return nil
}

// TaskReceipt is what was accepted. Accepted means durable.
type TaskReceipt struct {
	TaskID      string    `json:"task_id"`
	Queue       string    `json:"queue"`
	State       TaskState `json:"state"` // at acceptance
	AcceptedAt  time.Time `json:"accepted_at"`
	AvailableAt time.Time `json:"available_at"`
	DeadlineAt  time.Time `json:"deadline_at"`
	Replayed    bool      `json:"-"` // the receipt is an earlier one
	// Deduplicated: the unique key was taken; TaskID is the task that holds it, and nothing new was accepted.
	Deduplicated bool `json:"deduplicated"`
}

// RetryPolicy says when a retryable failure is tried again. Make it with Once, Fixed, Linear, Exponential or List.
type RetryPolicy struct {
	Kind          string // FIXED, LINEAR, EXPONENTIAL or LIST
	MaxAttempts   int    // in all, 1 to 100; starting counts
	JitterPercent int    // 0 to 50
	Delay         time.Duration
	Step          time.Duration // LINEAR
	Factor        int           // EXPONENTIAL, 2 to 10
	MaxDelay      time.Duration // LINEAR and EXPONENTIAL
	Delays        []time.Duration
}

// Once tries once.
func Once() RetryPolicy { return RetryPolicy{Kind: "FIXED", MaxAttempts: 1} }

// Fixed waits delay before every retry.
func Fixed(maxAttempts int, delay time.Duration) RetryPolicy {
	return RetryPolicy{Kind: "FIXED", MaxAttempts: maxAttempts, Delay: delay}
}

// Linear waits delay, then step longer each time, at most maxDelay.
func Linear(maxAttempts int, delay, step, maxDelay time.Duration) RetryPolicy {
	return RetryPolicy{Kind: "LINEAR", MaxAttempts: maxAttempts, Delay: delay, Step: step, MaxDelay: maxDelay}
}

// Exponential waits delay, then factor times longer each time, at most maxDelay.
func Exponential(maxAttempts int, delay time.Duration, factor int, maxDelay time.Duration) RetryPolicy {
	return RetryPolicy{Kind: "EXPONENTIAL", MaxAttempts: maxAttempts, Delay: delay, Factor: factor, MaxDelay: maxDelay}
}

// List waits as listed; there is one attempt more than delays.
func List(delays ...time.Duration) RetryPolicy {
	return RetryPolicy{Kind: "LIST", MaxAttempts: len(delays) + 1, Delays: delays}
}

// Jitter spreads each wait by up to percent (0 to 50), reproducibly for a task.
func (r RetryPolicy) Jitter(percent int) RetryPolicy { r.JitterPercent = percent; return r }

type retryWire struct {
	Kind          string  `json:"kind"`
	MaxAttempts   int     `json:"max_attempts"`
	JitterPercent int     `json:"jitter_percent,omitempty"`
	DelayMS       int64   `json:"delay_ms,omitempty"`
	StepMS        int64   `json:"step_ms,omitempty"`
	Factor        int     `json:"factor,omitempty"`
	MaxDelayMS    int64   `json:"max_delay_ms,omitempty"`
	DelaysMS      []int64 `json:"delays_ms,omitempty"`
}

type submissionWire struct {
	SubmitKey        string        `json:"submit_key"`
	Queue            string        `json:"queue"`
	Handler          string        `json:"handler"`
	HandlerVersion   string        `json:"handler_version"`
	BusinessKey      string        `json:"business_key,omitempty"`
	ResourceKey      string        `json:"resource_key,omitempty"`
	Priority         int           `json:"priority,omitempty"`
	DelayMS          int64         `json:"delay_ms,omitempty"`
	DeadlineMS       int64         `json:"deadline_ms"`
	AttemptTimeoutMS int64         `json:"attempt_timeout_ms"`
	RetryPolicy      retryWire     `json:"retry_policy"`
	LostPolicy       LostPolicy    `json:"lost_policy,omitempty"`
	Unique           *uniqueWire   `json:"unique,omitempty"`
	Debounce         *debounceWire `json:"debounce,omitempty"`
	Attributes       Attributes    `json:"attributes,omitempty"`
}

type uniqueWire struct {
	Key      string `json:"key"`
	WindowMS int64  `json:"window_ms,omitempty"`
}

type debounceWire struct {
	Key       string `json:"key"`
	DelayMS   int64  `json:"delay_ms"`
	MaxWaitMS int64  `json:"max_wait_ms"`
}

func (u *Unique) wire() *uniqueWire {
	if u == nil {
		return nil
	}
	return &uniqueWire{u.Key, milliseconds(u.Window)}
}

func (d *Debounce) wire() *debounceWire {
	if d == nil {
		return nil
	}
	return &debounceWire{d.Key, milliseconds(d.Delay), milliseconds(d.MaxWait)}
}

func (r RetryPolicy) wire() retryWire {
	w := retryWire{
		Kind: r.Kind, MaxAttempts: r.MaxAttempts, JitterPercent: r.JitterPercent, DelayMS: milliseconds(r.Delay),
		StepMS: milliseconds(r.Step), Factor: r.Factor, MaxDelayMS: milliseconds(r.MaxDelay),
	}
	for _, d := range r.Delays {
		w.DelaysMS = append(w.DelaysMS, milliseconds(d))
	}
	return w
}

func (s Submission) body() ([]byte, error) {
	return object(submissionWire{
		SubmitKey: s.SubmitKey, Queue: s.Queue, Handler: s.Handler, HandlerVersion: s.HandlerVersion,
		BusinessKey: s.BusinessKey, ResourceKey: s.ResourceKey, Priority: s.Priority, DelayMS: milliseconds(s.Delay),
		DeadlineMS: milliseconds(s.Deadline), AttemptTimeoutMS: milliseconds(s.AttemptTimeout),
		RetryPolicy: s.Retry.wire(), LostPolicy: s.Lost, Unique: s.Unique.wire(), Debounce: s.Debounce.wire(), Attributes: s.Attributes,
	}, payload{"input", orNull(s.Input)}, payload{"output_contract", s.OutputContract})
}

// Submit submits one task (scope tasks:submit).
func (c *Client) Submit(ctx context.Context, s Submission) (*TaskReceipt, error) {
	s.SubmitKey = keyOr(s.SubmitKey)
	body, err := s.body()
	if err != nil {
		return nil, err
	}
	var receipt TaskReceipt
	header, err := c.do(ctx, call{operation: "submitTask", key: s.SubmitKey, out: &receipt, build: func() (*http.Request, error) {
		return rest.NewSubmitTaskRequestWithBody(c.server, nil, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
