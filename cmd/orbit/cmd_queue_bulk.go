package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func queueBulk(s *cli.Settings) *cobra.Command {
	return group("bulk", "Cancel, retry or purge many tasks of a queue", "",
		bulkBegin(s, "cancel", "Cancel tasks that wait, ask those that run", "CANCEL"), bulkBegin(s, "retry", "Repeat tasks that failed or were cancelled", "RETRY"),
		bulkBegin(s, "purge", "End everything that waits", "PURGE"), bulkGet(s), bulkList(s), bulkItems(s), bulkAbort(s))
}

// bulkFlags are the filter and what to do.
type bulkFlags struct {
	state, businessKey, handler, failureCode, attribute, from, before string
	reason, key                                                       string
	dry, watch                                                        bool
}

func bulkBegin(s *cli.Settings, name, short, kind string) *cobra.Command {
	var f bulkFlags
	cmd := &cobra.Command{
		Use: name + " QUEUE --reason TEXT", Short: short, Args: cobra.ExactArgs(1),
		Long: short + `. Only tasks accepted before the command are meant. It is durable once it is accepted: the
nodes go on with it page by page, whichever of them stops. The same --key gives the first receipt again; without --key a
new one is made and told on standard error. With --watch the command waits for the end: exit code 5 when it is aborted.`,
		Example: "  orbit queue bulk " + name + " mail --handler send@1 --reason 'wrong template' --dry-run",
	}
	flags := cmd.Flags()
	if kind != "PURGE" {
		flags.StringVar(&f.state, "state", "", map[string]string{"CANCEL": "QUEUED or RUNNING (default: both)", "RETRY": "FAILED or CANCELLED (default: both)"}[kind])
	}
	if kind == "RETRY" {
		flags.StringVar(&f.failureCode, "failure-code", "", "only tasks that ended with this code")
	}
	flags.StringVar(&f.businessKey, "business-key", "", "only tasks with exactly this key")
	flags.StringVar(&f.handler, "handler", "", "only this handler, as NAME or NAME@VERSION")
	flags.StringVar(&f.attribute, "attribute", "", "only tasks with this attribute, as NAME=VALUE")
	flags.StringVar(&f.from, "created-from", "", "accepted at this time or later")
	flags.StringVar(&f.before, "created-before", "", "accepted before this time")
	flags.StringVar(&f.reason, "reason", "", "why; kept in the audit of every task")
	flags.StringVar(&f.key, "key", "", "operation key (default: a new one)")
	flags.BoolVar(&f.dry, "dry-run", false, "count and sample, and change nothing")
	flags.BoolVarP(&f.watch, "watch", "w", false, "wait for the end")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := f.body(kind, args[0], on)
		if err != nil {
			return err
		}
		receipt, answer, err := cli.Read[client.BulkOperationReceipt](ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.CreateBulkOperationWithBody(ctx, "application/json", bytes.NewReader(body))
		})
		if err != nil {
			return err
		}
		if f.watch {
			return watchBulk(ctx, on, receipt.OperationId)
		}
		return show(on, answer, []render.Field{{Name: "operation", Value: receipt.OperationId}, {Name: "kind", Value: string(receipt.Kind)}, {Name: "queue", Value: receipt.Queue},
			{Name: "dry run", Value: fmt.Sprint(receipt.DryRun)}, {Name: "tasks before", Value: render.Time(receipt.CreatedBefore)}})
	})
	return cmd
}

func (f *bulkFlags) body(kind, queue string, on *cli.Session) ([]byte, error) {
	handler, version, _ := strings.Cut(f.handler, "@")
	filter := new(cli.Body).Text("state", f.state).Text("business_key", f.businessKey).Text("handler", handler).Text("handler_version", version).
		Text("failure_code", f.failureCode).Text("created_from", f.from).Text("created_before", f.before)
	if f.attribute != "" {
		name, value, ok := strings.Cut(f.attribute, "=")
		if !ok {
			return nil, cli.Usage("--attribute %q: write NAME=VALUE", f.attribute)
		}
		filter.Value("attribute", client.Attribute{Name: name, Value: value})
	}
	chosen, err := filter.Bytes()
	if err != nil {
		return nil, err
	}
	return new(cli.Body).Text("operation_key", cli.Key(f.key, on.Err)).Text("kind", kind).Text("queue", queue).Raw("filter", chosen).
		Text("reason", f.reason).Flag("dry_run", f.dry).Bytes()
}

