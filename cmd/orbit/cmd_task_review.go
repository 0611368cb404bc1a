package main

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

type reviewFlags struct {
	decision, reason, evidence, output, code, message, key string
	version                                                int64
	ended, show                                            bool
}

func taskReview(s *cli.Settings) *cobra.Command {
	var f reviewFlags
	cmd := &cobra.Command{
		Use: "review ID", Short: "Decide about a task in NEEDS_REVIEW, or show the decision", Args: cobra.ExactArgs(1),
		Long: `Decide about a task in NEEDS_REVIEW. Read its attempts and late evidence first, and make sure that no execution of it is
still under way: --all-executions-ended says so. The decision is final, ends the task and frees its resource key.

With --show, print the decision that was made.`,
		Example: `  orbit task review ID --decision FAILED --version 3 --reason 'no transfer arrived' --evidence '{"statement": 17}' --all-executions-ended`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.show, "show", false, "print the decision that was made")
	flags.StringVar(&f.decision, "decision", "", "SUCCEEDED or FAILED")
	flags.Int64Var(&f.version, "version", 0, "state version the decision is about (orbit task get)")
	flags.StringVar(&f.reason, "reason", "", "why; kept in the audit")
	flags.StringVar(&f.evidence, "evidence", "", "what it rests on: JSON, @file, or - for standard input")
	flags.BoolVar(&f.ended, "all-executions-ended", false, "state that no execution of the task is still under way")
	flags.StringVar(&f.output, "output-json", "", "output of a success: JSON, @file, or -")
	flags.StringVar(&f.code, "failure-code", "", "code of a failure (default review_failed)")
	flags.StringVar(&f.message, "failure-message", "", "one sentence about the failure")
	flags.StringVar(&f.key, "key", "", "idempotency key of this command (default: a new one)")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		if f.show {
			return showOne(ctx, on, reviewFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetTaskReview(ctx, args[0]) })
		}
		body, err := f.body(cmd)
		if err != nil {
			return err
		}
		params := &client.ReviewTaskParams{IdempotencyKey: cli.Key(f.key, on.Err)}
		return showOne(ctx, on, reviewReceiptFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.ReviewTaskWithBody(ctx, args[0], params, "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

func (f *reviewFlags) body(cmd *cobra.Command) ([]byte, error) {
	switch {
	case f.decision != "SUCCEEDED" && f.decision != "FAILED":
		return nil, cli.Usage("--decision is SUCCEEDED or FAILED")
	case f.version < 1:
		return nil, cli.Usage("--version is the state version the decision is about; orbit task get shows it")
	case f.reason == "" || f.evidence == "":
		return nil, cli.Usage("a decision needs --reason and --evidence")
	case !f.ended:
		return nil, cli.Usage("make sure that no execution of the task is still under way, then say --all-executions-ended")
	}
	evidence, err := cli.Payload("--evidence", f.evidence, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	b := new(cli.Body).Text("decision", f.decision).Int("expected_version", f.version).Text("reason", f.reason).
		Raw("evidence", evidence).Flag("all_executions_ended", true)
	if f.output != "" {
		output, err := cli.Payload("--output-json", f.output, cmd.InOrStdin())
		if err != nil {
			return nil, err
		}
		b.Raw("output", output)
	}
	if f.code != "" || f.message != "" {
		if f.code == "" {
			f.code = "review_failed"
		}
		failure, err := new(cli.Body).Text("code", f.code).Text("message", f.message).Bytes()
		if err != nil {
			return nil, err
		}
		b.Raw("failure", failure)
	}
	return b.Bytes()
}

func reviewReceiptFields(r client.ReviewReceipt) []render.Field {
	return []render.Field{{Name: "task", Value: r.TaskId}, {Name: "state", Value: string(r.State)}, {Name: "state version", Value: render.Int(r.StateVersion)},
		{Name: "decided by", Value: r.DecidedBy}, {Name: "at", Value: render.Time(r.At)}}
}

func reviewFields(r client.TaskReview) []render.Field {
	return []render.Field{{Name: "task", Value: r.TaskId}, {Name: "decision", Value: string(r.Decision)}, {Name: "state version", Value: render.Int(r.StateVersion)},
		{Name: "decided by", Value: r.DecidedBy}, {Name: "at", Value: render.Time(r.At)}, {Name: "reason", Value: r.Reason},
		{Name: "evidence", Value: string(r.Evidence)}, {Name: "failure", Value: failureText(r.Failure)}, {Name: "output", Value: string(r.Output)}}
}

func taskRetry(s *cli.Settings) *cobra.Command {
	var reason, key string
	var version int64
	var deadline time.Duration
	cmd := &cobra.Command{
		Use: "retry ID --version N --reason TEXT", Short: "Repeat a failed or cancelled task as a new one", Args: cobra.ExactArgs(1),
		Long: `Repeat a FAILED or CANCELLED task as a new task with the same handler, input, keys and rules, under today's limits. A task has
one direct successor: retry that one if it fails as well. A task with an attempt that ended UNKNOWN is not repeated.`,
	}
	flags := cmd.Flags()
	flags.Int64Var(&version, "version", 0, "state version of the task that is repeated (required)")
	flags.StringVar(&reason, "reason", "", "why; kept in the audit (required)")
	flags.DurationVar(&deadline, "deadline", 0, "total time of the new task (default: as long as the original had)")
	flags.StringVar(&key, "key", "", "submit key of the new task (default: a new one)")
	_ = cmd.MarkFlagRequired("version")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		b := new(cli.Body).Text("submit_key", cli.Key(key, on.Err)).Int("expected_version", version).Text("reason", reason)
		if deadline != 0 {
			b.Millis("deadline_ms", deadline)
		}
		body, err := b.Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, retryFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.RetryTaskWithBody(ctx, args[0], nil, "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

func retryFields(r client.RetryReceipt) []render.Field {
	return []render.Field{{Name: "task", Value: r.TaskId}, {Name: "retry of", Value: r.RetryOf}, {Name: "queue", Value: r.Queue}, {Name: "state", Value: string(r.State)},
		{Name: "accepted", Value: render.Time(r.AcceptedAt)}, {Name: "deadline", Value: render.Time(r.DeadlineAt)}}
}

func taskBlockers(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "blockers ID", Short: "Say why a task is not running", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			list, answer, err := cli.Read[client.TaskBlockers](ctx, on, func(ctx context.Context) (*http.Response, error) {
				return on.API.ListTaskBlockers(ctx, args[0])
			})
			if err != nil {
				return err
			}
			if on.Out.JSON {
				return on.Out.Body(answer.Body)
			}
			rows := [][]string{}
			for _, b := range list.Items {
				rows = append(rows, []string{string(b.Kind), blockerText(b), render.TextOf(b.Detail)})
			}
			if len(rows) == 0 {
				rows = append(rows, []string{"-", string(list.State), "nothing holds it back"})
			}
			return on.Out.Table([]string{"cause", "what", "detail"}, rows)
		}),
	}
}

// blockerText is the object of a cause: the time, the holder, the instance, or how full the limit is.
func blockerText(b client.TaskBlocker) string {
	switch {
	case b.At != nil:
		return render.TimeOf(b.At)
	case b.Reason != nil:
		return *b.Reason
	case b.Holder != nil:
		return *b.Holder + " " + render.TextOf(b.HolderState)
	case b.InstanceId != nil:
		return *b.InstanceId
	case b.Limit != nil:
		return render.IntOf(b.Current) + " of " + render.IntOf(b.Limit)
	}
	return ""
}
