package bench

import (
	"context"
	"encoding/json"
	"sync"
)

// claimed is what a worker needs of a task.
type claimed struct {
	TaskID    string          `json:"task_id"`
	AttemptNo int             `json:"attempt_no"`
	Token     string          `json:"token"`
	Handler   string          `json:"handler"`
	Input     json.RawMessage `json:"input"`
}

type report struct {
	TaskID    string          `json:"task_id"`
	AttemptNo int             `json:"attempt_no"`
	Token     string          `json:"token"`
	Outcome   string          `json:"outcome"`
	Output    json.RawMessage `json:"output"`
}

// worker runs handlers in conc slots. Finished work is reported and the next is claimed in one exchange. Up to 64 slots
// share one exchange: a full batch costs the server half the statements of two half-full ones.
type worker struct {
	r        *run
	handlers []string
	handle   func(claimed)
	fail     func(error)
	wg       sync.WaitGroup
}

func (o *Options) exchanges() int { return (o.Conc + 63) / 64 }

// work starts the worker; the returned function stops it.
func (r *run) work(ctx context.Context, handlers []string, handle func(claimed), fail func(error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{r: r, handlers: handlers, handle: handle, fail: fail}
	n := r.exchanges()
	for range n {
		w.wg.Go(func() { w.loop(ctx, max(r.Conc/n, 1)) })
	}
	return func() { cancel(); w.wg.Wait() }
}

// loop owns a share of the slots: it claims, runs what it got, and reports with the next claim.
func (w *worker) loop(ctx context.Context, slots int) {
	var done []report
	for ctx.Err() == nil {
		tasks, err := w.exchange(ctx, done, slots)
		if err != nil {
			if ctx.Err() == nil {
				w.fail(err)
			}
			return
		}
		done = w.run(tasks)
	}
}

func (w *worker) run(tasks []claimed) []report {
	done := make([]report, len(tasks))
	var wg sync.WaitGroup
	for i := range tasks {
		wg.Go(func() {
			w.handle(tasks[i])
			done[i] = report{tasks[i].TaskID, tasks[i].AttemptNo, tasks[i].Token, "SUCCEEDED", tasks[i].Input}
		})
	}
	wg.Wait()
	return done
}

func (w *worker) exchange(ctx context.Context, done []report, slots int) ([]claimed, error) {
	claim := map[string]any{"worker": "bench", "queues": []string{w.r.label}, "handlers": w.refs(), "max_tasks": min(slots, 64), "wait_ms": 5000, "lease_ms": 60_000}
	var answer struct {
		Tasks []claimed `json:"tasks"`
	}
	if len(done) == 0 {
		err := w.r.client.call(ctx, "POST", "/v1/claims", claim, &answer)
		return answer.Tasks, err
	}
	err := w.r.client.call(ctx, "POST", "/v1/completions", map[string]any{"worker": "bench", "items": done, "claim": claim}, &answer)
	return answer.Tasks, err
}

func (w *worker) refs() []map[string]string {
	refs := make([]map[string]string, len(w.handlers))
	for i, h := range w.handlers {
		refs[i] = map[string]string{"handler": h, "handler_version": "1"}
	}
	return refs
}
