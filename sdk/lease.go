package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// The operations of a worker, one request each and never repeated by the client: what to do with an unclear claim is
// the worker's decision. Package worker is the ready worker; these are for those who write their own.

// HandlerRef is a handler and version that a worker can run.
type HandlerRef struct {
	Handler        string `json:"handler"`
	HandlerVersion string `json:"handler_version"`
}

// ClaimRequest is what a worker can take.
type ClaimRequest struct {
	Worker   string       `json:"worker"`    // what it calls itself, for people
	Queues   []string     `json:"queues"`    // 1 to 16
	Handlers []HandlerRef `json:"handlers"`  // 1 to 64
	MaxTasks int          `json:"max_tasks"` // 1 to 64
	WaitMS   int64        `json:"wait_ms,omitempty"`
	LeaseMS  int64        `json:"lease_ms"` // 1000 to 3600000
	// ClaimKey is new for every claim (at most 64 bytes). If the answer is lost, the same claim with Question one higher
	// is given the attempts it had started, as far as they still run; if it had started any, it starts nothing.
	ClaimKey string `json:"claim_key,omitempty"`
	Question int    `json:"question,omitempty"`
}

// Lease names one attempt. Whoever holds the token may renew and report it (T5).
type Lease struct {
	TaskID    string `json:"task_id"`
	AttemptNo int    `json:"attempt_no"`
	Token     string `json:"token"`
}

// ClaimedTask is one started attempt.
type ClaimedTask struct {
	Lease
	Queue             string          `json:"queue"`
	Handler           string          `json:"handler"`
	HandlerVersion    string          `json:"handler_version"`
	Input             json.RawMessage `json:"input"` // byte for byte as submitted
	BusinessKey       string          `json:"business_key"`
	ResourceKey       string          `json:"resource_key"`
	Traceparent       string          `json:"traceparent"` // W3C trace context of the submission
	Priority          int             `json:"priority"`
	StartedAt         time.Time       `json:"started_at"` // database clock, as all times here
	LeaseUntil        time.Time       `json:"lease_until"`
	DeadlineAt        time.Time       `json:"deadline_at"`
	AttemptDeadlineAt time.Time       `json:"attempt_deadline_at"`
	MaxAttempts       int             `json:"max_attempts"`
	AttemptsUsed      int             `json:"attempts_used"` // this one included
}

// Answers to a renewal.
const (
	RenewalContinue        = "CONTINUE"
	RenewalCancelRequested = "CANCEL_REQUESTED"
	RenewalLost            = "LOST"    // somebody else decides about the task now
	RenewalRefused         = "REFUSED" // the item was wrong, see Problem
)

// RenewalOutcome is what the worker should do now.
type RenewalOutcome struct {
	TaskID     string     `json:"task_id"`
	AttemptNo  int        `json:"attempt_no"`
	Outcome    string     `json:"outcome"`
	LeaseUntil *time.Time `json:"lease_until"`
	Problem    *Error     `json:"problem"`
}

// Outcomes a worker reports.
const (
	OutcomeSucceeded = "SUCCEEDED" // with an output
	OutcomeFailed    = "FAILED"    // retryable or not
	OutcomeUnknown   = "UNKNOWN"   // the worker itself does not know
	OutcomeCancelled = "CANCELLED" // it stopped on request
	OutcomeReturned  = "RETURNED"  // it never began; costs no attempt
)

// Completion is how one attempt ended. The same report again gets the same answer.
type Completion struct {
	Lease
	Outcome   string
	Output    json.RawMessage // with SUCCEEDED; sent byte for byte; empty is null
	Retryable bool            // with FAILED
	Failure   *Failure        // with FAILED, UNKNOWN and, if there is one, CANCELLED
}

// Answers to a report.
const (
	ReportAccepted = "ACCEPTED"
	ReportReplayed = "REPLAYED" // it had been accepted before
	ReportLate     = "LATE"     // kept as evidence, no state changed
	ReportRefused  = "REFUSED"  // see Problem
)

// CompletionOutcome is what became of one report.
type CompletionOutcome struct {
	TaskID    string    `json:"task_id"`
	AttemptNo int       `json:"attempt_no"`
	Outcome   string    `json:"outcome"`
	State     TaskState `json:"state"`
	Problem   *Error    `json:"problem"`
}

// CompletionAnswer is one outcome per report, in order, and the tasks claimed with them.
type CompletionAnswer struct {
	Items        []CompletionOutcome `json:"items"`
	Tasks        []ClaimedTask       `json:"tasks"`
	ClaimProblem *Error              `json:"claim_problem"` // why nothing was claimed
}

