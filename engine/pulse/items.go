package pulse

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Batch is everything one transaction decides. Order inside a slice is order of arrival.
type Batch struct {
	Secret      engine.ID // random, new for every transaction: attempt tokens are drawn from it
	Submissions []Submission
	Reports     []Report
	Renewals    []Renewal
	Cancels     []Cancel
	Reviews     []ReviewRequest
	Retries     []ManualRetry
	Pages       []BulkPage
	Claims      []Claim
	Dues        []Due
}

// Claim asks for work.
type Claim struct {
	Credential, Application uint64
	Worker                  string
	Queues                  []uint64
	Handlers                []uint64 // handler hashes
	Tasks                   int      // how many at most
	Lease                   time.Duration
	Key                     string // empty: none; with one the claim can be asked again when its answer was lost
	Question                uint32 // 0 the first time, one more each time it is asked again
}

// Started is one task handed to a worker; Task is its open row after the start.
type Started struct{ Task Task }

// Renewal extends one lease by Extend from now, never beyond the attempt timeout or the deadline.
type Renewal struct {
	Credential, Application uint64
	Task                    engine.ID
	AttemptNo               uint16
	Token                   engine.ID
	Extend                  time.Duration
	Progress                *Progress // nil: nothing new to tell
}

// Progress is what a running attempt tells about itself.
type Progress struct {
	Percent *uint8 // 0 to 100
	Message string
	Detail  []byte // exact JSON
}

// RenewalAnswer tells the worker what to do.
type RenewalAnswer string

// Answers to a renewal (pulse.md Lease).
const (
	RenewContinue RenewalAnswer = "CONTINUE"
	RenewCancel   RenewalAnswer = "CANCEL_REQUESTED" // stop soon and report; the lease was extended
	RenewLost     RenewalAnswer = "LOST"             // stop at once; whatever is reported later is evidence only
)

// RenewalOutcome is the answer to one renewal.
type RenewalOutcome struct {
	Answer     RenewalAnswer
	LeaseUntil time.Time
	Refusal    *engine.Refusal
}

// Report is how an attempt ended, as its worker says. Queue and Token come from the lease token the claim gave.
type Report struct {
	Credential, Application uint64
	Queue                   uint64
	Task                    engine.ID
	AttemptNo               uint16
	Token                   engine.ID
	Outcome                 Outcome
	Output                  []byte // exact JSON, Succeeded only
	FailureCode             string
	FailureMessage          string
	FailureDetails          []byte // exact JSON
	Text                    []byte // the whole report, kept as evidence when it comes late
}

// ReportStatus is what became of a report.
type ReportStatus string

// A repeated report is answered as the first was. A late one is kept as evidence and moves nothing (T5).
const (
	ReportAccepted ReportStatus = "ACCEPTED"
	ReportReplayed ReportStatus = "REPLAYED"
	ReportLate     ReportStatus = "LATE"
)

// ReportOutcome is the answer to one report.
type ReportOutcome struct {
	Status    ReportStatus
	TaskState Public
	Refusal   *engine.Refusal
}

// Cancel asks to stop a task. Key is the idempotency key; empty means none. Queue is the task's, found by the caller.
type Cancel struct {
	Credential, Application uint64
	Queue                   uint64 // zero: no such task
	Task                    engine.ID
	Key                     string
	Reason                  string
}

// CancelOutcome says what the task is after the request; Requested means a running worker was asked to stop.
type CancelOutcome struct {
	TaskState Public
	Requested bool
	Receipt   []byte
	Replayed  bool
	Refusal   *engine.Refusal
}

// DueKind says why the clock brought a task.
type DueKind uint8

// Reasons of a Due.
const (
	DueLost      DueKind = 1 // its lease and the grace are over
	DueDelayed   DueKind = 2 // its available_at has come
	DueExpired   DueKind = 3 // its deadline has passed while it waited
	DueKey       DueKind = 4 // nobody holds its resource key, but tasks wait behind it
	DueOvertaken DueKind = 5 // its workflow no longer needs it: it is cancelled as a caller would
)

// Due is one candidate of a scan; it is judged again under the locks.
type Due struct {
	Kind               DueKind
	Application, Queue uint64
	Task               engine.ID
	Key                string // DueKey only
}

// SubmitOutcome is the answer to one submission.
type SubmitOutcome struct {
	TaskID   engine.ID
	Receipt  []byte
	Replayed bool
	Refusal  *engine.Refusal
}

// ClaimOutcome is the answer to one claim; no tasks and no refusal means: nothing now.
type ClaimOutcome struct {
	Replayed bool // the key was known: Started is what still runs of what it had started
	Started  []Started
	Refusal  *engine.Refusal
}

// Outcomes are the answers, index by index as in the Batch.
type Outcomes struct {
	Submissions []SubmitOutcome
	Reports     []ReportOutcome
	Renewals    []RenewalOutcome
	Cancels     []CancelOutcome
	Reviews     []ReviewOutcome
	Retries     []SubmitOutcome
	Pages       []BulkOutcome
	Claims      []ClaimOutcome
}
