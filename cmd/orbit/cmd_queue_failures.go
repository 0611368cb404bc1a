package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func queueFailures(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	var state string
	var groups bool
	cmd := &cobra.Command{
		Use: "failures NAME", Short: "Show what failed or waits for a person, and what may be done next", Args: cobra.ExactArgs(1),
		Long: `Show what failed in a queue, newest first, with the last code and the legal next actions. With --groups the newest 10,000
are counted by code and handler. What is to be repeated is repeated with orbit queue bulk retry.`,
		Example: "  orbit queue failures mail --groups\n  orbit queue failures mail --state NEEDS_REVIEW",
	}
	f.Attach(cmd)
	cmd.Flags().StringVar(&state, "state", "", "FAILED (default) or NEEDS_REVIEW")
	cmd.Flags().BoolVar(&groups, "groups", false, "count by code and handler")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		var only *client.FailureState
		if state != "" {
			only = new(client.FailureState(state))
		}
		if groups {
			return failureGroups(ctx, on, args[0], only)
		}
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListFailures(ctx, args[0], &client.ListFailuresParams{State: only, Cursor: cursor, Limit: limit})
		}, []string{"task", "code", "handler", "attempt", "key", "accepted", "changed", "next"}, failureRow)
	})
	return cmd
}

func failureRow(t client.TaskFailure) []string {
	var next []string
	for _, a := range t.Actions {
		next = append(next, string(a))
	}
	attempt := ""
	if t.AttemptNo != nil {
		attempt = render.Int(*t.AttemptNo)
	}
	return []string{t.TaskId, render.TextOf(t.Code), t.Handler + "@" + t.HandlerVersion, attempt, render.TextOf(t.BusinessKey), render.Time(t.CreatedAt), render.Time(t.ChangedAt), strings.Join(next, ", ")}
}

func failureGroups(ctx context.Context, on *cli.Session, queue string, state *client.FailureState) error {
	list, answer, err := cli.Read[client.FailureGroups](ctx, on, func(ctx context.Context) (*http.Response, error) {
		return on.API.CountFailures(ctx, queue, &client.CountFailuresParams{State: state})
	})
	if err != nil {
		return err
	}
	if on.Out.JSON {
		return on.Out.Body(answer.Body)
	}
	if !list.Complete {
		fmt.Fprintf(on.Err, "the newest %d; older ones are not counted\n", list.Counted)
	}
	rows := make([][]string, len(list.Items))
	for i, g := range list.Items {
		rows[i] = []string{render.TextOf(g.Code), g.Handler + "@" + g.HandlerVersion, render.Int(g.Tasks), render.Time(g.OldestAt), render.Time(g.NewestAt)}
	}
	return on.Out.Table([]string{"code", "handler", "tasks", "oldest", "newest"}, rows)
}
