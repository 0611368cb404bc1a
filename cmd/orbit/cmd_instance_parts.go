package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func instanceSteps(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "steps ID", Short: "List the steps of an instance", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListInstanceSteps(ctx, args[0], &client.ListInstanceStepsParams{Cursor: cursor, Limit: limit})
		}, []string{"no", "step", "kind", "state", "activation", "task", "reason", "settled", "output"}, func(p client.Step) []string {
			return []string{render.Int(p.StepNo), p.Name, string(p.Kind), string(p.State), render.Int(p.ActivationNo), render.TextOf(p.TaskId),
				render.TextOf(p.Reason), render.TimeOf(p.SettledAt), render.Brief(string(p.Output), 60)}
		})
	})
	return cmd
}

func instanceHistory(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "history ID", Short: "List every committed change of an instance", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, revisionPages(on, args[0]), []string{"revision", "at", "kind", "actor", "detail"}, func(r client.Revision) []string {
			return []string{render.Int(r.Revision), render.Time(r.At), r.Kind, r.Actor, render.Brief(string(r.Detail), 80)}
		})
	})
	return cmd
}

func revisionPages(on *cli.Session, id string) cli.Fetch {
	return func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
		return on.API.ListInstanceHistory(ctx, id, &client.ListInstanceHistoryParams{Cursor: cursor, Limit: limit})
	}
}

func instanceWatch(s *cli.Settings) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use: "watch ID", Short: "Wait for the end of an instance", Args: cobra.ExactArgs(1), Long: "Wait for the end of an instance." + watchLong,
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return watchInstance(ctx, on, args[0], f)
		}),
	}
	f.attach(cmd)
	return cmd
}

func watchInstance(ctx context.Context, on *cli.Session, id string, f watchFlags) error {
	told := int64(-1)
	var last client.Instance
	var answer cli.Answer
	state, err := follow(ctx, f, func() (string, bool, error) {
		var err error
		last, answer, err = cli.Read[client.Instance](ctx, on, func(ctx context.Context) (*http.Response, error) { return on.API.GetInstance(ctx, id) })
		if err != nil || last.Revision <= told {
			return string(last.State), false, err
		}
		told, err = tellRevisions(ctx, on, id, told)
		return string(last.State), true, err
	})
	if err != nil {
		return on.Ended(ctx, err)
	}
	if err := show(on, answer, instanceFields(last)); err != nil {
		return err
	}
	return fulfilled(state)
}

func tellRevisions(ctx context.Context, on *cli.Session, id string, told int64) (int64, error) {
	revisions, err := cli.Every[client.Revision](ctx, on, revisionPages(on, id))
	for _, r := range revisions {
		if r.Revision > told {
			told = r.Revision
			fmt.Fprintf(on.Err, "%s  %s  %s\n", render.Time(r.At), r.Kind, render.Brief(render.Clean(string(r.Detail)), 120))
		}
	}
	return told, err
}
