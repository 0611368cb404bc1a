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

func instanceSignal(s *cli.Settings) *cobra.Command {
	var step, signal, correlation, content, reason, key string
	var activation int64
	cmd := &cobra.Command{
		Use: "signal ID", Short: "Send a signal to a step", Args: cobra.ExactArgs(1),
		Long: `Send a signal to a step that waits for one, or will. It is kept before it is acknowledged; orbit instance signals shows
what became of it. The same key with the same content gives the first receipt again.`,
		Example: `  orbit instance signal ID --step answer --signal approval.decision@1 --correlation request-9 --content '{"verdict": "APPROVED"}' --reason 'approved by the owner'`,
	}
	flags := cmd.Flags()
	flags.StringVar(&step, "step", "", "name of the step")
	flags.Int64Var(&activation, "activation", 1, "activation of the step (orbit instance steps)")
	flags.StringVar(&signal, "signal", "", "NAME@VERSION of the signal")
	flags.StringVar(&correlation, "correlation", "", "what the wait asks for, byte by byte")
	flags.StringVarP(&content, "content", "i", "null", "content: JSON, @FILE or -")
	flags.StringVar(&reason, "reason", "", "why; kept in the audit")
	flags.StringVar(&key, "key", "", "idempotency key of this command (default: a new one)")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		name, version, ok := signalRef(signal)
		switch {
		case !ok:
			return cli.Usage("--signal is NAME@VERSION; orbit instance waits shows what is waited for")
		case step == "" || correlation == "" || reason == "":
			return cli.Usage("a signal needs --step, --correlation and --reason")
		}
		payload, err := cli.Payload("--content", content, on.In)
		if err != nil {
			return err
		}
		body, err := new(cli.Body).Text("step", step).Int("activation_no", activation).Text("signal", name).Text("signal_version", version).
			Text("correlation", correlation).Text("reason", reason).Raw("content", payload).Bytes()
		if err != nil {
			return err
		}
		params := &client.SignalInstanceParams{IdempotencyKey: cli.Key(key, on.Err)}
		return showOne(ctx, on, signalReceiptFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.SignalInstanceWithBody(ctx, args[0], params, "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

// signalRef splits NAME@VERSION; the version is a text.
func signalRef(text string) (name, version string, ok bool) {
	at := bytes.LastIndexByte([]byte(text), '@')
	if at < 1 || at == len(text)-1 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

func signalReceiptFields(r client.SignalReceipt) []render.Field {
	return []render.Field{
		{Name: "signal", Value: r.SignalId}, {Name: "instance", Value: r.InstanceId}, {Name: "step", Value: r.Step},
		{Name: "activation", Value: render.Int(r.ActivationNo)}, {Name: "accepted", Value: render.Time(r.AcceptedAt)}, {Name: "expires", Value: render.Time(r.ExpiresAt)},
	}
}

func instanceSignals(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "signals ID", Short: "List the signals of an instance and what became of them", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListInstanceSignals(ctx, args[0], &client.ListInstanceSignalsParams{Cursor: cursor, Limit: limit})
		}, []string{"signal", "step", "activation", "state", "classification", "accepted", "correlation", "content"}, func(g client.Signal) []string {
			return []string{g.SignalId, g.Step, render.Int(g.ActivationNo), g.State, render.TextOf(g.Classification), render.Time(g.AcceptedAt),
				render.Brief(g.Correlation, 32), render.Brief(string(g.Content), 60)}
		})
	})
	return cmd
}

func instanceWaits(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "waits ID", Short: "List what the steps of an instance wait for", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListInstanceWaits(ctx, args[0], &client.ListInstanceWaitsParams{Cursor: cursor, Limit: limit})
		}, []string{"step", "kind", "state", "started", "deadline", "settled", "signal", "correlation", "rounds", "next round"}, func(w client.Wait) []string {
			signal := render.TextOf(w.Signal)
			if w.SignalVersion != nil {
				signal += "@" + *w.SignalVersion
			}
			rounds := ""
			if w.UsedRounds != nil {
				rounds = render.Int(*w.UsedRounds)
			}
			return []string{w.Step, w.Kind, w.State, render.Time(w.StartedAt), render.Time(w.DeadlineAt), render.TimeOf(w.SettledAt), signal, render.Brief(render.TextOf(w.Correlation), 40), rounds, render.TimeOf(w.NextPollAt)}
		})
	})
	return cmd
}
