package worker

import "errors"

// Causes with which a handler's context ends (context.Cause).
var (
	ErrLeaseLost       = errors.New("worker: the lease is lost, the attempt is no longer ours")
	ErrCancelRequested = errors.New("worker: a cancel was requested")
	ErrDeadline        = errors.New("worker: the attempt timeout or the deadline of the task is reached")
	ErrDraining        = errors.New("worker: the drain time is over")
)

// causeCodes are the failure codes of attempts that stopped for one of them.
var causeCodes = map[error]string{
	ErrLeaseLost: "lease_lost", ErrCancelRequested: "cancel_requested", ErrDeadline: "deadline_reached", ErrDraining: "worker_draining",
}

// statement is what a handler says about its own error.
type statement int

const (
	sayRetryable statement = iota
	sayPermanent
	sayUnknown
)

type statedError struct {
	err  error
	says statement
	code string
}

func (e *statedError) Error() string { return e.err.Error() }
func (e *statedError) Unwrap() error { return e.err }

// Permanent says that the task failed and that trying again is useless. code is a stable name for the failure, at most
// 64 bytes; empty is "handler_error". A nil err stays nil.
func Permanent(err error, code string) error { return stated(err, sayPermanent, code) }

// Retryable says that the attempt failed and had no effect that a repetition would double. It is what an unwrapped error
// means too.
func Retryable(err error) error { return stated(err, sayRetryable, "") }

// UnknownOutcome says that the handler does not know whether its effect happened: an outside call was sent and not
// answered.
func UnknownOutcome(err error) error { return stated(err, sayUnknown, "") }

func stated(err error, says statement, code string) error {
	if err == nil {
		return nil
	}
	return &statedError{err, says, code}
}

type detailedError struct {
	err     error
	details any
}

func (e *detailedError) Error() string { return e.err.Error() }
func (e *detailedError) Unwrap() error { return e.err }

// WithDetails adds evidence to an error: any JSON, at most 16 KiB, shown with the failure. A nil err stays nil.
func WithDetails(err error, details any) error {
	if err == nil {
		return nil
	}
	return &detailedError{err, details}
}
