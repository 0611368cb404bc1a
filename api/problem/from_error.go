package problem

import (
	"context"
	"errors"

	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine"
)

// FromError makes a problem of any error. Refusals keep their code; what the database does becomes 503 with advice;
// everything else is "internal". The error's own text goes to the log and never to the caller.
func FromError(err error) *Problem {
	var p *Problem
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refusal):
		return FromRefusal(refusal)
	case errors.Is(err, tx.ErrOutcomeUnknown):
		return New("outcome_unknown", "ask again with the same key").WithCause(err)
	case errors.Is(err, tx.ErrBusy):
		return New("busy", "nothing was committed; try again").WithCause(err)
	case errors.Is(err, context.Canceled):
		return New("request_cancelled", "the request ended before its answer was known; ask again with the same key").WithCause(err)
	case errors.Is(err, context.DeadlineExceeded):
		return New("busy", "the answer did not come in time; ask again with the same key").WithCause(err)
	}
	return fromDatabase(err)
}

func fromDatabase(err error) *Problem {
	switch tx.ClassOf(err) {
	case tx.Retry:
		return New("busy", "nothing was committed; try again").WithCause(err)
	case tx.Disconnect, tx.Unavailable:
		return New("database_unavailable", "the database cannot be reached; try again").WithCause(err)
	}
	if errors.Is(err, tx.ErrUnavailable) {
		return New("database_unavailable", "nothing was committed; try again").WithCause(err)
	}
	return (&Problem{Code: CodeInternal}).WithCause(err)
}
