package main

import (
	"bytes"
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

var _ = register(scheduleCommand)

func scheduleCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("schedule", "Work by the clock: cron expressions and intervals", "",
		schedulePut(s), scheduleGet(s), scheduleList(s), scheduleVersions(s), scheduleTriggers(s), schedulePause(s), scheduleResume(s),
		scheduleTrigger(s), scheduleBackfill(s), schedulePreview(s))
	s.Attach(cmd)
	return cmd
}

func scheduleGet(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "get NAME", Short: "Show a schedule with its newest version", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, scheduleFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetSchedule(ctx, args[0]) })
		}),
	}
}

func scheduleFields(s client.Schedule) []render.Field {
	return []render.Field{
		{Name: "schedule", Value: s.Name}, {Name: "id", Value: s.ScheduleId}, {Name: "state", Value: scheduleState(s.Paused)}, {Name: "pause reason", Value: render.TextOf(s.PauseReason)},
		{Name: "next", Value: render.TimeOf(s.NextAt)}, {Name: "waiting", Value: render.TimeOf(s.WaitingAt)}, {Name: "timing", Value: timingText(s.Timing)},
		{Name: "overlap", Value: s.Overlap}, {Name: "misfire", Value: s.Misfire}, {Name: "catch-up window", Value: render.Millis(s.CatchUpWindowMs)},
		{Name: "queue", Value: s.Task.Queue}, {Name: "handler", Value: s.Task.Handler + "@" + s.Task.HandlerVersion}, {Name: "input", Value: string(s.Task.Input)},
		{Name: "version", Value: render.Int(s.Version)}, {Name: "revision", Value: render.Int(s.Revision)}, {Name: "in force from", Value: render.Time(s.EffectiveFrom)},
		{Name: "created", Value: render.Time(s.CreatedAt)}, {Name: "changed", Value: render.Time(s.ChangedAt)},
	}
}

func scheduleState(paused bool) string {
	if paused {
		return "PAUSED"
	}
	return "ACTIVE"
}

// timingText is a timing as people say it, with its declarations for the two nights of the year.
func timingText(t client.ScheduleTiming) string {
	if t.Kind == client.INTERVAL {
		return "every " + render.Millis(t.EveryMs) + " from " + render.TimeOf(t.AnchorAt)
	}
	return t.Expression + " in " + t.TimeZone + " (gap " + t.DstGap + ", repeat " + t.DstRepeat + ")"
}

func scheduleList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list", Short: "List schedules by name", Args: cobra.NoArgs}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListSchedules(ctx, &client.ListSchedulesParams{Cursor: cursor, Limit: limit})
		}, []string{"schedule", "state", "next", "waiting", "version", "revision"}, func(s client.ScheduleSummary) []string {
			return []string{s.Name, scheduleState(s.Paused), render.TimeOf(s.NextAt), render.TimeOf(s.WaitingAt), render.Int(s.Version), render.Int(s.Revision)}
		})
	})
	return cmd
}

func scheduleVersions(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "versions NAME", Short: "List the versions of a schedule, newest first", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListScheduleVersions(ctx, args[0], &client.ListScheduleVersionsParams{Cursor: cursor, Limit: limit})
		}, []string{"version", "in force from", "timing", "overlap", "misfire", "handler", "by"}, func(v client.ScheduleVersionSummary) []string {
			return []string{render.Int(v.Version), render.Time(v.EffectiveFrom), timingText(v.Timing), v.Overlap, v.Misfire, v.Handler + "@" + v.HandlerVersion, v.CreatedBy}
		})
	})
	return cmd
}

func scheduleTriggers(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "triggers NAME", Short: "Show what became of the slots, newest first", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListScheduleTriggers(ctx, args[0], &client.ListScheduleTriggersParams{Cursor: cursor, Limit: limit})
		}, []string{"planned", "outcome", "version", "task", "merged into", "reason"}, func(t client.ScheduleTrigger) []string {
			return []string{render.Time(t.PlannedAt), string(t.Outcome), render.Int(t.Version), render.TextOf(t.TaskId), render.TimeOf(t.MergedInto), render.Brief(render.TextOf(t.Reason), 40)}
		})
	})
	return cmd
}

func schedulePause(s *cli.Settings) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "pause NAME --reason TEXT", Short: "Pause a schedule; its slots are recorded as skipped", Args: cobra.ExactArgs(1)}
	cmd.Flags().StringVar(&reason, "reason", "", "why; shown with the schedule")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := new(cli.Body).Text("reason", reason).Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, scheduleFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.PauseScheduleWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

func scheduleResume(s *cli.Settings) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "resume NAME", Short: "Let a paused schedule go on; what came meanwhile stays skipped", Args: cobra.ExactArgs(1)}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept in the audit")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := new(cli.Body).Text("reason", reason).Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, scheduleFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.ResumeScheduleWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}
