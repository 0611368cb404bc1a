package main

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

// submission are the flags of one task.
type submission struct {
	key, queue, handler, input, businessKey, resourceKey, lost, contract, file string

	priority                          int32
	delay, deadline, attemptTimeout   time.Duration
	maxAttempts                       int32
	retryDelay, retryStep, retryLimit time.Duration
	retryFactor, retryJitter          int32
	retryDelays                       []time.Duration
	watch                             bool

	unique, debounce                         string
	uniqueWindow, debounceDelay, debounceMax time.Duration
	attributes                               map[string]string
}

func taskSubmit(s *cli.Settings) *cobra.Command {
	var f submission
	cmd := &cobra.Command{
		Use: "submit --queue NAME --handler NAME@VERSION --input JSON", Short: "Submit a task", Args: cobra.NoArgs,
		Long: `Submit a task. Accepted means durable.

The key makes the submission one: the same key with the same content gives the first receipt again, for ever; with other
content it is refused. Without --key a new one is made and told on standard error.

JSON is the text itself, @FILE, or - for standard input; its bytes are kept exactly.

How a retryable failure is tried again follows from the flags given: --retry-delays lists each wait; --retry-step makes
the waits grow evenly, --retry-factor makes them multiply; --retry-delay alone keeps them equal.`,
		Example: `  orbit task submit --queue work --handler hello@1 --input '{"name":"you"}' --watch
  orbit task submit -q work --handler charge@3 --input @order.json --key order-17 --max-attempts 5 --retry-delay 1s --retry-factor 2 --retry-max-delay 1m
  orbit task submit --file task.json`,
	}
	f.attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		body, err := f.body(on)
		if err != nil {
			return err
		}
		receipt, answer, err := cli.Read[client.TaskReceipt](ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.SubmitTaskWithBody(ctx, traced(), "application/json", bytes.NewReader(body))
		})
		if err != nil {
			return err
		}
		if f.watch {
			return watchTask(ctx, on, receipt.TaskId, watchFlags{})
		}
		return show(on, answer, taskReceiptFields(receipt))
	})
	return cmd
}

func (f *submission) attach(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.key, "key", "", "submit key (default: a new one)")
	flags.StringVarP(&f.queue, "queue", "q", "", "queue")
	flags.StringVar(&f.handler, "handler", "", "NAME@VERSION of the code that runs it")
	flags.StringVarP(&f.input, "input", "i", "null", "input: JSON, @FILE or -")
	flags.StringVar(&f.businessKey, "business-key", "", "what the task is about")
	flags.StringVar(&f.resourceKey, "resource-key", "", "at most one task with this key runs at a time")
	flags.Int32Var(&f.priority, "priority", 0, "0 to 9; one level is worth 30 s of waiting")
	flags.DurationVar(&f.delay, "delay", 0, "not before this time from now")
	flags.DurationVar(&f.deadline, "deadline", time.Hour, "ends the task, waits and retries included")
	flags.DurationVar(&f.attemptTimeout, "attempt-timeout", time.Minute, "longest time of one attempt")
	flags.Int32Var(&f.maxAttempts, "max-attempts", 1, "attempts in all")
	flags.DurationVar(&f.retryDelay, "retry-delay", time.Second, "first wait")
	flags.DurationVar(&f.retryStep, "retry-step", 0, "waits grow by this")
	flags.Int32Var(&f.retryFactor, "retry-factor", 0, "waits multiply by this, 2 to 10")
	flags.DurationVar(&f.retryLimit, "retry-max-delay", 0, "longest wait of growing ones (default: an hour)")
	flags.DurationSliceVar(&f.retryDelays, "retry-delays", nil, "each wait, max-attempts - 1 of them")
	flags.Int32Var(&f.retryJitter, "retry-jitter-percent", 0, "spread of each wait, 0 to 50")
	flags.StringVar(&f.lost, "lost", "", "when a worker is lost: REVIEW (default) or RETRY, for handlers safe to repeat")
	flags.StringVar(&f.contract, "output-contract", "", "contract of the output: JSON or @FILE")
	flags.StringVar(&f.unique, "unique", "", "key: at most one such task of the queue is open at a time")
	flags.DurationVar(&f.uniqueWindow, "unique-window", 0, "the unique key stays taken this long after acceptance")
	flags.StringVar(&f.debounce, "debounce", "", "key: the newest submission takes the place of one that still waits")
	flags.DurationVar(&f.debounceDelay, "debounce-delay", 5*time.Second, "wait this long for a newer submission")
	flags.DurationVar(&f.debounceMax, "debounce-max-wait", time.Minute, "start at the latest this long after the first")
	flags.StringToStringVar(&f.attributes, "attribute", nil, "search attribute NAME=VALUE, up to 8")
	flags.StringVarP(&f.file, "file", "f", "", "whole submission as JSON (TaskSubmission) instead of flags; - is standard input")
	flags.BoolVarP(&f.watch, "watch", "w", false, "wait for the end, as orbit task watch does")
	cmd.MarkFlagsOneRequired("queue", "file")
	for _, name := range []string{"queue", "handler", "input", "key"} {
		cmd.MarkFlagsMutuallyExclusive(name, "file")
	}
	cmd.MarkFlagsMutuallyExclusive("unique", "debounce")
	cmd.MarkFlagsMutuallyExclusive("retry-step", "retry-factor", "retry-delays")
}

