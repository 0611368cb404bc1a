package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

// watchFlags say how long somebody waits for an end.
type watchFlags struct{ throughReview bool }

func (f *watchFlags) attach(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.throughReview, "through-review", false, "go on waiting while a person decides")
}

// watchLong is told by both watch commands.
const watchLong = `

Every change is told on standard error, the end on standard output. Exit code 0 for SUCCEEDED, 5 for another end or for
NEEDS_REVIEW, 4 when --timeout is over first. Interrupting ends the watching, not the work.`

func taskWatch(s *cli.Settings) *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use: "watch ID", Short: "Wait for the end of a task", Args: cobra.ExactArgs(1), Long: "Wait for the end of a task." + watchLong,
		RunE: s.Online(func(ctx context.Context, on *cli.Session, args []string) error { return watchTask(ctx, on, args[0], f) }),
	}
	f.attach(cmd)
	return cmd
}

func watchTask(ctx context.Context, on *cli.Session, id string, f watchFlags) error {
	var told int64
	state, err := follow(ctx, f, func() (string, bool, error) {
		t, _, err := cli.Read[client.Task](ctx, on, func(ctx context.Context) (*http.Response, error) { return on.API.GetTask(ctx, id) })
		if err != nil || t.StateVersion <= told {
			return string(t.State), false, err
		}
		told, err = tellTaskEvents(ctx, on, id, told)
		return string(t.State), true, err
	})
	if err != nil {
		return on.Ended(ctx, err)
	}
	r, answer, err := taskResultOf(ctx, on, id)
	if err != nil {
		return err
	}
	if err := show(on, answer, resultFields(r)); err != nil {
		return err
	}
	return fulfilled(state)
}

// fulfilled is the exit code of what was watched.
func fulfilled(state string) error {
	if state == "SUCCEEDED" {
		return nil
	}
	return &cli.Failure{Code: cli.ExitUnfulfilled}
}

// ends are the states in which watching stops.
var ends = []string{"SUCCEEDED", "FAILED", "CANCELLED", "NEEDS_REVIEW"}

const (
	lookEveryMin = 100 * time.Millisecond
	lookEveryMax = 2 * time.Second
)

// follow looks until the work has ended: often while things change, every two
// seconds when nothing does.
func follow(ctx context.Context, f watchFlags, look func() (state string, changed bool, err error)) (string, error) {
	wait := lookEveryMin
	for {
		state, changed, err := look()
		if err != nil {
			return state, err
		}
		if slices.Contains(ends, state) && !(f.throughReview && state == "NEEDS_REVIEW") {
			return state, nil
		}
		if wait = min(wait*3/2, lookEveryMax); changed {
			wait = lookEveryMin
		}
		if err := cli.Sleep(ctx, wait); err != nil {
			return state, err
		}
	}
}

func tellTaskEvents(ctx context.Context, on *cli.Session, id string, told int64) (int64, error) {
	events, err := cli.Every[client.TaskEvent](ctx, on, taskEventPages(on, id))
	for _, e := range events {
		if e.EventNo <= told {
			continue
		}
		told = e.EventNo
		line := fmt.Sprintf("%s  %s", render.Time(e.At), e.Kind)
		if e.AttemptNo != nil {
			line += fmt.Sprintf("  attempt %d", *e.AttemptNo)
		}
		fmt.Fprintln(on.Err, line)
	}
	return told, err
}
