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

// timingFlags say when slots come.
type timingFlags struct {
	cron, zone, gap, repeat, anchor string
	every                           time.Duration
}

func (f *timingFlags) attach(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cron, "cron", "", "minute hour day month weekday, or @hourly, @daily, @weekly, @monthly, @yearly")
	flags.StringVar(&f.zone, "zone", "UTC", "IANA time zone of --cron, such as Europe/Berlin")
	flags.StringVar(&f.gap, "dst-gap", "", "times that do not exist: SKIP or FIRE_AFTER_GAP (default: by the expression)")
	flags.StringVar(&f.repeat, "dst-repeat", "", "times that exist twice: FIRST or BOTH (default: by the expression)")
	flags.DurationVar(&f.every, "every", 0, "a slot every so long, at least 1s, instead of --cron")
	flags.StringVar(&f.anchor, "anchor", "", "first slot of --every, such as 2031-07-01T00:00:00Z (default: 1970)")
	cmd.MarkFlagsMutuallyExclusive("cron", "every")
	cmd.MarkFlagsMutuallyExclusive("cron", "anchor")
}

func (f *timingFlags) body() ([]byte, error) {
	b := new(cli.Body)
	switch {
	case f.every > 0:
		b.Text("kind", "INTERVAL").Millis("every_ms", f.every).Text("anchor_at", f.anchor)
	case f.cron != "":
		b.Text("kind", "CRON").Text("expression", f.cron).Text("time_zone", f.zone).Text("dst_gap", f.gap).Text("dst_repeat", f.repeat)
	default:
		return nil, cli.Usage("--cron or --every is needed")
	}
	return b.Bytes()
}

// scheduleSettings are the flags of a whole schedule.
type scheduleSettings struct {
	timing                 timingFlags
	task                   submission
	overlap, misfire, file string
	window                 time.Duration
	expected               int64
}