// body is the submission as JSON; payloads are the bytes they were.
func (f *submission) body(on *cli.Session) ([]byte, error) {
	if f.file == "-" {
		return cli.Payload("--file", "-", on.In)
	}
	if f.file != "" {
		return cli.Payload("--file", "@"+f.file, on.In)
	}
	handler, version, err := handlerRef(f.handler)
	if err != nil {
		return nil, err
	}
	input, err := cli.Payload("--input", f.input, on.In)
	if err != nil {
		return nil, err
	}
	b := new(cli.Body).Text("submit_key", cli.Key(f.key, on.Err)).Text("queue", f.queue).Text("handler", handler).Text("handler_version", version).
		Raw("input", input).Text("business_key", f.businessKey).Text("resource_key", f.resourceKey).Int("priority", int64(f.priority)).
		Millis("delay_ms", f.delay).Millis("deadline_ms", f.deadline).Millis("attempt_timeout_ms", f.attemptTimeout).Text("lost_policy", f.lost)
	policy, err := f.retryPolicy()
	if err != nil {
		return nil, err
	}
	b.Raw("retry_policy", policy)
	if f.contract != "" {
		contract, err := cli.Payload("--output-contract", f.contract, on.In)
		if err != nil {
			return nil, err
		}
		b.Raw("output_contract", contract)
	}
	return f.slot(b).Bytes()
}

// slot adds what keeps tasks apart or finds them again.
func (f *submission) slot(b *cli.Body) *cli.Body {
	if f.unique != "" {
		b.Value("unique", client.UniqueRule{Key: f.unique, WindowMs: f.uniqueWindow.Milliseconds()})
	}
	if f.debounce != "" {
		b.Value("debounce", client.DebounceRule{Key: f.debounce, DelayMs: f.debounceDelay.Milliseconds(), MaxWaitMs: f.debounceMax.Milliseconds()})
	}
	if len(f.attributes) == 0 {
		return b
	}
	var list []client.Attribute
	for _, name := range slices.Sorted(maps.Keys(f.attributes)) {
		list = append(list, client.Attribute{Name: name, Value: f.attributes[name]})
	}
	return b.Value("attributes", list)
}

func (f *submission) retryPolicy() ([]byte, error) {
	b := new(cli.Body)
	limit := f.retryLimit
	if limit == 0 {
		limit = max(time.Hour, f.retryDelay)
	}
	switch {
	case len(f.retryDelays) > 0:
		millis := []int64{}
		for _, d := range f.retryDelays {
			millis = append(millis, d.Milliseconds())
		}
		b.Text("kind", "LIST").Value("delays_ms", millis)
	case f.retryStep > 0:
		b.Text("kind", "LINEAR").Millis("delay_ms", f.retryDelay).Millis("step_ms", f.retryStep).Millis("max_delay_ms", limit)
	case f.retryFactor > 0:
		b.Text("kind", "EXPONENTIAL").Millis("delay_ms", f.retryDelay).Int("factor", int64(f.retryFactor)).Millis("max_delay_ms", limit)
	default:
		b.Text("kind", "FIXED").Millis("delay_ms", f.retryDelay)
	}
	return b.Int("max_attempts", int64(f.maxAttempts)).Int("jitter_percent", int64(f.retryJitter)).Bytes()
}

// handlerRef reads NAME@VERSION. The version is a text and never guessed.
func handlerRef(text string) (name, version string, err error) {
	name, version, found := strings.Cut(text, "@")
	if !found || name == "" || version == "" {
		return "", "", cli.Usage("--handler %q: name and version are needed, like charge@3", text)
	}
	return name, version, nil
}

// traced hands an existing trace on to the task (W3C, TRACEPARENT).
func traced() *client.SubmitTaskParams {
	if parent := os.Getenv("TRACEPARENT"); parent != "" {
		return &client.SubmitTaskParams{Traceparent: &parent}
	}
	return nil
}

func taskReceiptFields(r client.TaskReceipt) []render.Field {
	note := ""
	if r.Deduplicated {
		note = "the unique key was taken: this is the task that holds it, nothing new was accepted"
	}
	return []render.Field{{Name: "task", Value: r.TaskId}, {Name: "note", Value: note}, {Name: "queue", Value: r.Queue}, {Name: "accepted", Value: render.Time(r.AcceptedAt)},
		{Name: "available", Value: render.Time(r.AvailableAt)}, {Name: "deadline", Value: render.Time(r.DeadlineAt)}}
}
