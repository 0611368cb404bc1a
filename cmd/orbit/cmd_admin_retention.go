package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func adminRetention(s *cli.Settings) *cobra.Command {
	return group("retention", "Show and change how long is kept what has ended", "", retentionGet(s), retentionPut(s))
}

func retentionGet(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "get", Short: "Show what is kept for how long, what was deleted, and who holds the stream", Args: cobra.NoArgs,
		RunE: s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
			return showOne(ctx, on, retentionFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetRetention(ctx) })
		}),
	}
}

// kept is one setting of the retention: its flag and its place in the request.
type kept struct {
	flag, help string
	value      string
	of         func(*client.RetentionSettings) *int64
}

func retentionPut(s *cli.Settings) *cobra.Command {
	flags := []*kept{
		{flag: "tasks", help: "ended tasks", of: func(b *client.RetentionSettings) *int64 { return &b.TasksMs }},
		{flag: "stream", help: "results in the stream", of: func(b *client.RetentionSettings) *int64 { return &b.StreamMs }},
		{flag: "receipts", help: "receipts", of: func(b *client.RetentionSettings) *int64 { return &b.ReceiptsMs }},
		{flag: "audit", help: "audit", of: func(b *client.RetentionSettings) *int64 { return &b.AuditMs }},
	}
	cmd := &cobra.Command{
		Use: "put", Short: "Change what is kept for how long; what is not given keeps its value", Args: cobra.NoArgs,
		Long: `Change what is kept for how long; what is not given keeps its value. A time is like 720h or 30d; "forever" deletes nothing.
What is over by the new settings is deleted in the background. What anyone still needs stays.`,
	}
	for _, k := range flags {
		cmd.Flags().StringVar(&k.value, k.flag, "", "how long to keep "+k.help)
	}
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		now, _, err := cli.Read[client.Retention](ctx, on, func(ctx context.Context) (*http.Response, error) { return on.API.GetRetention(ctx) })
		if err != nil {
			return err
		}
		want := client.RetentionSettings{TasksMs: now.TasksMs, StreamMs: now.StreamMs, ReceiptsMs: now.ReceiptsMs, AuditMs: now.AuditMs, ExpectedVersion: &now.Version}
		given := false
		for _, k := range flags {
			if !cmd.Flags().Changed(k.flag) {
				continue
			}
			given = true
			if *k.of(&want), err = keptFor(k.value); err != nil {
				return cli.Usage("--%s: %v", k.flag, err)
			}
		}
		if !given {
			return cli.Usage("give at least one of --tasks, --stream, --receipts, --audit")
		}
		body, err := json.Marshal(want)
		if err != nil {
			return err
		}
		return showOne(ctx, on, retentionFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.PutRetentionWithBody(ctx, "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

// keptFor reads a time in milliseconds: a Go duration, days, or "forever".
func keptFor(text string) (int64, error) {
	if text == "forever" {
		return 0, nil
	}
	if n := len(text) - 1; n > 0 && text[n] == 'd' {
		days, err := strconv.ParseInt(text[:n], 10, 32)
		return days * 24 * time.Hour.Milliseconds(), err
	}
	d, err := time.ParseDuration(text)
	return d.Milliseconds(), err
}

func retentionFields(r client.Retention) []render.Field {
	keep := func(ms, removed int64) string {
		text := "for ever"
		if ms != 0 {
			text = (time.Duration(ms) * time.Millisecond).String()
		}
		return text + ", " + render.Int(removed) + " deleted so far"
	}
	fields := []render.Field{{Name: "tasks", Value: keep(r.TasksMs, r.TasksRemoved)}, {Name: "stream", Value: keep(r.StreamMs, r.EntriesRemoved)},
		{Name: "receipts", Value: keep(r.ReceiptsMs, r.ReceiptsRemoved)}, {Name: "audit", Value: keep(r.AuditMs, r.AuditRemoved)},
		{Name: "version", Value: render.Int(r.Version)}, {Name: "oldest result", Value: render.Int(r.StreamFirstSeq) + " of " + render.Int(r.StreamNextSeq-1)}}
	for _, h := range r.StreamHolders {
		fields = append(fields, render.Field{Name: "held by", Value: h.Subscription + " of " + h.ApplicationId + ", at " + render.Int(h.Seq)})
	}
	return fields
}
