package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// frontTasks is how many tasks of one resource key wait in front of the others.
const frontTasks = 10_000

// front drains half of the tasks from a clean queue and half from behind 10,000 tasks of one held resource key, and
// gives the ratio of the two rates: tasks that cannot start must not slow those that can (pulse.md Claim).
func front(ctx context.Context, r *run) error {
	half := r.N / 2
	clean, err := r.drainRange(ctx, 0, half)
	if err != nil {
		return err
	}
	if err := r.holdKey(ctx); err != nil {
		return err
	}
	if err := r.submitRange(ctx, r.N, r.N+frontTasks, 4, map[string]any{"resource_key": r.label, "priority": 9}); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	began := time.Now()
	behind, err := r.drainRange(ctx, half, r.N)
	r.timed(began)
	r.result.Rate = behind
	r.result.Ms["clean_per_second"], r.result.Ms["ratio_to_clean"] = round(clean), round(behind/clean)
	return errors.Join(err, r.end())
}

// drainRange submits tasks and measures how fast a worker ends them.
func (r *run) drainRange(ctx context.Context, from, to int) (float64, error) {
	if err := r.submitRange(ctx, from, to, 4, nil); err != nil {
		return 0, err
	}
	var done atomic.Int64
	failed := make(chan error, r.exchanges())
	began := time.Now()
	stop := r.work(ctx, []string{"bench"}, func(claimed) { done.Add(1) }, func(err error) { failed <- err })
	defer stop()
	for done.Load() < int64(to-from) {
		select {
		case err := <-failed:
			return 0, err
		case <-ctx.Done():
			return 0, fmt.Errorf("%d of %d ended: %w", done.Load(), to-from, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return float64(to-from) / time.Since(began).Seconds(), nil
}

// holdKey has one task of the key claimed and never reported, so that everybody else of the key must wait.
func (r *run) holdKey(ctx context.Context) error {
	if err := r.submitRange(ctx, 10_000_000, 10_000_001, 1, map[string]any{"resource_key": r.label}); err != nil {
		return err
	}
	w := &worker{r: r, handlers: []string{"bench"}}
	tasks, err := w.exchange(ctx, nil, 1)
	if err == nil && len(tasks) != 1 {
		return errors.New("the task that holds the key was not claimed")
	}
	return err
}
