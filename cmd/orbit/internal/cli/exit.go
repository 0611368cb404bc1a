package cli

import (
	"context"
	"errors"
	"fmt"
)

// The exit codes of every client command. Scripts act on them, so they never
// change their meaning.
const (
	ExitOK          = 0
	ExitRefused     = 1
	ExitUsage       = 2
	ExitUnavailable = 3
	ExitTimedOut    = 4
	ExitUnfulfilled = 5
	ExitInterrupted = 130
)

// ExitCodes is the text of "orbit help exit-codes".
const ExitCodes = `  0    done; what was asked for is true now
  1    refused by the server, or findings in a checked file: repeating the same changes nothing
  2    usage: a flag, an argument, a file or the configuration is wrong; nothing was sent
  3    unreachable or unavailable: no connection, a full quota or queue (429), or a fault of the server (5xx);
       repeating with the same key is safe and may succeed
  4    timed out: the time given with --timeout was over first; what was watched goes on
  5    what was watched ended otherwise than SUCCEEDED, or waits for a person (NEEDS_REVIEW)
  130  interrupted from the keyboard`

// Failure is an error with its exit code. An empty text prints nothing: the
// command already said on standard output what it found.
type Failure struct {
	Code int
	Text string
}

func (f *Failure) Error() string { return f.Text }

// ExitCode is what the process ends with.
func (f *Failure) ExitCode() int { return f.Code }

// Usage is a mistake in flags, arguments or files.
func Usage(format string, args ...any) error {
	return &Failure{ExitUsage, fmt.Sprintf(format, args...)}
}

// Findings ends a command that worked and found something to object to.
func Findings() error { return &Failure{ExitRefused, ""} }

// ExitCodeOf is the exit code an error stands for. Errors without one come
// from cobra and the file system: they are usage.
func ExitCodeOf(err error) int {
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &coded):
		return coded.ExitCode()
	case errors.Is(err, context.DeadlineExceeded):
		return ExitTimedOut
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	}
	return ExitUsage
}
