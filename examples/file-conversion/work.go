package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/orbitrun/orbit/sdk/worker"
)

// pollWait is short, because the end of the command waits for the last poll.
const pollWait = time.Second

func (j *job) worker() *worker.Worker {
	w := worker.New(j.client, worker.Options{
		Concurrency: j.workers, Lease: j.lease, PollWait: pollWait,
		Middleware: []worker.Middleware{slower(j.pace)},
	})
	j.folders.Register(w, j.name)
	return w
}

// slower makes every task take longer, so that a person can watch, and kill. It stands before the handler: a task that
// is told to stop meanwhile has done nothing.
func slower(pace time.Duration) worker.Middleware {
	return func(next worker.HandlerFunc) worker.HandlerFunc {
		return func(ctx context.Context, t *worker.Task) (json.RawMessage, error) {
			select {
			case <-time.After(pace):
				return next(ctx, t)
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
}
