package pulse

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// State is where an open task stands. The numbers are those of open_task.state.
type State uint8

// Queued, Delayed, Blocked and Gated are all QUEUED to the outside; they differ in what they wait for.
const (
	Queued  State = 1 // may start as soon as a worker asks
	Running State = 2 // under a lease
	Delayed State = 3 // available_at has not come
	Blocked State = 4 // its resource key is held
	Gated   State = 5 // its gate is closed
	Review  State = 6 // waits for a person
)

// Waiting reports whether nothing of the task runs and nobody has to decide.
func (s State) Waiting() bool { return s == Queued || s == Delayed || s == Blocked || s == Gated }

// Public is the state callers see. The numbers are those of task.state, stream_entry.state and weave_inbox.task_state;
// PublicRunning is never stored there.
type Public uint8

// The public states of a task (pulse.md Task).
const (
	PublicQueued    Public = 1
	PublicSucceeded Public = 2
	PublicFailed    Public = 3
	PublicCancelled Public = 4
	PublicReview    Public = 5
	PublicRunning   Public = 6
)

var publicNames = map[Public]string{
	PublicQueued: "QUEUED", PublicRunning: "RUNNING", PublicSucceeded: "SUCCEEDED",
	PublicFailed: "FAILED", PublicCancelled: "CANCELLED", PublicReview: "NEEDS_REVIEW",
}

func (p Public) String() string { return publicNames[p] }

// Terminal reports whether no transition leaves the state.
func (p Public) Terminal() bool {
	return p == PublicSucceeded || p == PublicFailed || p == PublicCancelled
}

// Public maps an open state to the one callers see.
func (s State) Public() Public {
	switch s {
	case Running:
		return PublicRunning
	case Review:
		return PublicReview
	}
	return PublicQueued
}

// Outcome is how an attempt ended. The numbers are those of attempt.outcome.
type Outcome uint8

// Succeeded to Returned are what a worker reports; Unknown is also what the recovery scan records for a silent one.
const (
	Succeeded Outcome = 1
	Retryable Outcome = 2 // known failure, may be tried again
	Permanent Outcome = 3 // known failure, final
	Unknown   Outcome = 4 // nobody knows whether the effect happened
	Cancelled Outcome = 5 // stopped on request
	Returned  Outcome = 6 // never started; costs no attempt
)

// LostPolicy says what follows an unknown outcome.
type LostPolicy uint8

// LostReview asks a person; LostRetry is the submitter's declaration that the handler is safe to repeat.
const (
	LostReview LostPolicy = 1
	LostRetry  LostPolicy = 2
)

// Source says who made a task. The numbers are those of task.source.
type Source uint8

// Sources of a task (pulse.md Source).
const (
	SourceDirect   Source = 1
	SourceRetry    Source = 2
	SourceSchedule Source = 3
	SourceWorkflow Source = 4
)

// EventKind names a change of a task. The numbers are those of task_event.kind.
type EventKind uint8

// Event kinds.
const (
	EventSubmitted       EventKind = 1
	EventStarted         EventKind = 2
	EventSucceeded       EventKind = 3
	EventFailed          EventKind = 4
	EventCancelled       EventKind = 5
	EventRetryScheduled  EventKind = 6
	EventLost            EventKind = 7
	EventReview          EventKind = 8
	EventCancelRequested EventKind = 9
	EventReturned        EventKind = 10
	EventExpired         EventKind = 11
	EventReviewed        EventKind = 12
)

// Task is the open row: everything that changes while a task is open.
type Task struct {
	ID                                   engine.ID
	Application, Queue                   uint64
	State                                State
	Version                              uint32 // state_version
	Priority                             uint8
	AttemptNo, AttemptsUsed, MaxAttempts uint16
	Lost                                 LostPolicy
	HasContract, PermitHeld              bool
	HandlerHash                          uint64
	AttemptTimeout                       time.Duration
	InputBytes                           uint32
	AvailableAt, DeadlineAt              time.Time
	StartedAt, LeaseUntil                time.Time // zero: no current attempt
	CancelRequestedAt                    time.Time // zero: not requested
	Token                                engine.ID // zero: no current attempt
	Worker                               string
	ResourceKey                          string    // empty: none
	Gate, Owner                          engine.ID // zero: not owned by a workflow
}

// Due is the dispatch order of a waiting task: one level of priority is worth 30 s (O6).
func (t *Task) Due() time.Time {
	return t.AvailableAt.Add(-time.Duration(t.Priority) * engine.PriorityStep)
}

// AttemptDeadline is the end of the current lease chain: no renewal goes beyond it.
func (t *Task) AttemptDeadline() time.Time {
	return earlier(t.StartedAt.Add(t.AttemptTimeout), t.DeadlineAt)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// HandlerHash is the claim filter: the first eight bytes of a digest of name and version.
func HandlerHash(handler, version string) uint64 {
	sum := sha256.Sum256([]byte(handler + "\x00" + version))
	return binary.BigEndian.Uint64(sum[:8])
}
