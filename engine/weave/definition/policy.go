package definition

// Lost is what happens to an attempt whose worker vanished.
type Lost string

const (
	LostReview Lost = "REVIEW"
	LostRetry  Lost = "RETRY" // the author declares the handler safe to repeat
)

// RetryKind is the arithmetic between two attempts.
type RetryKind string

const (
	RetryFixed       RetryKind = "FIXED"
	RetryLinear      RetryKind = "LINEAR"
	RetryExponential RetryKind = "EXPONENTIAL"
	RetryList        RetryKind = "LIST"
)

// Policy is the whole of a task's timing. All of it is in the document: there
// is no inheritance, no override, no default a release could change.
type Policy struct {
	Name             string
	Priority         int64 // 0–9
	DeadlineMS       int64 // from activation
	AttemptTimeoutMS int64
	Lost             Lost
	Retry            Retry

	at place
}

// Retry is the delay after attempt n, by kind; unused fields are zero.
type Retry struct {
	Kind          RetryKind
	MaxAttempts   int64
	JitterPercent int64
	DelayMS       int64   // FIXED, LINEAR, EXPONENTIAL
	StepMS        int64   // LINEAR
	Factor        int64   // EXPONENTIAL
	MaxDelayMS    int64   // LINEAR, EXPONENTIAL
	DelaysMS      []int64 // LIST: MaxAttempts − 1 items

	at place
}
