package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

// holdRequest is what pause, resume and drain have in common.
type holdRequest func(c *client.Client, ctx context.Context, queue, contentType string, body io.Reader, more ...client.RequestEditorFn) (*http.Response, error)

// queueHold makes one of the commands that switch a queue.
func queueHold(s *cli.Settings, name, short, long string, send holdRequest) *cobra.Command {
	var reason string
	var expected int64
	cmd := &cobra.Command{
		Use: name + " NAME --reason TEXT", Short: short, Args: cobra.ExactArgs(1),
		Long:    long + " Where it is so already, nothing changes. The reason is kept in the audit,\nand with the queue while it is held.",
		Example: "  orbit queue " + name + " mail --reason 'the provider is down'",
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why")
	cmd.Flags().Int64Var(&expected, "expected-version", 0, "version that was read (default: any)")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		b := new(cli.Body).Text("reason", reason)
		if expected > 0 {
			b.Int("expected_version", expected)
		}
		body, err := b.Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, queueFields, func(ctx context.Context) (*http.Response, error) {
			return send(on.API, ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

// parseRate reads TOKENS/PERIOD or TOKENS/PERIOD+BURST; without a burst one start is saved.
func parseRate(text string) (client.QueueRate, error) {
	bad := cli.Usage("--rate %q: write TOKENS/PERIOD or TOKENS/PERIOD+BURST, as 100/1m or 5/1s+20", text)
	tokens, rest, ok := strings.Cut(text, "/")
	period, burst, saved := strings.Cut(rest, "+")
	if !saved {
		burst = "1"
	}
	n, err1 := strconv.ParseInt(tokens, 10, 64)
	d, err2 := time.ParseDuration(period)
	b, err3 := strconv.ParseInt(burst, 10, 64)
	if !ok || err1 != nil || err2 != nil || err3 != nil || d%time.Millisecond != 0 {
		return client.QueueRate{}, bad
	}
	return client.QueueRate{Tokens: n, PeriodMs: d.Milliseconds(), Burst: b}, nil
}

func rateValue(r *client.QueueRateState) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%d per %s, %d saved at most, %s now", r.Tokens, time.Duration(r.PeriodMs)*time.Millisecond, r.Burst, render.Int(r.Available))
}
