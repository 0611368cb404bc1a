package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
)

func taskSubmitBatch(s *cli.Settings) *cobra.Command {
	cmd := batchCommand(s, batchKind{"submitted", "submit_key", func(ctx context.Context, on *cli.Session, body []byte) (*http.Response, error) {
		return on.API.SubmitTaskBatchWithBody(ctx, nil, "application/json", bytes.NewReader(body))
	}})
	cmd.Use, cmd.Short = "submit-batch [FILE]", "Submit many tasks, one JSON object a line"
	cmd.Long = "Submit many tasks from a file or standard input, one submission (TaskSubmission) a line." + batchLong
	cmd.Example = `  generate-orders | orbit task submit-batch
  orbit task submit-batch orders.ndjson --output json | jq -c 'select(.problem)'`
	return cmd
}

func instanceStartBatch(s *cli.Settings) *cobra.Command {
	cmd := batchCommand(s, batchKind{"started", "start_key", func(ctx context.Context, on *cli.Session, body []byte) (*http.Response, error) {
		return on.API.StartInstanceBatchWithBody(ctx, nil, "application/json", bytes.NewReader(body))
	}})
	cmd.Use, cmd.Short = "start-batch [FILE]", "Start many instances, one JSON object a line"
	cmd.Long = "Start many instances from a file or standard input, one start (InstanceStart) a line." + batchLong
	return cmd
}

const batchLong = `

Each line stands for itself: one refused line does not refuse another, and full queues are waited for. Running the same
file again is safe: what was accepted is answered as a replay. With --output json each line's outcome is one JSON line, in
the order of the file. Exit code 1 when a line was refused.`

// batchKind is what the two batch commands differ in.
type batchKind struct {
	done, key string // what is counted; the member that identifies a line
	send      func(ctx context.Context, on *cli.Session, body []byte) (*http.Response, error)
}

func batchCommand(s *cli.Settings, kind batchKind) *cobra.Command {
	var parallel int
	cmd := &cobra.Command{Args: cobra.MaximumNArgs(1)}
	cmd.Flags().IntVar(&parallel, "parallel", 4, "requests at the same time, 1 to 32")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		if parallel < 1 || parallel > 32 {
			return cli.Usage("--parallel is 1 to 32")
		}
		source, name := on.In, "<stdin>"
		if len(args) == 1 && args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			source, name = file, args[0]
		}
		return sendAll(ctx, on, kind, source, name, parallel)
	})
	return cmd
}

// sent is a batch under way; its channel gives the outcome, so that answers
// are told in the order of the file although requests overlap.
type sent struct {
	lines []cli.Line
	done  chan error
	out   []cli.Outcome
}

func sendAll(ctx context.Context, on *cli.Session, kind batchKind, source io.Reader, name string, parallel int) error {
	group, ctx := errgroup.WithContext(ctx)
	queue := make(chan *sent, parallel-1)
	send := func(ctx context.Context, body []byte) (*http.Response, error) { return kind.send(ctx, on, body) }
	group.Go(func() error {
		defer close(queue)
		return cli.Chunks(source, name, kind.key, func(lines []cli.Line) error {
			b := &sent{lines: lines, done: make(chan error, 1)}
			select {
			case queue <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
			go func() {
				var err error
				b.out, err = on.Batch(ctx, lines, send)
				b.done <- err
			}()
			return nil
		})
	})
	t := &tally{on: on, progress: render.NewProgress(on.Err, kind.done)}
	group.Go(func() error { return t.collect(queue) })
	err := group.Wait()
	t.progress.Done()
	return t.finish(err)
}

// tally counts and tells outcomes.
type tally struct {
	on       *cli.Session
	progress *render.Progress

	accepted, replayed, refused int
}

func (t *tally) collect(queue <-chan *sent) error {
	for b := range queue {
		if err := <-b.done; err != nil {
			fmt.Fprintf(t.on.Err, "lines %d to %d: it is not known what became of them; run the same file again\n", b.lines[0].No, b.lines[len(b.lines)-1].No)
			return err
		}
		for _, o := range b.out {
			if err := t.tell(o); err != nil {
				return err
			}
		}
		t.progress.Add(len(b.out))
	}
	return nil
}

func (t *tally) tell(o cli.Outcome) error {
	switch {
	case o.Problem != nil:
		t.refused++
		if !t.on.Out.JSON {
			fmt.Fprintf(t.on.Err, "line %d: %s\n", o.Line, cli.ItemRefusal(o.Problem).Line())
		}
	case o.Replayed:
		t.replayed++
	default:
		t.accepted++
	}
	if !t.on.Out.JSON {
		return nil
	}
	out, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return t.on.Out.Body(out)
}

func (t *tally) finish(err error) error {
	if t.on.Out.JSON {
		fmt.Fprintf(t.on.Err, "%d accepted, %d replayed, %d refused\n", t.accepted, t.replayed, t.refused)
	} else if told := t.on.Out.Record(render.Field{Name: "accepted", Value: render.Int(t.accepted)},
		render.Field{Name: "replayed", Value: render.Int(t.replayed)}, render.Field{Name: "refused", Value: render.Int(t.refused)}); told != nil {
		return told
	}
	if err == nil && t.refused > 0 {
		return cli.Findings()
	}
	return err
}
