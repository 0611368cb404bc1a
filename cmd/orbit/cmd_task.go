package main

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

var _ = register(taskCommand)

func taskCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("task", "Submit, follow, cancel, review and retry tasks", "",
		taskSubmit(s), taskSubmitBatch(s), taskGet(s), taskList(s), taskAttempts(s), taskEvents(s), taskSource(s), taskResult(s),
		taskLateEvidence(s), taskCancel(s), taskWatch(s), taskReview(s), taskRetry(s), taskBlockers(s))
	s.Attach(cmd)
	return cmd
}

func taskGet(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show a task with its rules and input", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, taskFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetTask(ctx, args[0]) })
		}),
	}
}

func taskFields(t client.Task) []render.Field {
	return []render.Field{
		{Name: "task", Value: t.TaskId}, {Name: "state", Value: string(t.State)}, {Name: "waits for", Value: render.TextOf(t.WaitsFor)},
		{Name: "queue", Value: t.Queue}, {Name: "handler", Value: t.Handler + "@" + t.HandlerVersion}, {Name: "source", Value: string(t.Source)},
		{Name: "retry of", Value: render.TextOf(t.RetryOf)}, {Name: "retried by", Value: render.TextOf(t.RetriedBy)},
		{Name: "priority", Value: render.Int(t.Priority)}, {Name: "business key", Value: render.TextOf(t.BusinessKey)}, {Name: "resource key", Value: render.TextOf(t.ResourceKey)},
		{Name: "attempts", Value: render.Int(t.AttemptNo) + " started, " + render.Int(t.MaxAttempts) + " allowed"}, {Name: "attempts used", Value: render.IntOf(t.AttemptsUsed)},
		{Name: "failure", Value: render.TextOf(t.FailureCode)}, {Name: "worker", Value: render.TextOf(t.Worker)},
		{Name: "started", Value: render.TimeOf(t.StartedAt)}, {Name: "lease until", Value: render.TimeOf(t.LeaseUntil)},
		{Name: "created", Value: render.Time(t.CreatedAt)}, {Name: "changed", Value: render.Time(t.ChangedAt)},
		{Name: "available", Value: render.Time(t.AvailableAt)}, {Name: "deadline", Value: render.Time(t.DeadlineAt)},
		{Name: "cancel asked", Value: render.TimeOf(t.CancelRequestedAt)}, {Name: "attempt timeout", Value: render.Millis(t.AttemptTimeoutMs)},
		{Name: "lost policy", Value: string(t.LostPolicy)}, {Name: "retry policy", Value: string(t.RetryPolicy)},
		{Name: "output contract", Value: string(t.OutputContract)}, {Name: "state version", Value: render.Int(t.StateVersion)},
		{Name: "attributes", Value: attributeText(t.Attributes)}, {Name: "progress", Value: progressText(t.Progress)}, {Name: "input", Value: string(t.Input)},
	}
}

func attributeText(list []client.Attribute) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = a.Name + ":" + a.Value
	}
	return strings.Join(parts, " ")
}

// progressText is what the worker told last; the attempt and the time say how old it is.
func progressText(p *client.TaskProgress) string {
	if p == nil {
		return ""
	}
	var parts []string
	if p.Percent != nil {
		parts = append(parts, render.Int(*p.Percent)+" %")
	}
	for _, text := range []string{p.Message, string(p.Detail)} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ") + " (attempt " + render.Int(p.AttemptNo) + ", " + render.Time(p.At) + ")"
}

type taskFilter struct {
	queue, state, businessKey, attribute, from, before string
}

// params reads the filters; an empty one is left out.
func (f *taskFilter) params() (*client.ListTasksParams, error) {
	p := &client.ListTasksParams{Queue: f.queue}
	if f.state != "" {
		state := client.TaskState(f.state)
		if !state.Valid() {
			return nil, cli.Usage("--state %q: use QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED or NEEDS_REVIEW", f.state)
		}
		p.State = &state
	}
	if f.businessKey != "" {
		p.BusinessKey = &f.businessKey
	}
	if f.attribute != "" {
		p.Attribute = &f.attribute
	}
	var err error
	if p.CreatedFrom, err = moment("--created-from", f.from); err != nil {
		return nil, err
	}
	p.CreatedBefore, err = moment("--created-before", f.before)
	return p, err
}

// moment reads a time, or a duration before now.
func moment(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if ago, err := time.ParseDuration(text); err == nil {
		at := time.Now().Add(-ago).UTC()
		return &at, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, cli.Usage("%s %q: use a time like 2031-07-01T08:30:00Z, or how long ago, like 15m", flag, text)
	}
	return &at, nil
}

func taskList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	var filter taskFilter
	cmd := &cobra.Command{Use: "list --queue NAME", Short: "List the tasks of a queue, oldest first", Args: cobra.NoArgs}
	f.Attach(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&filter.queue, "queue", "q", "", "queue (required)")
	flags.StringVar(&filter.state, "state", "", "only tasks in this state")
	flags.StringVar(&filter.businessKey, "business-key", "", "only tasks with exactly this key")
	flags.StringVar(&filter.attribute, "attribute", "", "only tasks with this search attribute: NAME:VALUE")
	flags.StringVar(&filter.from, "created-from", "", "created at this time or later: RFC 3339, or how long ago (15m)")
	flags.StringVar(&filter.before, "created-before", "", "created before this time: RFC 3339, or how long ago")
	_ = cmd.MarkFlagRequired("queue")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		params, err := filter.params()
		if err != nil {
			return err
		}
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			params.Cursor, params.Limit = cursor, limit
			return on.API.ListTasks(ctx, params)
		}, []string{"task", "state", "handler", "attempts", "business key", "created", "failure"}, func(t client.TaskSummary) []string {
			return []string{t.TaskId, string(t.State), t.Handler + "@" + t.HandlerVersion, render.Int(t.AttemptNo) + "/" + render.Int(t.MaxAttempts),
				render.Brief(render.TextOf(t.BusinessKey), 32), render.Time(t.CreatedAt), render.TextOf(t.FailureCode)}
		})
	})
	return cmd
}

func taskCancel(s *cli.Settings) *cobra.Command {
	var reason, key string
	cmd := &cobra.Command{
		Use: "cancel ID --reason TEXT", Short: "Ask a task to stop", Args: cobra.ExactArgs(1),
		Long: `Ask a task to stop. A waiting task ends at once. A running one is asked, and its real outcome decides; a finished one stays
what it is.`,
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept in the audit (required)")
	cmd.Flags().StringVar(&key, "key", "", "idempotency key of this command (default: a new one)")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := new(cli.Body).Text("reason", reason).Bytes()
		if err != nil {
			return err
		}
		params := &client.CancelTaskParams{IdempotencyKey: cli.Key(key, on.Err)}
		return showOne(ctx, on, cancelFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.CancelTaskWithBody(ctx, args[0], params, "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

func cancelFields(r client.CancelReceipt) []render.Field {
	return []render.Field{{Name: "task", Value: r.TaskId}, {Name: "state", Value: string(r.State)},
		{Name: "asked to stop", Value: render.Yes(r.CancelRequested)}, {Name: "at", Value: render.Time(r.At)}}
}
