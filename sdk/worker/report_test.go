package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
)

// One line for everything a handler can say (package comment).
func TestWhatAReturnSays(t *testing.T) {
	none := errors.New("none")
	boom := errors.New("boom")
	for _, c := range []struct {
		name      string
		cause     error // why the context ended; none when it lives
		out       string
		err       error
		outcome   string
		retryable bool
		code      string
	}{
		{"output", none, `{"a":1}`, nil, "SUCCEEDED", false, ""},
		{"output although asked to stop", ErrCancelRequested, `1`, nil, "SUCCEEDED", false, ""},
		{"output that is no JSON", none, `{`, nil, "UNKNOWN", false, "output_invalid"},
		{"plain error", none, ``, boom, "FAILED", true, "handler_error"},
		{"retryable", none, ``, Retryable(boom), "FAILED", true, "handler_error"},
		{"permanent", none, ``, Permanent(boom, "card_declined"), "FAILED", false, "card_declined"},
		{"permanent inside another error", none, ``, fmt.Errorf("pay: %w", Permanent(boom, "card_declined")), "FAILED", false, "card_declined"},
		{"unknown", none, ``, UnknownOutcome(boom), "UNKNOWN", false, "handler_error"},
		{"permanent although asked to stop", ErrCancelRequested, ``, Permanent(boom, ""), "FAILED", false, "handler_error"},
		{"stopped when asked", ErrCancelRequested, ``, ErrCancelRequested, "CANCELLED", false, "cancel_requested"},
		{"stopped at a drain", ErrDraining, ``, ErrDraining, "FAILED", true, "worker_draining"},
		{"stopped at the deadline", ErrDeadline, ``, ErrDeadline, "FAILED", true, "deadline_reached"},
		{"stopped after loss", ErrLeaseLost, ``, ErrLeaseLost, "FAILED", true, "lease_lost"},
		{"says cancelled and nobody asked", none, ``, ErrCancelRequested, "FAILED", true, "handler_error"},
		{"a call was cut off", ErrCancelRequested, ``, &url.Error{Op: "Post", URL: "x", Err: ErrCancelRequested}, "UNKNOWN", false, "cancel_requested"},
		{"a query was cut off", ErrDeadline, ``, context.DeadlineExceeded, "UNKNOWN", false, "deadline_reached"},
		{"its own timeout", none, ``, context.DeadlineExceeded, "FAILED", true, "handler_error"},
		{"another error after the end", ErrLeaseLost, ``, io.ErrUnexpectedEOF, "FAILED", true, "handler_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.cause != none {
				cancel(c.cause)
			}
			got := judge(ctx, &Task{}, json.RawMessage(c.out), c.err)
			code := ""
			if got.Failure != nil {
				code = got.Failure.Code
			}
			if got.Outcome != c.outcome || got.Retryable != c.retryable || code != c.code {
				t.Errorf("%s retryable=%v %s", got.Outcome, got.Retryable, code)
			}
		})
	}
}

func TestFailuresFitTheAPI(t *testing.T) {
	task := &Task{}
	task.Progress(strings.Repeat("p", 6<<10))
	long := errors.New(strings.Repeat("é", 2000) + "\x00\xff")
	got := judge(t.Context(), task, nil, WithDetails(Permanent(long, strings.Repeat("c", 100)), strings.Repeat("d", 12<<10)))
	f := got.Failure
	if len(f.Code) > 64 || len(f.Message) > 1024 || len(f.Details) > 16<<10 || !json.Valid(f.Details) {
		t.Errorf("%d %d %d", len(f.Code), len(f.Message), len(f.Details))
	}
	got = judge(t.Context(), task, nil, WithDetails(UnknownOutcome(io.EOF), map[string]int{"line": 12}))
	var evidence struct {
		Progress string
		Details  map[string]int
	}
	if err := json.Unmarshal(got.Failure.Details, &evidence); err != nil || evidence.Details["line"] != 12 || len(evidence.Progress) != 6<<10 {
		t.Errorf("%v %.100s", err, got.Failure.Details)
	}
	if Permanent(nil, "x") != nil || WithDetails(nil, 1) != nil {
		t.Error("no error became one")
	}
	if !errors.Is(WithDetails(UnknownOutcome(io.EOF), 1), io.EOF) {
		t.Error("the cause is hidden")
	}
}
