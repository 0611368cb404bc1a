package main

import (
	"context"
	"errors"
	"log"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// relay sends commands. Any number of them may run.
type relay struct {
	box    *box
	client *orbit.Client
	lease  time.Duration
	sent   func(*command) // for tests: the request is answered, and nothing is confirmed yet
}

// Run relays until ctx ends.
func (r *relay) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		c, err := r.box.Take(ctx, r.lease)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			log.Printf("the business database: %v", err)
			pause(ctx, time.Second)
		case c == nil:
			pause(ctx, 50*time.Millisecond)
		default:
			if err := r.Send(ctx, c); err != nil && ctx.Err() == nil {
				log.Printf("%s: %v", c.operation, err)
			}
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Send asks Orbit once, outside of every transaction, and writes down what it said. The key never changes: whether the
// last try got through is Orbit's to know, and the same key gets the same task.
func (r *relay) Send(ctx context.Context, c *command) error {
	receipt, err := r.client.Submit(ctx, orbit.Submission{
		SubmitKey: c.key, Queue: c.target, Handler: "charge", HandlerVersion: "1", Input: c.request,
		Deadline: 24 * time.Hour, AttemptTimeout: time.Minute, Retry: orbit.Exponential(5, time.Second, 2, time.Minute),
	})
	if r.sent != nil {
		r.sent(c)
	}
	if err == nil {
		return r.box.Confirm(ctx, c, receipt.TaskID)
	}
	if refusal, ok := errors.AsType[*orbit.Error](err); ok && !orbit.Repeatable(err) {
		return errors.Join(err, r.box.Refuse(ctx, c, refusal.Error()))
	}
	return errors.Join(err, r.box.Postpone(ctx, c, backoff(c.tries), err.Error()))
}

// backoff spreads a hundred tries over the day of the budget.
func backoff(tries int) time.Duration {
	return min(100*time.Millisecond<<min(tries, 13), 15*time.Minute)
}
