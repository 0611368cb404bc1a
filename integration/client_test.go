//go:build integration

package integration

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func jsonField(t *testing.T, text, name string) string {
	t.Helper()
	var fields map[string]any
	must(t, json.Unmarshal([]byte(text), &fields))
	value, _ := fields[name].(string)
	if value == "" {
		t.Fatalf("no %s in %s", name, text)
	}
	return value
}

// api calls whichever node answers; urls may change while calls are under way.
type api struct {
	key  string
	urls atomic.Pointer[[]string]
	next atomic.Int64
	http http.Client
}

func newAPI(key string, urls ...string) *api {
	a := &api{key: key, http: http.Client{Timeout: 40 * time.Second}}
	a.urls.Store(&urls)
	return a
}

// keyed is a body that goes with an idempotency key.
type keyed struct {
	key  string
	body any
}

// once sends one request to one node.
func (a *api) once(ctx context.Context, method, path string, in any) (int, []byte, error) {
	key := ""
	if k, ok := in.(keyed); ok {
		key, in = k.key, k.body
	}
	text, err := json.Marshal(in)
	if err != nil {
		return 0, nil, err
	}
	urls := *a.urls.Load()
	url := urls[int(a.next.Add(1))%len(urls)] + path
	var body io.Reader
	if in != nil {
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.key)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := a.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err = io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// call repeats the same request until a node answers it: lost connections and 5xx are asked again with the same keys.
func (a *api) call(ctx context.Context, method, path string, in, out any) error {
	for {
		status, text, err := a.once(ctx, method, path, in)
		if err == nil && status < 300 {
			if out == nil {
				return nil
			}
			return json.Unmarshal(text, out)
		}
		if err == nil && status < 500 && status != http.StatusTooManyRequests {
			return fmt.Errorf("%s %s: %d %.300s", method, path, status, text)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s: %w (last: %v %d %.300s)", method, path, ctx.Err(), err, status, text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// claimed is a task in a worker's hands.
type claimed struct {
	TaskID    string          `json:"task_id"`
	AttemptNo int             `json:"attempt_no"`
	Token     string          `json:"token"`
	Handler   string          `json:"handler"`
	Input     json.RawMessage `json:"input"`
}

// journal is what really ran, written by the worker itself and independent of the server.
type journal struct {
	mu   sync.Mutex
	runs map[string][]int // task → attempts
}

func (j *journal) note(c claimed) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs[c.TaskID] = append(j.runs[c.TaskID], c.AttemptNo)
}

func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.runs)
}

// worker claims, works and reports until ctx ends. A report is repeated until it is answered, whatever dies meanwhile.
type worker struct {
	*journal
	api      *api
	queue    string
	handlers []string
	work     time.Duration
	late     atomic.Int64
	answer   func(c claimed) json.RawMessage // nil: the input
	effects  io.Writer                       // nil: the journal in memory is enough
}

func newWorker(a *api, queue string, handlers ...string) *worker {
	return &worker{journal: &journal{runs: map[string][]int{}}, api: a, queue: queue, handlers: handlers, work: 5 * time.Millisecond}
}

func (w *worker) run(ctx context.Context, loops int) *sync.WaitGroup {
	var wg sync.WaitGroup
	for range loops {
		wg.Go(func() {
			for ctx.Err() == nil {
				w.turn(ctx)
			}
		})
	}
	return &wg
}

func (w *worker) claim() map[string]any {
	var refs []map[string]string
	for _, h := range w.handlers {
		refs = append(refs, map[string]string{"handler": h, "handler_version": "1"})
	}
	return map[string]any{"worker": "it", "queues": []string{w.queue}, "handlers": refs, "max_tasks": 4, "wait_ms": 1000, "lease_ms": 3000, "claim_key": rand.Text()}
}

func (w *worker) turn(ctx context.Context) {
	var got struct {
		Tasks []claimed `json:"tasks"`
	}
	// A claim without an answer may have started attempts: it is asked again under its key until somebody answers.
	claim := w.claim()
	for question := 1; ; question++ {
		status, text, err := w.api.once(ctx, "POST", "/v1/claims", claim)
		if err == nil && status == 200 && json.Unmarshal(text, &got) == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		claim["question"] = question
		time.Sleep(20 * time.Millisecond)
	}
	for _, c := range got.Tasks {
		w.note(c)
		w.tell("begin", c)
		time.Sleep(w.work)
		w.tell("done", c)
		w.report(ctx, c)
	}
}

// tell writes down what happens, in one write each: a killed process leaves whole lines.
func (w *worker) tell(op string, c claimed) {
	if w.effects == nil {
		return
	}
	if _, err := fmt.Fprintf(w.effects, "{\"op\":%q,\"task\":%q,\"attempt\":%d}\n", op, c.TaskID, c.AttemptNo); err != nil {
		panic(err) // without its journal the run proves nothing
	}
}

func (w *worker) report(ctx context.Context, c claimed) {
	var out struct {
		Items []struct {
			Outcome string `json:"outcome"`
		} `json:"items"`
	}
	output := c.Input
	if w.answer != nil {
		output = w.answer(c)
	}
	item := map[string]any{"task_id": c.TaskID, "attempt_no": c.AttemptNo, "token": c.Token, "outcome": "SUCCEEDED", "output": output}
	err := w.api.call(ctx, "POST", "/v1/completions", map[string]any{"worker": "it", "items": []any{item}}, &out)
	if err == nil && out.Items[0].Outcome == "LATE" {
		w.late.Add(1)
	}
}

// hammer submits tasks of 64 resource keys from n callers until ctx ends, and counts answers and refusals.
func hammer(ctx context.Context, a *api, n int) (accepted, failed int64) {
	var ok, bad atomic.Int64
	var wg sync.WaitGroup
	for caller := range n {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				status, _, err := a.once(ctx, "POST", "/v1/tasks", map[string]any{
					"submit_key": fmt.Sprintf("h%d-%d", caller, i), "queue": "q", "handler": "h", "handler_version": "1", "input": i, "deadline_ms": 3600000,
					"attempt_timeout_ms": 60000, "resource_key": fmt.Sprint(i % 64), "retry_policy": map[string]any{"kind": "FIXED", "max_attempts": 1},
				})
				switch {
				case err == nil && status == http.StatusCreated:
					ok.Add(1)
				case ctx.Err() == nil:
					bad.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return ok.Load(), bad.Load()
}
