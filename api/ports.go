package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/engine/weave/definition"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

// Pulse runs task operations; the lanes implement it. Nothing here returns an error: whatever goes wrong, the database
// included, is a Refusal of the item it happened to ("busy", "outcome_unknown", "overloaded"), because one item's
// trouble must not become another's. Outcomes come index by index as the items went in. Credential, Application and
// queue ids are already filled in from the caller; the namespace is the caller's.
type Pulse interface {
	// Submit accepts tasks; each has its own receipt or refusal.
	Submit(ctx context.Context, caller auth.Caller, items []pulse.Submission) []pulse.SubmitOutcome
	// Claim starts tasks and waits for the first of them up to wait, or until ctx ends.
	Claim(ctx context.Context, caller auth.Caller, claim pulse.Claim, wait time.Duration) ClaimAnswer
	// Renew extends leases.
	Renew(ctx context.Context, caller auth.Caller, items []pulse.Renewal) []pulse.RenewalOutcome
	// Complete takes reports and, with a claim, starts the next tasks in the same transaction. It never waits for work:
	// a report's answer is not held back.
	Complete(ctx context.Context, caller auth.Caller, reports []pulse.Report, claim *pulse.Claim) ([]pulse.ReportOutcome, ClaimAnswer)
	// Cancel ends a waiting task or asks a running one to stop.
	Cancel(ctx context.Context, caller auth.Caller, cancel pulse.Cancel) pulse.CancelOutcome
	// Review decides about a task that waits for a person.
	Review(ctx context.Context, caller auth.Caller, review pulse.ReviewRequest) pulse.ReviewOutcome
	// Retry accepts a new task that repeats an ended one.
	Retry(ctx context.Context, caller auth.Caller, retry pulse.ManualRetry) pulse.SubmitOutcome
}

// ClaimAnswer is the started tasks with their payloads, already read by the lane in one statement for all claims of a
// transaction; handlers must not read them again. No tasks and no refusal means: nothing now.
type ClaimAnswer struct {
	Tasks   []lane.Granted
	Refusal *engine.Refusal
}

// Weave runs workflow operations.
type Weave interface {
	// Publish judges a document and writes it as an immutable version. The key is optional. A refusal named
	// definition_invalid comes with the findings.
	Publish(ctx context.Context, caller auth.Caller, document []byte, key string) store.Publication
	// Start starts instances; each has its own receipt or refusal.
	Start(ctx context.Context, caller auth.Caller, items []*lane.Start) []lane.StartOutcome
	// Ask does what is asked of an instance, with its frozen receipt.
	Ask(ctx context.Context, caller auth.Caller, request weave.Request) weave.Answer
	// Check judges a document as Publish would, against the queues that exist, and writes nothing.
	Check(ctx context.Context, caller auth.Caller, document []byte) ([]definition.Problem, error)
}
