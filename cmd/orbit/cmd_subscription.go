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

var _ = register(subscriptionCommand)

func subscriptionCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("subscription", "Deliver results to consumers", "", subscriptionCreate(s), subscriptionGet(s), subscriptionList(s), subscriptionDelete(s),
		subscriptionPull(s), subscriptionAck(s), subscriptionNack(s), subscriptionSeek(s), subscriptionDeadLetters(s), subscriptionRedeliver(s), subscriptionWatch(s))
	s.Attach(cmd)
	return cmd
}

const jsonType = "application/json"

// orderFlags are the settings of a subscription.
type orderFlags struct {
	queues, states, handlers     []string
	parallel, paused             bool
	start                        string
	startSeq, window, generation int64
	ackTimeout                   time.Duration
}

func (f *orderFlags) body() ([]byte, error) {
	b := new(cli.Body).Text("start", f.start).Int("window", f.window).Millis("ack_timeout_ms", f.ackTimeout).Int("generations_max", f.generation).Flag("paused", f.paused)
	if len(f.queues) > 0 {
		b.Value("queues", f.queues)
	}
	if len(f.states) > 0 {
		b.Value("states", f.states)
	}
	if len(f.handlers) > 0 {
		b.Value("handlers", f.handlers)
	}
	if f.parallel {
		b.Value("in_order", false)
	}
	if f.startSeq > 0 {
		b.Int("start_seq", f.startSeq)
	}
	return b.Bytes()
}

func subscriptionCreate(s *cli.Settings) *cobra.Command {
	var f orderFlags
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a subscription or change its settings", Args: cobra.ExactArgs(1),
		Long: `Create a subscription or change its settings: what is not given is set to its default, not kept. Queues, states, handlers,
order and start hold from the creation on. The same command again changes nothing.`,
	}
	cmd.Flags().StringArrayVar(&f.queues, "queue", nil, "deliver results of this queue; may be repeated (default all queues of the application)")
	cmd.Flags().StringArrayVar(&f.states, "state", nil, "deliver results in this state: SUCCEEDED, FAILED, CANCELLED, NEEDS_REVIEW; may be repeated (default all)")
	cmd.Flags().StringArrayVar(&f.handlers, "handler", nil, "deliver results of tasks of this handler; may be repeated (default all)")
	cmd.Flags().BoolVar(&f.parallel, "parallel", false, "several consumers share the work in any order")
	cmd.Flags().StringVar(&f.start, "start", "HEAD", "HEAD, FIRST or SEQUENCE")
	cmd.Flags().Int64Var(&f.startSeq, "start-seq", 0, "first number to look at, with --start SEQUENCE")
	cmd.Flags().Int64Var(&f.window, "window", 256, "most unacknowledged deliveries at the same time")
	cmd.Flags().DurationVar(&f.ackTimeout, "ack-timeout", 30*time.Second, "how long a delivery waits for its acknowledgement")
	cmd.Flags().Int64Var(&f.generation, "generations-max", 20, "deliveries of a result before it becomes a dead letter")
	cmd.Flags().BoolVar(&f.paused, "paused", false, "nothing is delivered; acknowledgements are still taken")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := f.body()
		if err != nil {
			return err
		}
		return showOne(ctx, on, subscriptionFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.PutSubscriptionWithBody(ctx, args[0], jsonType, bytes.NewReader(body))
		})
	})
	return cmd
}

func subscriptionGet(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "get NAME", Short: "Show a subscription with its position and lag", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, subscriptionFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetSubscription(ctx, args[0]) })
		}),
	}
}

func subscriptionFields(x client.Subscription) []render.Field {
	named := func(names []string, otherwise string) string {
		if len(names) == 0 {
			return otherwise
		}
		return strings.Join(names, ", ")
	}
	var states []string
	for _, s := range x.States {
		states = append(states, string(s))
	}
	return []render.Field{
		{Name: "subscription", Value: x.Name}, {Name: "id", Value: x.SubscriptionId}, {Name: "queues", Value: named(x.Queues, "all of the application")},
		{Name: "states", Value: named(states, "all")}, {Name: "handlers", Value: named(x.Handlers, "all")},
		{Name: "in order", Value: render.Yes(x.InOrder)}, {Name: "paused", Value: render.Yes(x.Paused)},
		{Name: "next", Value: render.Int(x.NextSeq)}, {Name: "settled through", Value: render.Int(x.SettledThrough)},
		{Name: "head", Value: render.Int(x.HeadSeq)}, {Name: "unread", Value: render.Int(x.Unread)},
		{Name: "pending", Value: render.Int(x.PendingCount) + " of " + render.Int(x.Window)}, {Name: "dead letters", Value: render.Int(x.DeadCount)},
		{Name: "oldest pending", Value: render.TimeOf(x.OldestPendingAt)}, {Name: "ack timeout", Value: render.Millis(x.AckTimeoutMs)},
		{Name: "generations max", Value: render.Int(x.GenerationsMax)}, {Name: "epoch", Value: render.Int(x.Epoch)},
		{Name: "version", Value: render.Int(x.Version)}, {Name: "created", Value: render.Time(x.CreatedAt)},
	}
}

func subscriptionList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list", Short: "List subscriptions by name", Args: cobra.NoArgs}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListSubscriptions(ctx, &client.ListSubscriptionsParams{Cursor: cursor, Limit: limit})
		}, []string{"subscription", "settled", "head", "unread", "pending", "dead", "paused"}, func(x client.Subscription) []string {
			return []string{x.Name, render.Int(x.SettledThrough), render.Int(x.HeadSeq), render.Int(x.Unread), render.Int(x.PendingCount), render.Int(x.DeadCount), render.Yes(x.Paused)}
		})
	})
	return cmd
}

func subscriptionDelete(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a subscription with its deliveries and dead letters", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, func(x client.SubscriptionDeletion) []render.Field {
				return []render.Field{{Name: "deleted", Value: x.SubscriptionId}, {Name: "pending", Value: render.Int(x.PendingCount)}, {Name: "dead letters", Value: render.Int(x.DeadCount)}}
			}, func(ctx context.Context) (*http.Response, error) { return on.API.DeleteSubscription(ctx, args[0]) })
		}),
	}
}

func subscriptionSeek(s *cli.Settings) *cobra.Command {
	var to, reason string
	var seq int64
	cmd := &cobra.Command{
		Use: "seek NAME", Short: "Change the position of a paused subscription", Args: cobra.ExactArgs(1),
		Long: `Change the position. Only while the subscription is paused and nobody holds a delivery: what is unacknowledged is dropped
and read again from the new position, and every proof of before becomes void.`,
	}
	cmd.Flags().StringVar(&to, "to", "", "HEAD, FIRST or SEQUENCE")
	cmd.Flags().Int64Var(&seq, "seq", 0, "first number to look at, with --to SEQUENCE")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	_ = cmd.MarkFlagRequired("to")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		b := new(cli.Body).Text("to", to).Text("reason", reason)
		if seq > 0 {
			b.Int("seq", seq)
		}
		body, err := b.Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, subscriptionFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.SeekSubscriptionWithBody(ctx, args[0], jsonType, bytes.NewReader(body))
		})
	})
	return cmd
}
