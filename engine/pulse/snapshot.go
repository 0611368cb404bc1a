package pulse

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Quota is an application's limits and exact counters.
type Quota struct {
	Application                                                             uint64
	OpenTasksMax, RunningAttemptsMax, OpenInstancesMax, OpenPayloadBytesMax int64
	OpenTasks, RunningAttempts, OpenInstances, OpenPayloadBytes             int64
}

// Queue is a queue's limits and exact counters. Name and CreatedAt only travel with the write-back.
type Queue struct {
	ID, Application                  uint64
	Name                             string
	OpenTasksMax, RunningAttemptsMax int64
	Paused, Draining                 bool
	OpenTasks, RunningAttempts       int64
	Rate                             Rate // zero: none
	CreatedAt                        time.Time
}

// ReceiptKind separates the key spaces of different operations. The numbers are those of receipt.kind.
type ReceiptKind uint8

// Receipt kinds.
const (
	ReceiptSubmit  ReceiptKind = 1
	ReceiptCancel  ReceiptKind = 2
	ReceiptPublish ReceiptKind = 3
	ReceiptStart   ReceiptKind = 4
	ReceiptReview  ReceiptKind = 5
	ReceiptSignal  ReceiptKind = 6
)

// ReceiptKey identifies one operation of one application.
type ReceiptKey struct {
	Application uint64
	Kind        ReceiptKind
	Key         string
}

// Receipt is a frozen answer.
type Receipt struct {
	Digest  [32]byte
	Subject engine.ID
	Body    []byte
}

// Rules is what a settlement must know beyond the open row; State and Version are those of an ended task.
type Rules struct {
	Application    uint64
	State          Public
	Source         Source
	Retry          Retry
	OutputContract []byte
}

// AttemptKey identifies an attempt.
type AttemptKey struct {
	Task engine.ID
	No   uint16
}

// EndedAttempt is what is remembered of an attempt for repeated reports.
type EndedAttempt struct {
	Outcome   Outcome
	Token     engine.ID
	Digest    [32]byte
	TaskState Public
	Worker    string
}

// Resource is a held key: by a task, or by nobody while waiters are parked behind it.
type Resource struct {
	Key     string
	Holder  engine.ID // zero: free, but waited for
	Waiters uint32
}

// KeyWait is a task parked behind a resource key.
type KeyWait struct {
	Key                string
	DueAt              time.Time
	Task               engine.ID
	Application, Queue uint64
}

// Pool is what a claim may choose from in one queue: the first waiting tasks in dispatch order. Truncated means
// that more wait behind the last one.
type Pool struct {
	Tasks     []Task
	Truncated bool
}

// PoolKey names a pool: claims with the same queue and the same handlers share one.
type PoolKey struct {
	Queue    uint64
	Handlers string // the handler hashes, as HandlersKey spells them
}

// Snapshot is everything Decide may look at, read under the locks of one transaction.
type Snapshot struct {
	Now          time.Time
	Callers      map[uint64]engine.Caller
	Quotas       map[uint64]Quota
	Queues       map[uint64]Queue
	Receipts     map[ReceiptKey]Receipt
	Slots        map[SlotKey]Slot
	ClaimRecords map[ClaimKey]ClaimRecord
	Open         map[engine.ID]Task
	Rules        map[engine.ID]Rules
	Attempts     map[AttemptKey]EndedAttempt
	Unsettled    map[engine.ID]bool // tasks with an attempt whose outcome is UNKNOWN, as far as the batch needs to know
	Reviewed     map[engine.ID]Reviewed
	Originals    map[engine.ID]Original  // what retries repeat
	Retried      map[engine.ID]engine.ID // their direct successors
	Bulks        map[engine.ID]Bulk
	Resources    map[string]Resource
	Waits        map[string][]KeyWait
	Gates        map[engine.ID]bool // true: open
	Pools        map[PoolKey]Pool
}