func schedulePut(s *cli.Settings) *cobra.Command {
	var f scheduleSettings
	cmd := &cobra.Command{
		Use: "put NAME --cron EXPRESSION --queue NAME --handler NAME@VERSION", Short: "Create a schedule or give it a new version", Args: cobra.ExactArgs(1),
		Long: `Create a schedule or give it a new version, in force from now on: slots that came before keep theirs. What is not given is
set to its default, not kept. The same command again changes nothing. With --expected-revision a change made meanwhile by
somebody else is not overwritten; 0 means that the schedule must not exist yet.

orbit schedule preview shows what a timing means before anything is stored.`,
		Example: `  orbit schedule put nightly --cron '30 2 * * *' --zone Europe/Berlin --queue reports --handler report@1 --misfire FIRE_ONCE
  orbit schedule put poll --every 15m --overlap QUEUE_ONE --queue work --handler poll@2 --input '{"source":"a"}'
  orbit schedule put nightly --file schedule.json`,
	}
	f.attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := f.body(cmd, on)
		if err != nil {
			return err
		}
		return showOne(ctx, on, scheduleFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.PutScheduleWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

func (f *scheduleSettings) attach(cmd *cobra.Command) {
	f.timing.attach(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.overlap, "overlap", "", "while the last task has not ended: SKIP (default), ALLOW or QUEUE_ONE")
	flags.StringVar(&f.misfire, "misfire", "", "slots older than the window: SKIP (default) or FIRE_ONCE")
	flags.DurationVar(&f.window, "catch-up", time.Hour, "how late a slot may still fire")
	flags.Int64Var(&f.expected, "expected-revision", 0, "revision that was read")
	flags.StringVarP(&f.file, "file", "f", "", "whole schedule as JSON (ScheduleSettings) instead of flags; - is standard input")
	t := &f.task
	flags.StringVarP(&t.queue, "queue", "q", "", "queue of the tasks")
	flags.StringVar(&t.handler, "handler", "", "NAME@VERSION of the code that runs them")
	flags.StringVarP(&t.input, "input", "i", "null", "input: JSON, @FILE or -")
	flags.StringVar(&t.businessKey, "business-key", "", "what the tasks are about")
	flags.StringVar(&t.resourceKey, "resource-key", "", "at most one task with this key runs at a time")
	flags.Int32Var(&t.priority, "priority", 0, "0 to 9; one level is worth 30 s of waiting")
	flags.DurationVar(&t.deadline, "deadline", time.Hour, "ends a task, waits and retries included")
	flags.DurationVar(&t.attemptTimeout, "attempt-timeout", time.Minute, "longest time of one attempt")
	flags.Int32Var(&t.maxAttempts, "max-attempts", 1, "attempts in all")
	flags.DurationVar(&t.retryDelay, "retry-delay", time.Second, "wait before each retry")
	flags.StringVar(&t.lost, "lost", "", "when a worker is lost: REVIEW (default) or RETRY, for handlers safe to repeat")
	cmd.MarkFlagsOneRequired("queue", "file")
	for _, name := range []string{"queue", "handler", "input", "cron", "every"} {
		cmd.MarkFlagsMutuallyExclusive(name, "file")
	}
}

func (f *scheduleSettings) body(cmd *cobra.Command, on *cli.Session) ([]byte, error) {
	if f.file == "-" {
		return cli.Payload("--file", "-", on.In)
	}
	if f.file != "" {
		return cli.Payload("--file", "@"+f.file, on.In)
	}
	timing, err := f.timing.body()
	if err != nil {
		return nil, err
	}
	task, err := f.template(on)
	if err != nil {
		return nil, err
	}
	b := new(cli.Body).Raw("timing", timing).Text("overlap", f.overlap).Text("misfire", f.misfire).Millis("catch_up_window_ms", f.window).Raw("task", task)
	if cmd.Flags().Changed("expected-revision") {
		b.Int("expected_revision", f.expected)
	}
	return b.Bytes()
}

func (f *scheduleSettings) template(on *cli.Session) ([]byte, error) {
	t := &f.task
	handler, version, err := handlerRef(t.handler)
	if err != nil {
		return nil, err
	}
	input, err := cli.Payload("--input", t.input, on.In)
	if err != nil {
		return nil, err
	}
	policy, err := t.retryPolicy()
	if err != nil {
		return nil, err
	}
	return new(cli.Body).Text("queue", t.queue).Text("handler", handler).Text("handler_version", version).Raw("input", input).
		Text("business_key", t.businessKey).Text("resource_key", t.resourceKey).Int("priority", int64(t.priority)).
		Millis("deadline_ms", t.deadline).Millis("attempt_timeout_ms", t.attemptTimeout).Text("lost_policy", t.lost).Raw("retry_policy", policy).Bytes()
}

func schedulePreview(s *cli.Settings) *cobra.Command {
	var f timingFlags
	var after string
	var count int64
	cmd := &cobra.Command{
		Use: "preview --cron EXPRESSION --zone ZONE", Short: "Show the next slots of a timing; nothing is stored", Args: cobra.NoArgs,
		Example: `  orbit schedule preview --cron '30 2 * * *' --zone America/New_York --after 2031-03-08T00:00:00Z`,
	}
	f.attach(cmd)
	cmd.Flags().StringVar(&after, "after", "", "slots after this instant (default: now)")
	cmd.Flags().Int64Var(&count, "count", 10, "how many")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		timing, err := f.body()
		if err != nil {
			return err
		}
		body, err := new(cli.Body).Raw("timing", timing).Text("after", after).Int("count", count).Bytes()
		if err != nil {
			return err
		}
		v, answer, err := cli.Read[client.SchedulePreviewResult](ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.PreviewScheduleWithBody(ctx, "application/json", bytes.NewReader(body))
		})
		if err != nil || on.Out.JSON {
			return printJSON(on, answer, err)
		}
		return on.Out.Table([]string{"slot", "local", "note"}, previewRows(v))
	})
	return cmd
}

func printJSON(on *cli.Session, answer cli.Answer, err error) error {
	if err != nil {
		return err
	}
	return on.Out.Body(answer.Body)
}

// previewRows puts what daylight saving takes away between the slots, where it would have stood.
func previewRows(v client.SchedulePreviewResult) [][]string {
	var rows [][]string
	silent := v.Silent
	tell := func(until time.Time) {
		for len(silent) > 0 && !silent[0].At.After(until) {
			s := silent[0]
			note := map[client.SchedulePreviewSilenceWhy]string{client.GAP: "does not exist", client.REPEAT: "comes again; no slot"}[s.Why]
			if s.MovedTo != nil {
				note += "; moved to " + render.Time(*s.MovedTo)
			}
			rows, silent = append(rows, []string{"-", s.Local, note}), silent[1:]
		}
	}
	for _, slot := range v.Items {
		tell(slot.At.Add(-time.Nanosecond))
		rows = append(rows, []string{render.Time(slot.At), slot.Local, ""})
	}
	tell(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	return rows
}
