package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

func submitSingle(ctx context.Context, r *run) error {
	if err := r.begin(); err != nil {
		return err
	}
	began := time.Now()
	err := parallel(r.N, r.Subs, func(i int) error { return r.client.call(ctx, "POST", "/v1/tasks", r.submission(i), nil) })
	r.timed(began)
	return errors.Join(err, r.end())
}

const batchItems = 32

// submitAll submits the run's tasks in batches.
func (r *run) submitAll(ctx context.Context, callers int) error {
	return r.submitRange(ctx, 0, r.N, callers, nil)
}

// submitRange submits tasks from … to−1 in batches and checks every item: a batch is not atomic. extra overrides fields.
func (r *run) submitRange(ctx context.Context, from, to, callers int, extra map[string]any) error {
	return parallel((to-from+batchItems-1)/batchItems, callers, func(b int) error {
		var items []map[string]any
		for i := from + b*batchItems; i < min(to, from+(b+1)*batchItems); i++ {
			item := r.submission(i)
			maps.Copy(item, extra)
			items = append(items, item)
		}
		var out struct {
			Items []struct {
				Receipt json.RawMessage `json:"receipt"`
			} `json:"items"`
		}
		if err := r.client.call(ctx, "POST", "/v1/task-batches", map[string]any{"items": items}, &out); err != nil {
			return err
		}
		for i := range out.Items {
			if len(out.Items[i].Receipt) == 0 {
				return fmt.Errorf("item %d of batch %d has no receipt", i, b)
			}
		}
		return nil
	})
}

func submitBatches(ctx context.Context, r *run) error {
	if err := r.begin(); err != nil {
		return err
	}
	began := time.Now()
	err := r.submitAll(ctx, 8)
	r.timed(began)
	return errors.Join(err, r.end())
}

// until waits for a count of handled items, then for the store to show nothing pending.
func until(ctx context.Context, done *atomic.Int64, n int, failed <-chan error, open func(context.Context) (int64, error)) error {
	for done.Load() < int64(n) {
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%d of %d handled: %w", done.Load(), n, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	for {
		left, err := open(ctx)
		if err != nil || left == 0 {
			return err
		}
		select {
		case err := <-failed:
			return err
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func drain(ctx context.Context, r *run) error {
	if err := r.submitAll(ctx, 4); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	var done atomic.Int64
	failed := make(chan error, r.exchanges())
	began := time.Now()
	stop := r.work(ctx, []string{"bench"}, func(claimed) { done.Add(1) }, func(err error) { failed <- err })
	err := until(ctx, &done, r.N, failed, r.openTasks)
	r.timed(began)
	err = errors.Join(err, r.end())
	stop()
	return err
}

// latency submits ten tasks a second and follows each: acknowledged, started, seen as done by a reader.
func latency(ctx context.Context, r *run) error {
	var mu sync.Mutex
	started := map[string]time.Time{}
	failed := make(chan error, r.exchanges())
	stop := r.work(ctx, []string{"bench"}, func(c claimed) { mu.Lock(); started[c.TaskID] = time.Now(); mu.Unlock() }, func(err error) { failed <- err })
	defer stop()
	time.Sleep(time.Second)
	if err := r.begin(); err != nil {
		return err
	}
	acks, starts, ends := make([]float64, r.N), make([]float64, r.N), make([]float64, r.N)
	errs := make([]error, r.N)
	var wg sync.WaitGroup
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for i := range r.N {
		<-tick.C
		wg.Go(func() { errs[i] = r.follow(ctx, i, &mu, started, &acks[i], &starts[i], &ends[i]) })
	}
	wg.Wait()
	r.timed(began)
	r.result.Rate = 0
	quantiles(r.result.Ms, "start_", starts)
	quantiles(r.result.Ms, "done_", ends)
	quantiles(r.result.Ms, "ack_", acks)
	return errors.Join(append(errs, r.end())...)
}

func (r *run) follow(ctx context.Context, i int, mu *sync.Mutex, started map[string]time.Time, ack, start, end *float64) error {
	began := time.Now()
	var receipt struct {
		TaskID string `json:"task_id"`
	}
	if err := r.client.call(ctx, "POST", "/v1/tasks", r.submission(i), &receipt); err != nil {
		return err
	}
	*ack = milliseconds(time.Since(began))
	for state := ""; state != "SUCCEEDED"; {
		var task struct {
			State string `json:"state"`
		}
		if err := r.client.call(ctx, "GET", "/v1/tasks/"+receipt.TaskID, nil, &task); err != nil {
			return err
		}
		if state = task.State; state != "SUCCEEDED" {
			time.Sleep(2 * time.Millisecond)
		}
	}
	*end = milliseconds(time.Since(began))
	mu.Lock()
	defer mu.Unlock()
	*start = milliseconds(started[receipt.TaskID].Sub(began))
	return nil
}
