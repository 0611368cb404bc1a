package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/cli/execworker"
	"github.com/orbitrun/orbit/gen/client"
)

var _ = register(workerCommand)

func workerCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("worker", "Work on tasks", "", workerRun(s))
	s.Attach(cmd)
	return cmd
}

type workerFlags struct {
	execworker.Options
	handlers  []string
	otherwise string
}

func workerRun(s *cli.Settings) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use: "run --queue NAME --handler NAME[@VERSION] -- COMMAND [ARGUMENT…]", Short: "Run a command for every task", Args: cobra.MinimumNArgs(1),
		Long: `Run a command for every task. The task's input is its standard input, its standard output becomes the task's output, its
standard error goes to this worker's. The exit code says how it ended:

` + execworker.ExitCodes + `

With a code other than 0 standard output may hold {"code": "…", "message": "…", "details": …}; otherwise the last line of
standard error is the message.

The command finds ORBIT_TASK_ID, ORBIT_ATTEMPT_NO, ORBIT_ATTEMPTS_USED, ORBIT_MAX_ATTEMPTS, ORBIT_QUEUE, ORBIT_HANDLER,
ORBIT_HANDLER_VERSION, ORBIT_BUSINESS_KEY, ORBIT_RESOURCE_KEY, ORBIT_DEADLINE_AT, ORBIT_ATTEMPT_DEADLINE_AT and
TRACEPARENT in its environment, and not the worker's key.

Leases are renewed while commands run. A cancelled task's command gets SIGTERM once. A command whose lease is lost or
whose time is over gets SIGTERM and then SIGKILL, and is reported as it ended.

SIGTERM or Ctrl-C drains: nothing more is started, claimed tasks that had not begun are returned at no cost, running
commands may end within --grace. A second signal stops them at once. Exit code 0 after draining.`,
		Example: `  orbit worker run --queue work --handler hello@1 -- cat
  orbit worker run -q conversion --handler convert@2 --handler convert@3 --concurrency 8 -- ./convert.sh`,
	}
	f.attach(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.complete(args); err != nil {
			return err
		}
		return s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
			f.Log = on.Err
			return runWorker(ctx, on, f.Options)
		})(cmd, args)
	}
	return cmd
}

func (f *workerFlags) attach(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.Queues, "queue", "q", nil, "queue to work on; several times or separated by commas (required)")
	flags.StringSliceVar(&f.handlers, "handler", nil, "handler the command serves, version 1 unless given as NAME@VERSION; several times (required)")
	flags.IntVar(&f.Concurrency, "concurrency", 1, "commands at the same time, 1 to 64")
	flags.DurationVar(&f.Lease, "lease", 30*time.Second, "how long a task is held between renewals, 1s to 1h")
	flags.DurationVar(&f.Wait, "wait", 5*time.Second, "how long one claim waits for a task; also how long an idle worker takes to stop")
	flags.DurationVar(&f.Grace, "grace", 30*time.Second, "how long running commands may end when draining")
	flags.DurationVar(&f.KillAfter, "kill-after", 10*time.Second, "between SIGTERM and SIGKILL")
	flags.StringVar(&f.Name, "name", "", "name of the worker, for people (default: host and process id)")
	flags.IntVar(&f.MaxTasks, "max-tasks", 0, "stop after so many tasks (default: never)")
	flags.BoolVar(&f.UntilEmpty, "until-empty", false, "stop when nothing can be claimed")
	flags.StringVar(&f.otherwise, "otherwise", "unknown", "what other exit codes and crashes mean: unknown, retryable or permanent")
	_ = cmd.MarkFlagRequired("queue")
	_ = cmd.MarkFlagRequired("handler")
}

func (f *workerFlags) complete(args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return cli.Usage("the command cannot be run: %v", err)
	}
	f.Command = append([]string{path}, args[1:]...)
	for _, text := range f.handlers {
		name, version, err := handlerOrFirst(text)
		if err != nil {
			return err
		}
		f.Handlers = append(f.Handlers, client.HandlerRef{Handler: name, HandlerVersion: version})
	}
	switch f.Otherwise = execworker.Otherwise(f.otherwise); f.Otherwise {
	case execworker.Unknown, execworker.Retryable, execworker.Permanent:
	default:
		return cli.Usage("--otherwise %q: use unknown, retryable or permanent", f.otherwise)
	}
	switch {
	case f.Concurrency < 1 || f.Concurrency > 64:
		return cli.Usage("--concurrency is 1 to 64")
	case f.Lease < time.Second || f.Lease > time.Hour:
		return cli.Usage("--lease is 1s to 1h")
	case f.Wait < 0 || f.Wait > 30*time.Second:
		return cli.Usage("--wait is 0 to 30s")
	}
	if f.Name == "" {
		host, _ := os.Hostname()
		f.Name = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	return nil
}

// handlerOrFirst reads NAME[@VERSION]; a handler without versions is at 1.
func handlerOrFirst(text string) (name, version string, err error) {
	for _, r := range text {
		if r == '@' {
			return handlerRef(text)
		}
	}
	return text, "1", nil
}

// runWorker listens for the second signal itself: the first has ended ctx.
func runWorker(ctx context.Context, on *cli.Session, opt execworker.Options) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	hurry := make(chan struct{})
	go func() {
		<-signals
		fmt.Fprintln(on.Err, "draining; again to stop the running commands")
		<-signals
		close(hurry)
	}()
	return execworker.New(on, opt).Run(ctx, hurry)
}
