package execworker

import (
	"io"
	"time"

	"github.com/orbitrun/orbit/gen/client"
)

// Options are what a worker does and for how long.
type Options struct {
	Name        string
	Queues      []string
	Handlers    []client.HandlerRef
	Command     []string // path and arguments
	Concurrency int      // commands at the same time, 1 to 64
	Lease       time.Duration
	Wait        time.Duration // of one claim; the longest time an idle worker takes to stop
	Grace       time.Duration // how long running commands may end after the worker was asked to stop
	KillAfter   time.Duration // between SIGTERM and SIGKILL
	MaxTasks    int           // stop after so many; 0: never
	UntilEmpty  bool          // stop when nothing can be claimed
	Otherwise   Otherwise     // what an exit code nobody agreed on means
	Log         io.Writer
}

// Otherwise is what the owner of a command declares about crashes of it.
type Otherwise string

// The declarations; Unknown is the default because it is the only one that is
// always true.
const (
	Unknown   Otherwise = "unknown"
	Retryable Otherwise = "retryable"
	Permanent Otherwise = "permanent"
)

// The exit codes a command and the worker agree on; the first two are those
// of sysexits.h.
const (
	exitPermanent = 65
	exitRetryable = 75
	exitCancelled = 79
)

// ExitCodes is the table of the help text.
const ExitCodes = `  0      SUCCEEDED; standard output is the output as JSON (nothing printed: null)
  65     FAILED for good
  75     FAILED, to be tried again as the task's retry policy says
  79     CANCELLED: it stopped because it was asked to (SIGTERM after a cancel) and left nothing behind
  other  UNKNOWN, as for a command ended by a signal: a person decides (NEEDS_REVIEW); --otherwise declares
         that it means FAILED, if that is true of this command`
