package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

var _ = register(instanceCommand)

func instanceCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("instance", "Start and follow workflow instances", "",
		instanceStart(s), instanceStartBatch(s), instanceGet(s), instanceList(s), instanceSteps(s), instanceHistory(s), instanceWatch(s),
		instanceSignal(s), instanceSignals(s), instanceWaits(s))
	s.Attach(cmd)
	return cmd
}

var definitionName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func instanceStart(s *cli.Settings) *cobra.Command {
	var key, input, businessKey string
	var watch bool
	cmd := &cobra.Command{
		Use: "start NAME[@VERSION] --input JSON", Short: "Start an instance of a published workflow", Args: cobra.ExactArgs(1),
		Long: `Start an instance of a published workflow; without a version the latest one, which the receipt names.

The same key with the same content gives the first receipt again. Without --key a new one is made and told on standard
error. JSON is the text itself, @FILE, or - for standard input.`,
	}
	cmd.Flags().StringVar(&key, "key", "", "start key (default: a new one)")
	cmd.Flags().StringVarP(&input, "input", "i", "null", "input: JSON, @FILE or -")
	cmd.Flags().StringVar(&businessKey, "business-key", "", "what the instance is about")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "wait for the end, as orbit instance watch does")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		payload, err := cli.Payload("--input", input, on.In)
		if err != nil {
			return err
		}
		b := new(cli.Body)
		switch name, version, ok := versionRef(args[0]); {
		case ok:
			b.Text("definition", name).Int("version", int64(version))
		case definitionName.MatchString(args[0]):
			b.Text("definition", args[0])
		default:
			return cli.Usage("%q: use NAME or NAME@VERSION", args[0])
		}
		body, err := b.Text("start_key", cli.Key(key, on.Err)).Text("business_key", businessKey).Raw("input", payload).Bytes()
		if err != nil {
			return err
		}
		return startInstance(ctx, on, body, watch)
	})
	return cmd
}

func startInstance(ctx context.Context, on *cli.Session, body []byte, watch bool) error {
	params := &client.StartInstanceParams{}
	if parent := os.Getenv("TRACEPARENT"); parent != "" {
		params.Traceparent = &parent
	}
	receipt, answer, err := cli.Read[client.InstanceReceipt](ctx, on, func(ctx context.Context) (*http.Response, error) {
		return on.API.StartInstanceWithBody(ctx, params, "application/json", bytes.NewReader(body))
	})
	if err != nil {
		return err
	}
	if watch {
		fmt.Fprintf(on.Err, "instance: %s\n", receipt.InstanceId)
		return watchInstance(ctx, on, receipt.InstanceId, watchFlags{})
	}
	return show(on, answer, []render.Field{{Name: "instance", Value: receipt.InstanceId}, {Name: "definition", Value: receipt.Definition},
		{Name: "version", Value: render.Int(receipt.Version)}, {Name: "accepted", Value: render.Time(receipt.AcceptedAt)}, {Name: "deadline", Value: render.Time(receipt.DeadlineAt)}})
}

func instanceGet(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show an instance with its payloads", Args: cobra.ExactArgs(1),
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
			return showOne(ctx, on, instanceFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetInstance(ctx, args[0]) })
		}),
	}
}

func instanceFields(i client.Instance) []render.Field {
	return []render.Field{
		{Name: "instance", Value: i.InstanceId}, {Name: "state", Value: string(i.State)}, {Name: "paused", Value: render.Yes(i.Paused)}, {Name: "reason", Value: render.TextOf(i.Reason)},
		{Name: "definition", Value: i.Definition + "@" + render.Int(i.Version)}, {Name: "business key", Value: render.TextOf(i.BusinessKey)},
		{Name: "revision", Value: render.Int(i.Revision)}, {Name: "created", Value: render.Time(i.CreatedAt)}, {Name: "deadline", Value: render.Time(i.DeadlineAt)},
		{Name: "ended", Value: render.TimeOf(i.EndedAt)}, {Name: "input", Value: string(i.Input)}, {Name: "output", Value: string(i.Output)},
	}
}

func instanceList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list", Short: "List instances, oldest first", Args: cobra.NoArgs}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListInstances(ctx, &client.ListInstancesParams{Cursor: cursor, Limit: limit})
		}, []string{"instance", "state", "definition", "business key", "created", "ended", "reason"}, func(i client.InstanceSummary) []string {
			return []string{i.InstanceId, string(i.State), i.Definition + "@" + render.Int(i.Version), render.Brief(render.TextOf(i.BusinessKey), 32),
				render.Time(i.CreatedAt), render.TimeOf(i.EndedAt), render.TextOf(i.Reason)}
		})
	})
	return cmd
}
