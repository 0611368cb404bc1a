package main

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

var _ = register(queueCommand)

func queueCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("queue", "Make, change and look at queues", "", queuePut(s), queueGet(s), queueList(s), queueBulk(s), queueFailures(s),
		queueHold(s, "pause", "Stop claims", "Nothing is claimed from then on; submissions are still taken, and what runs goes on.", (*client.Client).PauseQueueWithBody),
		queueHold(s, "resume", "End a pause and a drain", "Claims and submissions are taken again.", (*client.Client).ResumeQueueWithBody),
		queueHold(s, "drain", "Stop submissions", "No new tasks are taken; what is there is still given out.", (*client.Client).DrainQueueWithBody))
	s.Attach(cmd)
	return cmd
}

func queuePut(s *cli.Settings) *cobra.Command {
	var openTasksMax, runningAttemptsMax, expected int64
	var rate string
	var paused, draining bool
	cmd := &cobra.Command{
		Use: "put NAME", Short: "Create a queue or replace its settings", Args: cobra.ExactArgs(1),
		Long: `Create a queue or replace its settings: what is not given is set to its default, not kept. The same command again changes
nothing. With --expected-version a change made meanwhile by somebody else is not overwritten; 0 means that the queue must
not exist yet.`,
	}
	cmd.Flags().Int64Var(&openTasksMax, "open-tasks-max", 100_000, "most tasks that have not ended")
	cmd.Flags().Int64Var(&runningAttemptsMax, "running-attempts-max", 1_000, "most attempts at the same time")
	cmd.Flags().BoolVar(&paused, "paused", false, "nothing is claimed; submissions are still taken")
	cmd.Flags().BoolVar(&draining, "draining", false, "no new tasks; claims go on")
	cmd.Flags().StringVar(&rate, "rate", "", "most starts as TOKENS/PERIOD or TOKENS/PERIOD+BURST, as 100/1m or 5/1s+20 (default: no limit)")
	cmd.Flags().Int64Var(&expected, "expected-version", 0, "version that was read")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		b := new(cli.Body).Int("open_tasks_max", openTasksMax).Int("running_attempts_max", runningAttemptsMax).Flag("paused", paused).Flag("draining", draining)
		if cmd.Flags().Changed("expected-version") {
			b.Int("expected_version", expected)
		}
		if rate != "" {
			wanted, err := parseRate(rate)
			if err != nil {
				return err
			}
			b.Value("rate", wanted)
		}
		body, err := b.Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, queueFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.PutQueueWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

func queueGet(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "get NAME", Short: "Show a queue with its limits and depth", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, queueFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetQueue(ctx, args[0]) })
		}),
	}
}

func queueFields(q client.Queue) []render.Field {
	fields := []render.Field{
		{Name: "queue", Value: q.Name}, {Name: "id", Value: q.QueueId}, {Name: "state", Value: queueState(q)},
		{Name: "open tasks", Value: render.Int(q.OpenTasks) + " of " + render.Int(q.OpenTasksMax)},
		{Name: "running", Value: render.Int(q.RunningAttempts) + " of " + render.Int(q.RunningAttemptsMax)},
		{Name: "rate", Value: rateValue(q.Rate)},
		{Name: "ready", Value: render.Int(q.Depth.Ready)}, {Name: "delayed", Value: render.Int(q.Depth.Delayed)},
		{Name: "waiting for a key", Value: render.Int(q.Depth.WaitingKey)}, {Name: "waiting for a gate", Value: render.Int(q.Depth.WaitingGate)},
		{Name: "needs review", Value: render.Int(q.Depth.NeedsReview)}, {Name: "oldest ready", Value: render.MillisOf(q.OldestAgeMs)},
		{Name: "version", Value: render.Int(q.Version)}, {Name: "created", Value: render.Time(q.CreatedAt)},
	}
	for _, h := range q.Holds {
		fields = append(fields, render.Field{Name: strings.ToLower(string(h.Kind)), Value: render.Time(h.At) + " by " + h.By + ": " + h.Reason})
	}
	return fields
}

func queueState(q client.Queue) string {
	switch {
	case q.Paused && q.Draining:
		return "PAUSED, DRAINING"
	case q.Paused:
		return "PAUSED"
	case q.Draining:
		return "DRAINING"
	}
	return "OPEN"
}

func queueList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list", Short: "List queues by name", Args: cobra.NoArgs}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListQueues(ctx, &client.ListQueuesParams{Cursor: cursor, Limit: limit})
		}, []string{"queue", "state", "ready", "running", "delayed", "waiting", "review", "open", "open max", "oldest"}, func(q client.Queue) []string {
			d := q.Depth
			return []string{q.Name, queueState(q), render.Int(d.Ready), render.Int(d.Running), render.Int(d.Delayed), render.Int(d.WaitingKey + d.WaitingGate),
				render.Int(d.NeedsReview), render.Int(q.OpenTasks), render.Int(q.OpenTasksMax), render.MillisOf(q.OldestAgeMs)}
		})
	})
	return cmd
}
