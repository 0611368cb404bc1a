package pulse

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Changes is what must be written, all of it or none, in the order of the fields. It leaves no choice.
type Changes struct {
	Receipts       []ReceiptWrite
	ClaimRecords   []ClaimRecordWrite
	NewTasks       []NewTask   // full rows, with their attributes
	Slots          []SlotWrite // a later one of the same key wins
	Progress       []ProgressWrite
	NewOpen        []Task     // open rows of new tasks, already started where a claim took them
	Starts         []StartSet // open rows that start, grouped by what is written
	Renewals       []RenewSet
	Parks          []ParkSet
	Rewrites       []Task // open rows written whole
	Closes         []engine.ID
	Ends           []EndSet // full rows that end or enter review
	Attempts       []AttemptWrite
	Events         []EventWrite
	Late           []LateWrite
	Reviews        []ReviewWrite
	Retries        []RetryWrite
	Bulks          []Bulk // rows to write back
	BulkItems      []BulkItemWrite
	NewResources   []Resource
	Resources      []Resource
	FreedResources []string
	NewKeyWaits    []KeyWait
	GoneKeyWaits   []KeyWait
	Quotas         []Quota // counters to write back
	Queues         []Queue
	Rates          []RateWrite
	Inbox          []InboxWrite
	Stream         []StreamWrite // in order; the sequence is given by the head
	Audits         []AuditWrite
	DelayedUntil   []QueueTime // hints for the caller's clock, nothing to write
	ReadyElsewhere []uint64    // queues outside this batch whose tasks were woken: hints
	RateWaits      []RateWait  // hints: when a waiting claim may find a token
	MoreForClaims  bool        // blocked rows were moved away and a claim is still hungry: run again at once
	Widen          bool        // blocked rows used up a candidate list: read longer ones next time
}

// Empty reports whether nothing is to be written.
func (c *Changes) Empty() bool {
	return len(c.Receipts)+len(c.NewTasks)+len(c.Starts)+len(c.Renewals)+len(c.Parks)+len(c.Rewrites)+len(c.Closes)+
		len(c.Ends)+len(c.Late)+len(c.Resources)+len(c.GoneKeyWaits)+len(c.Audits)+len(c.Progress)+len(c.ClaimRecords)+len(c.Bulks) == 0
}

// ReceiptWrite is a new receipt.
type ReceiptWrite struct {
	Key     ReceiptKey
	Receipt Receipt
}

// NewTask is the full row of an accepted task.
type NewTask struct {
	Task       Task // as accepted: version 1, waiting
	Submission Submission
	CreatedAt  time.Time
}

// StartSet starts tasks that share every written value.
type StartSet struct {
	Secret     engine.ID // tokens are AttemptToken of it
	Worker     string
	StartedAt  time.Time
	LeaseUntil time.Time
	Tasks      []engine.ID
}

// RenewSet extends leases to one time.
type RenewSet struct {
	LeaseUntil time.Time
	Tasks      []engine.ID
}

// ParkSet moves waiting tasks between waiting states.
type ParkSet struct {
	From, To State
	Tasks    []engine.ID
}

// EndSet writes full rows that share every written value. State is terminal or NEEDS_REVIEW.
type EndSet struct {
	State       Public
	Version     uint32
	AttemptNo   uint16 // of the result; zero: none ran
	FailureCode string
	Tasks       []engine.ID
}

// ProgressWrite is the last progress of a task, for people to see; it decides nothing.
type ProgressWrite struct {
	Task      engine.ID
	AttemptNo uint16
	Progress  Progress
}

// AttemptWrite is the one row of an ended attempt.
type AttemptWrite struct {
	Task                  engine.ID
	No                    uint16
	Outcome               Outcome
	Consumed              bool
	TaskState             Public
	Token                 engine.ID
	Worker                string
	StartedAt, LeaseUntil time.Time
	Digest                [32]byte
	FailureCode           string
	FailureMessage        string
	FailureDetails        []byte
	Output                []byte
}

// EventWrite is one change of a task; No is the task's version after it.
type EventWrite struct {
	Task      engine.ID
	No        uint32
	Kind      EventKind
	AttemptNo uint16
	Detail    string // JSON or empty
}

// LateWrite keeps a report that came too late to decide anything.
type LateWrite struct {
	Task      engine.ID
	AttemptNo uint16
	Digest    [32]byte
	Outcome   Outcome
	Worker    string
	Report    []byte
}

// InboxWrite is the frozen result of a task owned by a workflow activation.
type InboxWrite struct {
	Instance, Activation, Task engine.ID
	Version                    uint32
	State                      Public
	AttemptNo                  uint16
	FailureCode                string
	FailureMessage             string
	Output                     []byte
}

// StreamWrite is one entry of the namespace's stream.
type StreamWrite struct {
	Application, Queue uint64
	Task               engine.ID
	State              Public
	Version            uint32
}

// AuditWrite is one audit record. An ID is set only where something refers to the record.
type AuditWrite struct {
	ID          engine.ID
	Application uint64
	Actor       string
	Action      string
	Subject     string
	Reason      string
	Detail      string // JSON
}

// QueueTime says when something of a queue becomes due.
type QueueTime struct {
	Queue uint64
	At    time.Time
}
