package main

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func subscriptionDeadLetters(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "dead-letters NAME", Short: "List results whose generations are used up", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListDeadLetters(ctx, args[0], &client.ListDeadLettersParams{Cursor: cursor, Limit: limit})
		}, []string{"seq", "task", "state", "generation", "dead since", "reason"}, func(d client.DeadLetter) []string {
			return []string{render.Int(d.Seq), d.TaskId, string(d.State), render.Int(d.Generation), render.Time(d.DeadAt), render.TextOf(d.Reason)}
		})
	})
	return cmd
}

func subscriptionRedeliver(s *cli.Settings) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "redeliver NAME SEQ...", Short: "Deliver dead letters again, with a new budget", Args: cobra.MinimumNArgs(2)}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		var seqs []int64
		for _, text := range args[1:] {
			seq, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return cli.Usage("%s is no number of a dead letter", text)
			}
			seqs = append(seqs, seq)
		}
		body, err := new(cli.Body).Value("seqs", seqs).Text("reason", reason).Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, func(r client.Redelivery) []render.Field {
			return []render.Field{{Name: "redelivered", Value: strconv.Itoa(len(r.Redelivered))}, {Name: "pending", Value: render.Int(r.PendingCount)}, {Name: "dead letters", Value: render.Int(r.DeadCount)}}
		}, func(ctx context.Context) (*http.Response, error) {
			return on.API.RedeliverDeadLettersWithBody(ctx, args[0], jsonType, bytes.NewReader(body))
		})
	})
	return cmd
}
