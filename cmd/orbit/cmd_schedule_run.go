package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func scheduleTrigger(s *cli.Settings) *cobra.Command {
	var reason, key string
	var watch bool
	cmd := &cobra.Command{
		Use: "trigger NAME", Short: "Make one task of a schedule now", Args: cobra.ExactArgs(1),
		Long: `Make one task of the newest version now, also while the schedule is paused and whatever else of it runs. The same key
gives the first receipt again. Without --key a new one is made and told on standard error.`,
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept with the trigger")
	cmd.Flags().StringVar(&key, "key", "", "idempotency key (default: a new one)")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "wait for the end, as orbit task watch does")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := new(cli.Body).Text("reason", reason).Bytes()
		if err != nil {
			return err
		}
		params := &client.TriggerScheduleParams{IdempotencyKey: cli.Key(key, on.Err)}
		receipt, answer, err := cli.Read[client.ScheduleTriggerReceipt](ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.TriggerScheduleWithBody(ctx, args[0], params, "application/json", bytes.NewReader(body))
		})
		if err != nil {
			return err
		}
		if watch {
			return watchTask(ctx, on, receipt.TaskId, watchFlags{})
		}
		return show(on, answer, []render.Field{{Name: "task", Value: receipt.TaskId}, {Name: "trigger", Value: receipt.TriggerId}, {Name: "schedule", Value: receipt.Schedule},
			{Name: "version", Value: render.Int(receipt.Version)}, {Name: "planned", Value: render.Time(receipt.PlannedAt)}})
	})
	return cmd
}

func scheduleBackfill(s *cli.Settings) *cobra.Command {
	var from, until, reason string
	var dry bool
	cmd := &cobra.Command{
		Use: "backfill NAME --from TIME --until TIME --reason TEXT", Short: "Make up for the slots of a past range", Args: cobra.ExactArgs(1),
		Long: `Make a task for every slot of a past range that has none, by the newest version. Slots that have a task keep it, so the
command is repeated safely, and goes on where it was stopped.

It asks page by page until the range is done or a limit is met. When a limit stops it, the exit code is 3 and standard
error says where to go on.`,
		Example: `  orbit schedule backfill nightly --from 2031-07-01T00:00:00Z --until 2031-07-08T00:00:00Z --reason 'the source was corrected' --dry-run`,
	}
	cmd.Flags().StringVar(&from, "from", "", "first instant of the range")
	cmd.Flags().StringVar(&until, "until", "", "the range ends before it")
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept with every trigger")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would happen and change nothing")
	for _, name := range []string{"from", "until", "reason"} {
		_ = cmd.MarkFlagRequired(name)
	}
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return backfill(ctx, on, args[0], from, until, reason, dry)
	})
	return cmd
}

// backfillPage is one answer; items and next_from are kept as the server wrote them.
type backfillPage struct {
	Items    []json.RawMessage `json:"items"`
	NextFrom string            `json:"next_from"`
	Problem  json.RawMessage   `json:"problem"`
}

// backfill asks until the range is done, and prints every slot at the end. What was done stays done when a later page
// fails, so it is printed all the same.
func backfill(ctx context.Context, on *cli.Session, name, from, until, reason string, dry bool) error {
	var items []json.RawMessage
	var stopped error
	for from != "" && stopped == nil {
		body, err := new(cli.Body).Text("from", from).Text("until", until).Text("reason", reason).Flag("dry_run", dry).Bytes()
		if err != nil {
			return err
		}
		page, _, err := cli.Read[backfillPage](ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.BackfillScheduleWithBody(ctx, name, "application/json", bytes.NewReader(body))
		})
		if err != nil && len(items) == 0 {
			return err
		}
		stopped = err
		if len(page.Problem) > 0 {
			stopped = backfillStopped(page)
		}
		items, from = append(items, page.Items...), page.NextFrom
	}
	if err := printBackfill(on, items); err != nil {
		return err
	}
	return stopped
}

func backfillStopped(page backfillPage) error {
	var p client.Problem
	if err := json.Unmarshal(page.Problem, &p); err != nil {
		return err
	}
	return &cli.Failure{Code: cli.ExitUnavailable, Text: fmt.Sprintf("stopped at %s: %s: %s\n  next: repeat the command; what is done is not done again", page.NextFrom, p.Code, render.TextOf(p.Detail))}
}

func printBackfill(on *cli.Session, items []json.RawMessage) error {
	if on.Out.JSON {
		out, err := json.Marshal(map[string]any{"items": items})
		if err != nil {
			return err
		}
		return on.Out.Body(out)
	}
	var rows [][]string
	for _, item := range items {
		var slot client.ScheduleBackfillSlot
		if err := json.Unmarshal(item, &slot); err != nil {
			return err
		}
		rows = append(rows, []string{render.Time(slot.PlannedAt), string(slot.Outcome), render.TextOf(slot.TaskId)})
	}
	return on.Out.Table([]string{"planned", "outcome", "task"}, rows)
}
