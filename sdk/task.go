package orbit

import (
	"encoding/json"
	"time"
)

// TaskState is where a task is.
type TaskState string

// States of a task. NEEDS_REVIEW waits for a person because an effect is unknown; SUCCEEDED, FAILED and CANCELLED are
// ends and never change.
const (
	TaskQueued      TaskState = "QUEUED"
	TaskRunning     TaskState = "RUNNING"
	TaskSucceeded   TaskState = "SUCCEEDED"
	TaskFailed      TaskState = "FAILED"
	TaskCancelled   TaskState = "CANCELLED"
	TaskNeedsReview TaskState = "NEEDS_REVIEW"
)

// Ended reports whether the state is an end.
func (s TaskState) Ended() bool {
	return s == TaskSucceeded || s == TaskFailed || s == TaskCancelled
}

// TaskSummary is a task without its payloads. Times are of the database clock, UTC, with microseconds.
type TaskSummary struct {
	TaskID            string     `json:"task_id"`
	Queue             string     `json:"queue"`
	State             TaskState  `json:"state"`
	StateVersion      int64      `json:"state_version"` // rises by one with every change of state
	Priority          int        `json:"priority"`
	Source            string     `json:"source"` // DIRECT, MANUAL_RETRY, SCHEDULE or WORKFLOW
	Handler           string     `json:"handler"`
	HandlerVersion    string     `json:"handler_version"`
	BusinessKey       string     `json:"business_key"`
	ResourceKey       string     `json:"resource_key"`
	AttemptNo         int        `json:"attempt_no"` // attempts started so far
	MaxAttempts       int        `json:"max_attempts"`
	AvailableAt       time.Time  `json:"available_at"`
	DeadlineAt        time.Time  `json:"deadline_at"`
	CreatedAt         time.Time  `json:"created_at"`
	ChangedAt         time.Time  `json:"changed_at"`
	FailureCode       string     `json:"failure_code"`
	CancelRequestedAt *time.Time `json:"cancel_requested_at"`
}

// Task is a task with its frozen rules and input.
type Task struct {
	TaskSummary
	AttemptsUsed     int             `json:"attempts_used"` // 0 once the task has ended
	WaitsFor         string          `json:"waits_for"`     // WORKER, TIME, RESOURCE_KEY, GATE or REVIEW; empty when it runs or has ended
	StartedAt        *time.Time      `json:"started_at"`
	LeaseUntil       *time.Time      `json:"lease_until"`
	Worker           string          `json:"worker"`
	AttemptTimeoutMS int64           `json:"attempt_timeout_ms"`
	LostPolicy       LostPolicy      `json:"lost_policy"`
	RetryPolicy      json.RawMessage `json:"retry_policy"` // as it was stored
	OutputContract   json.RawMessage `json:"output_contract"`
	RetryOf          string          `json:"retry_of"`   // the task this one repeats
	RetriedBy        string          `json:"retried_by"` // the direct successor that repeats this one
	Input            json.RawMessage `json:"input"`      // byte for byte as submitted
	Attributes       Attributes      `json:"attributes"`
	Progress         *TaskProgress   `json:"progress"` // nil: no worker has told any
}

// Progress is what a running attempt tells about itself. It decides nothing.
type Progress struct {
	Percent *int            `json:"percent,omitempty"` // 0 to 100; nil: not told
	Message string          `json:"message,omitempty"` // at most 1024 bytes
	Detail  json.RawMessage `json:"-"`                 // any JSON, at most 4 KiB
}

// TaskProgress is the last progress a worker told.
type TaskProgress struct {
	AttemptNo int             `json:"attempt_no"`
	At        time.Time       `json:"at"`
	Percent   *int            `json:"percent"`
	Message   string          `json:"message"`
	Detail    json.RawMessage `json:"detail"`
}

// Failure is what went wrong.
type Failure struct {
	Code    string          `json:"code"` // chosen by the handler, at most 64 bytes
	Message string          `json:"message,omitempty"`
	Details json.RawMessage `json:"details,omitempty"` // any JSON, at most 16 KiB
}

// TaskResult is the end of a task, or, in NEEDS_REVIEW, what the review is about.
type TaskResult struct {
	TaskID       string          `json:"task_id"`
	State        TaskState       `json:"state"`
	StateVersion int64           `json:"state_version"`
	At           time.Time       `json:"at"`
	AttemptNo    int             `json:"attempt_no"` // the attempt that gave it; 0 when none did
	DecidedBy    string          `json:"decided_by"` // the key of the person who decided; empty when an attempt did
	Failure      *Failure        `json:"failure"`
	Output       json.RawMessage `json:"output"` // byte for byte as reported
}

// Attempt is one execution that has ended. Attempts are never rewritten.
type Attempt struct {
	AttemptNo  int             `json:"attempt_no"`
	Outcome    string          `json:"outcome"`  // SUCCEEDED, FAILED_RETRYABLE, FAILED_PERMANENT, UNKNOWN, CANCELLED or RETURNED
	Consumed   bool            `json:"consumed"` // whether it counted against the budget
	Worker     string          `json:"worker"`
	StartedAt  time.Time       `json:"started_at"`
	LeaseUntil time.Time       `json:"lease_until"`
	EndedAt    time.Time       `json:"ended_at"`
	Failure    *Failure        `json:"failure"`
	Output     json.RawMessage `json:"output"`
}

// TaskEvent is one change of a task.
type TaskEvent struct {
	EventNo   int64           `json:"event_no"` // the state version after the change, without gaps
	Kind      string          `json:"kind"`     // such as ACCEPTED, STARTED, RETRY_SCHEDULED, LOST
	AttemptNo int             `json:"attempt_no"`
	At        time.Time       `json:"at"`
	Detail    json.RawMessage `json:"detail"`
}

// LateEvidence is what a worker said after its attempt had been closed. It changes no state.
type LateEvidence struct {
	AttemptNo  int             `json:"attempt_no"`
	Outcome    string          `json:"outcome"`
	ReceivedAt time.Time       `json:"received_at"`
	Worker     string          `json:"worker"`
	Report     json.RawMessage `json:"report"`
}

// TaskSource is where a task came from, checked by the server against the rows it names.
type TaskSource struct {
	Kind         string `json:"kind"` // DIRECT, MANUAL_RETRY, SCHEDULE or WORKFLOW
	RetryOf      string `json:"retry_of"`
	InstanceID   string `json:"instance_id"`
	Definition   string `json:"definition"`
	Version      int    `json:"version"`
	Step         string `json:"step"`
	ActivationID string `json:"activation_id"`
	ActivationNo int    `json:"activation_no"`

	Schedule  string    `json:"schedule"`
	TriggerID string    `json:"trigger_id"`
	PlannedAt time.Time `json:"planned_at"` // zero unless Kind is SCHEDULE
}
