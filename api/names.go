package api

import (
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// The numbers of the database and the names of the API, side by side.
var (
	outcomeNames = map[pulse.Outcome]httpapi.AttemptOutcome{
		pulse.Succeeded: "SUCCEEDED", pulse.Retryable: "FAILED_RETRYABLE", pulse.Permanent: "FAILED_PERMANENT",
		pulse.Unknown: "UNKNOWN", pulse.Cancelled: "CANCELLED", pulse.Returned: "RETURNED",
	}
	sourceNames = map[pulse.Source]httpapi.SourceKind{
		pulse.SourceDirect: "DIRECT", pulse.SourceRetry: "MANUAL_RETRY", pulse.SourceSchedule: "SCHEDULE", pulse.SourceWorkflow: "WORKFLOW",
	}
	eventNames = map[pulse.EventKind]httpapi.TaskEventKind{
		pulse.EventSubmitted: "ACCEPTED", pulse.EventStarted: "STARTED", pulse.EventSucceeded: "SUCCEEDED", pulse.EventFailed: "FAILED",
		pulse.EventCancelled: "CANCELLED", pulse.EventRetryScheduled: "RETRY_SCHEDULED", pulse.EventLost: "LOST",
		pulse.EventReview: "REVIEW_REQUIRED", pulse.EventCancelRequested: "CANCEL_REQUESTED", pulse.EventReturned: "RETURNED",
		pulse.EventExpired: "EXPIRED", pulse.EventReviewed: "REVIEWED",
	}
	waitNames = map[pulse.State]httpapi.TaskWaitsFor{
		pulse.Queued: "WORKER", pulse.Delayed: "TIME", pulse.Blocked: "RESOURCE_KEY", pulse.Gated: "GATE", pulse.Review: "REVIEW",
	}
	lostNames = map[pulse.LostPolicy]httpapi.TaskLostPolicy{pulse.LostReview: "REVIEW", pulse.LostRetry: "RETRY"}
)

// Prefixes of typed ids.
const (
	prefixTask       = "task"
	prefixInstance   = "inst"
	prefixActivation = "act"
	prefixSignal     = "sig"
	prefixAudit      = "audit"
	prefixOperation  = "op"
)

// id reads an id whose form the description has already checked.
func id(prefix, text string) engine.ID {
	out, _ := engine.ParseID(prefix, text)
	return out
}

// idText writes a stored id.
func idText(prefix string, stored []byte) string { return engine.ID(stored).Text(prefix) }

// found turns "no rows" into the named refusal.
func found(err error, kind string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return problem.Missing(kind)
	}
	return err
}

// optional is nil for the empty text, so that an absent value leaves the answer.
func optional(b []byte) *string {
	if len(b) == 0 {
		return nil
	}
	s := string(b)
	return &s
}

func pointer[T any](v T) *T { return &v }
