package engine

import "time"

// Every bound of the platform stands here with its reason. A request beyond one is refused at the door by
// name; a plan beyond one is cut and continued.
const (
	// TransactionItemsMax bounds one lane transaction: 64 to 256 items measured alike, more only lengthens the hold of the quota row.
	TransactionItemsMax = 256
	// TransactionBytesMax bounds the payload of one lane transaction, so that one commit stays a few milliseconds.
	TransactionBytesMax = 1 << 20
	// PlanChangesMax is the number of structural changes of one workflow plan (seed: at most 32 per transaction).
	PlanChangesMax = 32

	// PayloadBytesMax bounds a task's or an instance's input and output.
	PayloadBytesMax = 256 << 10
	// PayloadDepthMax bounds the nesting of user JSON.
	PayloadDepthMax = 64
	// BatchItemsMax and BatchBytesMax bound one batch submission (seed: 32 items, 512 KiB).
	BatchItemsMax = 32
	BatchBytesMax = 512 << 10
	// ReportItemsMax bounds one renewal or completion request to what one lane transaction takes.
	ReportItemsMax = 256

	KeyBytesMax            = 255  // submit, business, resource and idempotency keys
	NameBytesMax           = 64   // queues, applications, credentials
	HandlerBytesMax        = 128  // handler names
	HandlerVersionBytesMax = 64   // handler versions
	WorkerBytesMax         = 128  // a worker's own name
	FailureCodeBytesMax    = 64   // stable code of a failure
	FailureMessageBytesMax = 1024 // sentence for a person
	FailureDetailsBytesMax = 16 << 10
	ContractBytesMax       = 16 << 10 // inline output contract
	ReasonBytesMax         = 1024     // why a person did something
	EvidenceBytesMax       = 64 << 10 // what a review is decided on

	// PriorityMax and PriorityStep: one level of priority is worth 30 s of waiting, so a priority 0 task is overtaken
	// for at most 270 s (O6, T9).
	PriorityMax  = 9
	PriorityStep = 30 * time.Second

	// DeadlineMax is the longest total deadline, one leap year.
	DeadlineMax = 366 * 24 * time.Hour
	// LeaseMin and LeaseMax bound one lease; renewal extends it up to the attempt timeout.
	LeaseMin = time.Second
	LeaseMax = time.Hour
	// LeaseGrace is how long after its lease a silent attempt is declared lost: a renewal on its way still counts.
	LeaseGrace = 2 * time.Second

	RetryAttemptsMax = 100 // attempts of one task
	RetryJitterMax   = 50  // percent
	RetryFactorMax   = 10  // exponential growth per attempt
	AttemptNumberMax = 60000
	ClaimTasksMax    = 256 // tasks of one claim, one transaction
	ClaimQueuesMax   = 16
	ClaimHandlersMax = 64
	ClaimWaitMax     = 30 * time.Second
	ParkPerPlanMax   = 1024 // tasks of held keys or closed gates moved out of the way by one claim
	// RateTokensMax, RatePeriodMin and RatePeriodMax keep the arithmetic of a queue's rate exact in 63 bits.
	RateTokensMax = 1_000_000
	RatePeriodMin = 100 * time.Millisecond
	RatePeriodMax = 24 * time.Hour
	// RateClockStep is how far the database's clock must be set back for a rate to count from its new time.
	RateClockStep     = 10 * time.Second
	KeyWaitersPerPlan = 8 // waiters looked at when a key becomes free; ended ones among them are removed

	AttributesMax          = 8  // search attributes of one task: each is an index entry written at submission
	AttributeNameBytesMax  = 48 // their names
	AttributeValueBytesMax = 255
	// UniqueWindowMax is the longest time a unique key stays taken after its task was accepted.
	UniqueWindowMax = 31 * 24 * time.Hour
	// DebounceWaitMax is the longest time newer inputs may put one off.
	DebounceWaitMax = 7 * 24 * time.Hour

	ProgressMessageBytesMax = 1024    // what a worker tells a person with a renewal
	ProgressDetailBytesMax  = 4 << 10 // and a program

	// SignalsPerInstanceMax bounds the signals of one instance over its whole history (seed).
	SignalsPerInstanceMax = 1024
	// SignalsWaitingMax and SignalsWaitingBytesMax bound what may wait in one instance for steps that have not begun:
	// every plan reads all of it.
	SignalsWaitingMax      = 64
	SignalsWaitingBytesMax = 1 << 20
	CorrelationBytesMax    = 512 // seed

	ListLimitMax = 200
	// BulkPageMax bounds the tasks of one page of a bulk operation, BulkRetryPageMax those it repeats: the application's
	// other work comes between two pages. BulkScanMax bounds the rows read to find them.
	BulkPageMax      = 128
	BulkRetryPageMax = 32
	BulkScanMax      = 500
	// FailuresCountedMax bounds the newest failures that are counted by code and handler in one answer.
	FailuresCountedMax = 10_000
	// BulkSampleMax is how many tasks a dry run names.
	BulkSampleMax = 100
	// TasksAheadMax bounds the count of tasks in front of one: who has so many before it need not know the exact number.
	TasksAheadMax = 1000
)