func watchBulk(ctx context.Context, on *cli.Session, id string) error {
	for {
		op, answer, err := cli.Read[client.BulkOperation](ctx, on, func(ctx context.Context) (*http.Response, error) { return on.API.GetBulkOperation(ctx, id) })
		if err != nil {
			return on.Ended(ctx, err)
		}
		if op.State != "RUNNING" {
			if err := show(on, answer, bulkFields(op)); err != nil {
				return err
			}
			return fulfilled(map[bool]string{true: "SUCCEEDED", false: string(op.State)}[op.State == "DONE"])
		}
		fmt.Fprintf(on.Err, "%s: %d looked at, %d done, %d skipped, %d refused\n", op.State, op.Scanned, op.Done, op.Skipped, op.Refused)
		select {
		case <-ctx.Done():
			return on.Ended(ctx, ctx.Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func bulkFields(op client.BulkOperation) []render.Field {
	fields := []render.Field{
		{Name: "operation", Value: op.OperationId}, {Name: "key", Value: op.OperationKey}, {Name: "kind", Value: string(op.Kind)}, {Name: "queue", Value: op.Queue},
		{Name: "dry run", Value: fmt.Sprint(op.DryRun)}, {Name: "state", Value: string(op.State)}, {Name: "looked at", Value: render.Int(op.Scanned)},
		{Name: "matched", Value: render.Int(op.Matched)}, {Name: "done", Value: render.Int(op.Done)}, {Name: "skipped", Value: render.Int(op.Skipped)},
		{Name: "refused", Value: render.Int(op.Refused)}, {Name: "reason", Value: op.Reason}, {Name: "by", Value: op.By},
		{Name: "tasks before", Value: render.Time(op.CreatedBefore)}, {Name: "created", Value: render.Time(op.CreatedAt)},
	}
	if op.StopCode != nil {
		fields = append(fields, render.Field{Name: "stopped by", Value: *op.StopCode})
	}
	if op.EndedAt != nil {
		fields = append(fields, render.Field{Name: "ended", Value: render.Time(*op.EndedAt)})
	}
	return fields
}

func bulkGet(s *cli.Settings) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{Use: "get ID", Short: "Show a bulk operation", Args: cobra.ExactArgs(1)}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "wait for the end")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		if watch {
			return watchBulk(ctx, on, args[0])
		}
		return showOne(ctx, on, bulkFields, func(ctx context.Context) (*http.Response, error) { return on.API.GetBulkOperation(ctx, args[0]) })
	})
	return cmd
}

func bulkList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list QUEUE", Short: "List the bulk operations of a queue, newest first", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListBulkOperations(ctx, &client.ListBulkOperationsParams{Queue: args[0], Cursor: cursor, Limit: limit})
		}, []string{"operation", "kind", "state", "dry run", "done", "skipped", "refused", "created", "reason"}, func(op client.BulkOperation) []string {
			return []string{op.OperationId, string(op.Kind), string(op.State), fmt.Sprint(op.DryRun), render.Int(op.Done), render.Int(op.Skipped), render.Int(op.Refused), render.Time(op.CreatedAt), op.Reason}
		})
	})
	return cmd
}

func bulkItems(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	var result string
	cmd := &cobra.Command{Use: "items ID", Short: "Show what became of each task", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.Flags().StringVar(&result, "result", "", "DONE, SKIPPED or REFUSED (default: all)")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			params := &client.ListBulkItemsParams{Cursor: cursor, Limit: limit}
			if result != "" {
				params.Result = new(client.BulkResult(result))
			}
			return on.API.ListBulkItems(ctx, args[0], params)
		}, []string{"task", "result", "code", "successor"}, func(i client.BulkItem) []string {
			return []string{i.TaskId, string(i.Result), i.Code, render.TextOf(i.Successor)}
		})
	})
	return cmd
}

func bulkAbort(s *cli.Settings) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "abort ID --reason TEXT", Short: "End a bulk operation; what was done stays done", Args: cobra.ExactArgs(1)}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept in the audit")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := new(cli.Body).Text("reason", reason).Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, bulkFields, func(ctx context.Context) (*http.Response, error) {
			return on.API.AbortBulkOperationWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}
