package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

// pullFlags are what a consumer at the keyboard says of itself.
type pullFlags struct {
	consumer string
	most     int64
	wait     time.Duration
}

func (f *pullFlags) attach(cmd *cobra.Command, wait time.Duration) {
	cmd.Flags().StringVar(&f.consumer, "consumer", "", "name of the consumer (default host/pid)")
	cmd.Flags().Int64Var(&f.most, "max", 16, "how many at most, up to 64")
	cmd.Flags().DurationVar(&f.wait, "wait", wait, "how long to wait for the first, up to 20s")
}

// named is the consumer's name; its default is made once.
func (f *pullFlags) named() string {
	if f.consumer == "" {
		host, _ := os.Hostname() // for people only
		f.consumer = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	return f.consumer
}

func (f *pullFlags) body() ([]byte, error) {
	return new(cli.Body).Text("consumer", f.named()).Int("max", f.most).Millis("wait_ms", min(f.wait, 20*time.Second)).Bytes()
}

func subscriptionPull(s *cli.Settings) *cobra.Command {
	var f pullFlags
	cmd := &cobra.Command{
		Use: "pull NAME", Short: "Get results, to be acknowledged", Args: cobra.ExactArgs(1),
		Long: `Get results. Each comes with a handle that acknowledges it: orbit subscription ack NAME HANDLE. What is not acknowledged in
time is delivered again.`,
	}
	f.attach(cmd, 0)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		got, answer, err := pullOnce(ctx, on, args[0], &f)
		if err != nil {
			return err
		}
		if on.Out.JSON {
			return on.Out.Body(answer.Body)
		}
		rows := make([][]string, len(got.Items))
		for i, d := range got.Items {
			rows[i] = append(resultRow(d), handleOf(d))
		}
		return on.Out.Table([]string{"seq", "task", "state", "queue", "generation", "handle"}, rows)
	})
	return cmd
}

func pullOnce(ctx context.Context, on *cli.Session, name string, f *pullFlags) (client.Pulled, cli.Answer, error) {
	body, err := f.body()
	if err != nil {
		return client.Pulled{}, cli.Answer{}, err
	}
	return cli.Read[client.Pulled](ctx, on, func(ctx context.Context) (*http.Response, error) {
		return on.API.PullSubscriptionWithBody(ctx, name, jsonType, bytes.NewReader(body))
	})
}

func resultRow(d client.Delivery) []string {
	return []string{render.Int(d.Seq), d.TaskId, string(d.State), d.Queue, render.Int(d.Generation)}
}

// handleOf is all that an acknowledgement needs, in one word.
func handleOf(d client.Delivery) string {
	return fmt.Sprintf("%d.%d.%s", d.Seq, d.Generation, d.Proof)
}

// parseHandle reads what handleOf wrote.
func parseHandle(text string) (*cli.Body, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, cli.Usage("%s is no handle; orbit subscription pull prints them", text)
	}
	seq, err1 := strconv.ParseInt(parts[0], 10, 64)
	generation, err2 := strconv.ParseInt(parts[1], 10, 64)
	if err1 != nil || err2 != nil {
		return nil, cli.Usage("%s is no handle; orbit subscription pull prints them", text)
	}
	return new(cli.Body).Int("seq", seq).Int("generation", generation).Text("proof", parts[2]), nil
}

// itemsOf makes the body of acknowledgements or refusals; more adds to each item.
func itemsOf(handles []string, more func(*cli.Body)) ([]byte, error) {
	var items []json.RawMessage
	for _, h := range handles {
		b, err := parseHandle(h)
		if err != nil {
			return nil, err
		}
		more(b)
		text, err := b.Bytes()
		if err != nil {
			return nil, err
		}
		items = append(items, text)
	}
	return new(cli.Body).Value("items", items).Bytes()
}

func showOutcomes(on *cli.Session, answer cli.Answer) error {
	if on.Out.JSON {
		return on.Out.Body(answer.Body)
	}
	out, err := cli.Decode[client.DeliveryOutcomes](answer)
	if err != nil {
		return err
	}
	rows := make([][]string, len(out.Items))
	for i, o := range out.Items {
		rows[i] = []string{render.Int(o.Seq), string(o.Outcome)}
	}
	return on.Out.Table([]string{"seq", "outcome"}, rows)
}

func subscriptionAck(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "ack NAME HANDLE...", Short: "Acknowledge results; again changes nothing", Args: cobra.MinimumNArgs(2),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			answer, err := ackHandles(ctx, on, args[0], args[1:])
			if err != nil {
				return err
			}
			return showOutcomes(on, answer)
		}),
	}
}

func subscriptionNack(s *cli.Settings) *cobra.Command {
	var delay time.Duration
	var reason string
	var returned bool
	cmd := &cobra.Command{Use: "nack NAME HANDLE...", Short: "Refuse results; they come again", Args: cobra.MinimumNArgs(2)}
	cmd.Flags().DurationVar(&delay, "delay", 0, "how long they wait before they come again, up to 24h")
	cmd.Flags().StringVar(&reason, "reason", "", "why, kept with a dead letter")
	cmd.Flags().BoolVar(&returned, "returned", false, "they were never begun: the generation does not count")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := itemsOf(args[1:], func(b *cli.Body) {
			b.Millis("delay_ms", delay).Text("reason", reason).Flag("returned", returned)
		})
		if err != nil {
			return err
		}
		answer, err := on.Again(ctx, func(ctx context.Context) (*http.Response, error) {
			return on.API.NackDeliveriesWithBody(ctx, args[0], jsonType, bytes.NewReader(body))
		})
		if err != nil {
			return err
		}
		return showOutcomes(on, answer)
	})
	return cmd
}

func subscriptionWatch(s *cli.Settings) *cobra.Command {
	var f pullFlags
	var count int64
	var transport string
	cmd := &cobra.Command{
		Use: "watch NAME", Aliases: []string{"follow"}, Short: "Print results as they come and acknowledge them", Args: cobra.ExactArgs(1),
		Long: `Print results as they come, one line each, and acknowledge them after they are printed. They are pushed over a WebSocket, or
pulled where none can be had. It takes the results from other consumers of the subscription; a subscription of one's own
leaves them theirs. With --output json each line is the server's object. What came and was not printed is given back.`,
	}
	f.attach(cmd, 20*time.Second)
	cmd.Flags().Int64Var(&count, "count", 0, "end after so many results; 0 goes on until interrupted")
	cmd.Flags().StringVar(&transport, "transport", "auto", "auto, websocket or http")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		from, err := feedOf(on, args[0], transport, &f)
		if err != nil {
			return err
		}
		defer from.leave()
		for told := int64(0); count == 0 || told < count; {
			left := int64(math.MaxInt64)
			if count > 0 {
				left = count - told
			}
			got, err := from.next(ctx, left)
			if err != nil {
				return on.Ended(ctx, err)
			}
			if len(got.items) == 0 {
				continue
			}
			if err := printAndAck(ctx, on, from, got); err != nil {
				return on.Ended(ctx, err)
			}
			told += int64(len(got.items))
		}
		return nil
	})
	return cmd
}

func printAndAck(ctx context.Context, on *cli.Session, from feed, got batch) error {
	handles := make([]string, len(got.items))
	for i, d := range got.items {
		line := string(got.raw[i])
		if !on.Out.JSON {
			line = strings.Join(resultRow(d), "  ")
		}
		if err := on.Out.Text(line + "\n"); err != nil {
			return err
		}
		handles[i] = handleOf(d)
	}
	return from.ack(ctx, handles)
}
