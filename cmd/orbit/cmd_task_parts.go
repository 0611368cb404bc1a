package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func taskAttempts(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "attempts ID", Short: "List the executions of a task that have ended", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListTaskAttempts(ctx, args[0], &client.ListTaskAttemptsParams{Cursor: cursor, Limit: limit})
		}, []string{"no", "outcome", "counted", "worker", "started", "took", "failure", "output"}, func(a client.Attempt) []string {
			return []string{render.Int(a.AttemptNo), string(a.Outcome), render.Yes(a.Consumed), render.Brief(a.Worker, 32), render.Time(a.StartedAt),
				render.Millis(a.EndedAt.Sub(a.StartedAt).Milliseconds()), render.Brief(failureText(a.Failure), 60), render.Brief(string(a.Output), 60)}
		})
	})
	return cmd
}

func failureText(f *client.Failure) string {
	switch {
	case f == nil:
		return ""
	case f.Message == "":
		return f.Code
	}
	return f.Code + ": " + f.Message
}

func taskEvents(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "events ID", Short: "List every change of a task", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, taskEventPages(on, args[0]), []string{"no", "at", "kind", "attempt", "detail"}, func(e client.TaskEvent) []string {
			return []string{render.Int(e.EventNo), render.Time(e.At), string(e.Kind), render.IntOf(e.AttemptNo), render.Brief(string(e.Detail), 80)}
		})
	})
	return cmd
}

func taskEventPages(on *cli.Session, id string) cli.Fetch {
	return func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
		return on.API.ListTaskEvents(ctx, id, &client.ListTaskEventsParams{Cursor: cursor, Limit: limit})
	}
}

func taskSource(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "source ID", Short: "Show where a task came from", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, func(t client.TaskSource) []render.Field {
				return []render.Field{{Name: "source", Value: string(t.Kind)}, {Name: "retry of", Value: render.TextOf(t.RetryOf)}, {Name: "instance", Value: render.TextOf(t.InstanceId)},
					{Name: "definition", Value: render.TextOf(t.Definition)}, {Name: "version", Value: render.IntOf(t.Version)}, {Name: "step", Value: render.TextOf(t.Step)},
					{Name: "activation", Value: render.TextOf(t.ActivationId)}, {Name: "activation no", Value: render.IntOf(t.ActivationNo)},
					{Name: "schedule", Value: render.TextOf(t.Schedule)}, {Name: "trigger", Value: render.TextOf(t.TriggerId)}, {Name: "planned", Value: render.TimeOf(t.PlannedAt)}}
			}, func(ctx context.Context) (*http.Response, error) { return on.API.GetTaskSource(ctx, args[0]) })
		}),
	}
}

func taskResult(s *cli.Settings) *cobra.Command {
	var output bool
	cmd := &cobra.Command{
		Use: "result ID", Short: "Show the end of a task; refused with result_pending before it", Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&output, "payload", false, "print only the output, byte for byte")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		r, answer, err := taskResultOf(ctx, on, args[0])
		switch {
		case err != nil:
			return err
		case output && r.Output == nil:
			return &cli.Failure{Code: cli.ExitUnfulfilled, Text: "the task has no output: " + string(r.State) + " " + failureText(r.Failure)}
		case output:
			return on.Out.Body(r.Output)
		}
		return show(on, answer, resultFields(r))
	})
	return cmd
}

func taskResultOf(ctx context.Context, on *cli.Session, id string) (client.TaskResult, cli.Answer, error) {
	return cli.Read[client.TaskResult](ctx, on, func(ctx context.Context) (*http.Response, error) { return on.API.GetTaskResult(ctx, id) })
}

func resultFields(r client.TaskResult) []render.Field {
	fields := []render.Field{{Name: "task", Value: r.TaskId}, {Name: "state", Value: string(r.State)}, {Name: "at", Value: render.Time(r.At)},
		{Name: "attempt", Value: render.IntOf(r.AttemptNo)}, {Name: "decided by", Value: render.TextOf(r.DecidedBy)}, {Name: "failure", Value: failureText(r.Failure)}}
	if r.Failure != nil {
		fields = append(fields, render.Field{Name: "details", Value: string(r.Failure.Details)})
	}
	return append(fields, render.Field{Name: "state version", Value: render.Int(r.StateVersion)}, render.Field{Name: "output", Value: string(r.Output)})
}

func taskLateEvidence(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "late-evidence ID", Short: "List what workers said after their attempt was closed", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			list, answer, err := cli.Read[client.LateEvidenceList](ctx, on, func(ctx context.Context) (*http.Response, error) {
				return on.API.ListLateEvidence(ctx, args[0])
			})
			if err != nil {
				return err
			}
			if on.Out.JSON {
				return on.Out.Body(answer.Body)
			}
			rows := [][]string{}
			for _, e := range list.Items {
				rows = append(rows, []string{render.Int(e.AttemptNo), string(e.Outcome), render.Time(e.ReceivedAt), render.Brief(e.Worker, 32), render.Brief(string(e.Report), 80)})
			}
			return on.Out.Table([]string{"attempt", "outcome", "received", "worker", "report"}, rows)
		}),
	}
}