// waitMargin is how much longer than its long poll a claim may take.
const waitMargin = 15 * time.Second

// Claim starts attempts, waiting up to WaitMS for the first (scope worker:claim). An unanswered claim may have started
// attempts: ask again with the same ClaimKey and a higher Question, else nobody runs them until their leases end.
func (c *Client) Claim(ctx context.Context, r ClaimRequest) ([]ClaimedTask, error) {
	body, err := object(r)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Tasks []ClaimedTask `json:"tasks"`
	}
	_, err = c.once(ctx, waitMargin+time.Duration(r.WaitMS)*time.Millisecond, func() (*http.Request, error) {
		return rest.NewClaimTasksRequestWithBody(c.server, jsonBody, bytes.NewReader(body))
	}, &answer)
	return answer.Tasks, err
}

// Renewal extends one lease and, if there is something new, tells how far its attempt is.
type Renewal struct {
	Lease
	Progress *Progress
}

type renewalWire struct {
	Lease
	ExtendMS int64 `json:"extend_ms"`
}

func (r Renewal) body(extend time.Duration) ([]byte, error) {
	wire := renewalWire{r.Lease, milliseconds(extend)}
	if r.Progress == nil {
		return object(wire)
	}
	progress, err := object(*r.Progress, payload{"detail", r.Progress.Detail})
	if err != nil {
		return nil, err
	}
	return object(wire, payload{"progress", progress})
}

// Renew extends up to 256 leases, one outcome each in their order (scope worker:claim). extend counts from the server's
// now and never passes the attempt timeout or the deadline.
func (c *Client) Renew(ctx context.Context, leases []Lease, extend time.Duration) ([]RenewalOutcome, error) {
	renewals := make([]Renewal, len(leases))
	for i, l := range leases {
		renewals[i].Lease = l
	}
	return c.RenewWith(ctx, renewals, extend)
}

// RenewWith is Renew with what the attempts have to tell.
func (c *Client) RenewWith(ctx context.Context, renewals []Renewal, extend time.Duration) ([]RenewalOutcome, error) {
	items := make([][]byte, len(renewals))
	for i, r := range renewals {
		text, err := r.body(extend)
		if err != nil {
			return nil, err
		}
		items[i] = text
	}
	var answer struct {
		Items []RenewalOutcome `json:"items"`
	}
	_, err := c.once(ctx, tryTimeout, func() (*http.Request, error) {
		return rest.NewRenewLeasesRequestWithBody(c.server, jsonBody, bytes.NewReader(list(items)))
	}, &answer)
	return answer.Items, err
}

type completionWire struct {
	Lease
	Outcome   string `json:"outcome"`
	Retryable bool   `json:"retryable,omitempty"`
}

func (r Completion) body() ([]byte, error) {
	parts := []payload{}
	if r.Outcome == OutcomeSucceeded {
		parts = append(parts, payload{"output", orNull(r.Output)})
	}
	if r.Failure != nil {
		failure, err := object(Failure{Code: r.Failure.Code, Message: r.Failure.Message}, payload{"details", r.Failure.Details})
		if err != nil {
			return nil, err
		}
		parts = append(parts, payload{"failure", failure})
	}
	return object(completionWire{r.Lease, r.Outcome, r.Retryable}, parts...)
}

// Complete reports the ends of up to 256 attempts and, with claim, starts the next ones in the same request and
// transaction (scope worker:claim). claim may be nil.
func (c *Client) Complete(ctx context.Context, worker string, reports []Completion, claim *ClaimRequest) (*CompletionAnswer, error) {
	items := make([][]byte, len(reports))
	for i, r := range reports {
		text, err := r.body()
		if err != nil {
			return nil, err
		}
		items[i] = text
	}
	body, err := completionBody(worker, items, claim)
	if err != nil {
		return nil, err
	}
	var answer CompletionAnswer
	_, err = c.once(ctx, tryTimeout, func() (*http.Request, error) {
		return rest.NewCompleteTasksRequestWithBody(c.server, jsonBody, bytes.NewReader(body))
	}, &answer)
	if err != nil {
		return nil, err
	}
	return &answer, nil
}

func completionBody(worker string, items [][]byte, claim *ClaimRequest) ([]byte, error) {
	rest, err := json.Marshal(struct {
		Worker string        `json:"worker"`
		Claim  *ClaimRequest `json:"claim,omitempty"`
	}{worker, claim})
	if err != nil {
		return nil, err
	}
	text := list(items)
	text[len(text)-1] = ','
	return append(text, rest[1:]...), nil
}
