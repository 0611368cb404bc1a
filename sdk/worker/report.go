package worker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	orbit "github.com/orbitrun/orbit/sdk"
)

// report is a completion on its way. It is never changed while it is repeated: the server recognises a repetition by its
// content.
type report struct {
	a        *attempt
	c        orbit.Completion
	alone    bool // goes in a request of its own, because one with others was refused as a whole
	fallback bool // already stands in for a report that was refused
}

// bytes is about the size on the wire.
func (r *report) bytes() int {
	size := 256 + len(r.c.Output)
	if f := r.c.Failure; f != nil {
		size += len(f.Message) + len(f.Details)
	}
	return size
}

// judge turns what a handler returned into a report (package comment).
func judge(ctx context.Context, t *Task, out json.RawMessage, err error) orbit.Completion {
	if err == nil {
		if !json.Valid(out) && len(out) > 0 {
			return failed(t, orbit.OutcomeUnknown, "output_invalid", "the handler's output is not JSON", nil)
		}
		return orbit.Completion{Lease: t.Lease, Outcome: orbit.OutcomeSucceeded, Output: out}
	}
	details := detailsOf(err)
	if s, ok := errors.AsType[*statedError](err); ok {
		return s.completion(t, err, details)
	}
	cause := context.Cause(ctx)
	switch {
	case cause == nil:
	case err == cause && cause == ErrCancelRequested: //nolint:errorlint // only the bare cause is the handler's own statement
		return failed(t, orbit.OutcomeCancelled, causeCodes[cause], err.Error(), details)
	case err == cause: //nolint:errorlint // as above
		return retryable(failed(t, orbit.OutcomeFailed, codeOf(cause), err.Error(), details))
	case interrupted(err, cause):
		return failed(t, orbit.OutcomeUnknown, codeOf(cause), "interrupted: "+err.Error(), details)
	}
	return retryable(failed(t, orbit.OutcomeFailed, "handler_error", err.Error(), details))
}

func (e *statedError) completion(t *Task, err error, details any) orbit.Completion {
	code := e.code
	if code == "" {
		code = "handler_error"
	}
	switch e.says {
	case sayPermanent:
		return failed(t, orbit.OutcomeFailed, code, err.Error(), details)
	case sayUnknown:
		return failed(t, orbit.OutcomeUnknown, code, err.Error(), details)
	}
	return retryable(failed(t, orbit.OutcomeFailed, code, err.Error(), details))
}

func interrupted(err, cause error) bool {
	return errors.Is(err, cause) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func codeOf(cause error) string {
	if code, ok := causeCodes[cause]; ok {
		return code
	}
	return "interrupted"
}

func retryable(c orbit.Completion) orbit.Completion { c.Retryable = true; return c }

const (
	codeMax    = 64
	messageMax = 1024
	detailsMax = 16 << 10
)

// failed makes a report with a failure, cut to what the API takes: a report must never be refused for its wording.
func failed(t *Task, outcome, code, message string, details any) orbit.Completion {
	return orbit.Completion{Lease: t.Lease, Outcome: outcome, Failure: &orbit.Failure{
		Code: cut(code, codeMax), Message: cut(message, messageMax), Details: evidence(t, details),
	}}
}

func cut(s string, bytesMax int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
	if len(s) <= bytesMax {
		return s
	}
	s = s[:bytesMax]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// evidence joins what the handler said with its last progress.
func evidence(t *Task, details any) json.RawMessage {
	progress := t.progressed()
	if details == nil && progress == nil {
		return nil
	}
	value := details
	if progress != nil {
		value = map[string]any{"progress": progress}
		if details != nil {
			value = map[string]any{"progress": progress, "details": details}
		}
	}
	raw, err := orbit.JSON(value)
	if err != nil || len(raw) > detailsMax {
		return progress
	}
	return raw
}

func detailsOf(err error) any {
	if d, ok := errors.AsType[*detailedError](err); ok {
		return d.details
	}
	return nil
}

// replacement stands in for a report that the server cannot take: the work was done, nobody can say how it ended.
func (r *report) replacement(problem error) *report {
	return &report{a: r.a, fallback: true,
		c: failed(r.a.task, orbit.OutcomeUnknown, "report_refused", r.c.Outcome+" was refused: "+problem.Error(), nil)}
}
