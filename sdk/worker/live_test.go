//go:build live

// Stories against a real server: ORBIT_URL and ORBIT_KEY name it, as `orbit dev --output json` prints them.
//
//	go test -tags live -run Live ./worker
package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/flow"
	"github.com/orbitrun/orbit/sdk/worker"
)

// live is a queue of its own on the server.
type live struct {
	*orbit.Client
	queue string
}

func newLive(t *testing.T) live {
	t.Helper()
	c, err := orbit.New(os.Getenv("ORBIT_URL"), os.Getenv("ORBIT_KEY"))
	if err != nil {
		t.Fatal("ORBIT_URL and ORBIT_KEY must name a server: ", err)
	}
	l := live{c, strings.ToLower(orbit.NewKey())[:20]}
	if _, err := c.PutQueue(t.Context(), l.queue, orbit.QueueSettings{OpenTasksMax: 100000, RunningAttemptsMax: 1000}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l live) work(t *testing.T, o worker.Options, handle worker.HandlerFunc) (stop func() error) {
	t.Helper()
	o.Queues = []string{l.queue}
	w := worker.New(l.Client, o)
	worker.HandleFunc(w, "h", "1", handle)
	return running(t, w)
}

func running(t *testing.T, w *worker.Worker) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

func (l live) task(input string) orbit.Submission {
	return orbit.Submission{Queue: l.queue, Handler: "h", HandlerVersion: "1", Input: raw(input), Deadline: time.Hour,
		AttemptTimeout: time.Minute, Retry: orbit.Fixed(3, 50*time.Millisecond)}
}

func (l live) submit(t *testing.T, input string) string {
	t.Helper()
	receipt, err := l.Submit(t.Context(), l.task(input))
	if err != nil {
		t.Fatal(err)
	}
	return receipt.TaskID
}

func (l live) wait(t *testing.T, id string) *orbit.TaskResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	result, err := l.Wait(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestLiveT21PayloadsKeepTheirBytes(t *testing.T) {
	l := newLive(t)
	stop := l.work(t, worker.Options{}, func(_ context.Context, task *worker.Task) (raw, error) { return task.Input, nil })
	for _, text := range []string{`{"a": 1.10,  "b":9223372036854775808}`, `"<&>🎩"`, `0.1000000000000000000000000000000000000001`, `null`} {
		id := l.submit(t, text)
		result := l.wait(t, id)
		task, err := l.GetTask(t.Context(), id)
		if err != nil || string(result.Output) != text || string(task.Input) != text {
			t.Errorf("sent %s, input %s, output %s, %v", text, task.Input, result.Output, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestLiveOutcomes(t *testing.T) {
	l := newLive(t)
	var retries atomic.Int32
	stop := l.work(t, worker.Options{Concurrency: 8, Lease: time.Second}, func(ctx context.Context, task *worker.Task) (raw, error) {
		switch string(task.Input) {
		case `"retry"`:
			if retries.Add(1) < 3 {
				return nil, errors.New("not yet")
			}
			return raw(`"third"`), nil
		case `"permanent"`:
			return nil, worker.WithDetails(worker.Permanent(errors.New("no"), "declined"), map[string]int{"line": 12})
		case `"panic"`:
			panic("boom")
		case `"large"`:
			return raw(`"` + strings.Repeat("x", 300<<10) + `"`), nil
		case `"long"`:
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		return nil, nil
	})
	for _, c := range []struct{ input, state, code string }{
		{`"retry"`, "SUCCEEDED", ""}, {`"permanent"`, "FAILED", "declined"}, {`"panic"`, "NEEDS_REVIEW", "panic"},
		{`"large"`, "NEEDS_REVIEW", "report_refused"}, {`"nothing"`, "SUCCEEDED", ""},
	} {
		result := l.wait(t, l.submit(t, c.input))
		code := ""
		if result.Failure != nil {
			code = result.Failure.Code
		}
		if string(result.State) != c.state || code != c.code {
			t.Errorf("%s: %s %s", c.input, result.State, code)
		}
	}
	long := l.submit(t, `"long"`)
	eventually(t, "it runs", func() bool {
		task, err := l.GetTask(t.Context(), long)
		return err == nil && task.State == orbit.TaskRunning
	})
	time.Sleep(2500 * time.Millisecond) // longer than two leases
	if receipt, err := l.Cancel(t.Context(), long, "story"); err != nil || !receipt.CancelRequested {
		t.Errorf("%+v %v", receipt, err)
	}
	if result := l.wait(t, long); result.State != orbit.TaskCancelled || result.AttemptNo != 1 {
		t.Errorf("%+v", result)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestLiveLostLeaseIsLateEvidence(t *testing.T) {
	l := newLive(t)
	late, release := make(chan string, 1), make(chan struct{})
	stop := l.work(t, worker.Options{Hooks: worker.Hooks{Late: func(_ *worker.Task, c orbit.Completion) { late <- c.Outcome }}},
		func(context.Context, *worker.Task) (raw, error) { <-release; return raw(`"done"`), nil })
	s := l.task(`1`)
	s.AttemptTimeout = time.Second // the lease ends with the attempt, and is not renewed
	receipt, err := l.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if result := l.wait(t, receipt.TaskID); result.State != orbit.TaskNeedsReview {
		t.Errorf("%+v", result)
	}
	close(release)
	if outcome := <-late; outcome != "SUCCEEDED" {
		t.Errorf("late: %s", outcome)
	}
	if evidence, err := l.LateEvidence(t.Context(), receipt.TaskID); err != nil || len(evidence) != 1 {
		t.Errorf("%v %v", evidence, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestLiveDrainReturnsWhatHasNotBegun(t *testing.T) {
	l := newLive(t)
	for range 200 {
		l.submit(t, `1`)
	}
	stop := l.work(t, worker.Options{Concurrency: 4}, func(context.Context, *worker.Task) (raw, error) {
		time.Sleep(2 * time.Millisecond)
		return raw(`1`), nil
	})
	time.Sleep(100 * time.Millisecond)
	if err := stop(); err != nil {
		t.Error(err)
	}
	q, err := l.GetQueue(t.Context(), l.queue)
	if err != nil || q.Depth.Running != 0 || q.Depth.NeedsReview != 0 || q.RunningAttempts != 0 {
		t.Errorf("%+v %v", q, err)
	}
	t.Logf("%d of 200 left for others", q.Depth.Ready)
}

func TestLiveThroughput(t *testing.T) {
	l := newLive(t)
	const tasks = 5000
	batch := make([]orbit.Submission, tasks)
	for i := range batch {
		batch[i] = l.task(fmt.Sprintf(`{"n":%d}`, i))
	}
	began := time.Now()
	if _, err := l.SubmitBatch(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	t.Logf("submitted %d in %v (%.0f/s), one caller", tasks, time.Since(began), tasks/time.Since(began).Seconds())
	var done atomic.Int32
	all := make(chan struct{})
	began = time.Now()
	stop := l.work(t, worker.Options{Concurrency: 50, Hooks: worker.Hooks{Accepted: func(*worker.Task, orbit.CompletionOutcome) {
		if done.Add(1) == tasks {
			close(all)
		}
	}}}, func(_ context.Context, task *worker.Task) (raw, error) { return task.Input, nil })
	<-all
	t.Logf("ran %d in %v (%.0f/s), 50 handlers, %d goroutines", tasks, time.Since(began), tasks/time.Since(began).Seconds(), runtime.NumGoroutine())
	if err := stop(); err != nil {
		t.Error(err)
	}
	for task, err := range l.ListTasks(t.Context(), orbit.TaskFilter{Queue: l.queue}) {
		if err != nil || task.State != orbit.TaskSucceeded || task.AttemptNo != 1 {
			t.Fatalf("%+v %v", task, err)
		}
	}
}

func TestLiveWorkflow(t *testing.T) {
	type number struct {
		N flow.Number `json:"n"`
	}
	l := newLive(t)
	double := flow.Handler[number, number](l.queue, "double", "1")
	once := flow.Policy{Name: "once", Deadline: time.Minute, AttemptTimeout: time.Minute, Lost: flow.LostReview, Retry: flow.Fixed{MaxAttempts: 1}}
	in := flow.Input[number]()
	first := flow.Task("first", double, once, in)
	second := flow.Task("second", double, once, first.Out())
	name := strings.ReplaceAll(l.queue, "-", "_")
	d, err := flow.Define[number, number](name, 1, flow.Settings{Deadline: time.Hour, OnFailure: flow.Review}, flow.Body(first, second), second.Out())
	if err != nil {
		t.Fatal(err)
	}
	if valid, findings, err := l.Validate(t.Context(), d); !valid || err != nil {
		t.Fatalf("%v %v", findings, err)
	}
	for _, want := range []bool{false, true} {
		if receipt, err := l.Publish(t.Context(), d); err != nil || receipt.Replayed != want {
			t.Fatalf("%+v %v", receipt, err)
		}
	}
	w := worker.New(l.Client, worker.Options{})
	worker.HandleRef(w, double, func(_ context.Context, _ *worker.Task, in number) (number, error) {
		var n int
		_, err := fmt.Sscan(string(in.N), &n)
		return number{flow.Number(fmt.Sprint(2 * n))}, err
	})
	stop := running(t, w)
	started, err := l.StartInstances(t.Context(), []orbit.Start{{Definition: name, Input: json.RawMessage(`{"n":3}`)}, {Definition: name, Version: 1, Input: json.RawMessage(`{"n":5}`)}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for i, want := range []flow.Number{"12", "20"} {
		if out, err := orbit.WaitFor[number](ctx, started[i].Instance); err != nil || out.N != want {
			t.Errorf("%+v %v", out, err)
		}
		steps, revisions := 0, 0
		for step, err := range started[i].Instance.Steps(ctx) {
			if err != nil || step.State != "SUCCEEDED" {
				t.Errorf("%+v %v", step, err)
			}
			steps++
		}
		for _, err := range started[i].Instance.History(ctx) {
			if err != nil {
				t.Error(err)
			}
			revisions++
		}
		if steps != 2 || revisions < 3 {
			t.Errorf("%d steps, %d revisions", steps, revisions)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
