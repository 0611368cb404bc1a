package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/fake"
	"github.com/orbitrun/orbit/sdk/worker"
)

func TestDrainLetsHandlersFinishAndReturnsWhatHasNotBegun(t *testing.T) {
	gate := make(chan struct{})
	r := &rig{Server: fake.New(t)}
	r.RoundTrip = 30 * time.Millisecond // slow trips and quick handlers: tasks are claimed ahead
	r.run(t, worker.Options{Concurrency: 2, Prefetch: 6}, func(_ context.Context, task *worker.Task) (raw, error) {
		if string(task.Input) == `"slow"` {
			<-gate
		}
		return task.Input, nil
	})
	for range 20 {
		r.Add(`"quick"`)
	}
	for range 20 {
		r.Add(`"slow"`)
	}
	eventually(t, "two slow ones run, others wait in the worker", func() bool { return r.Count("RUNNING") > 2 && r.Count("SUCCEEDED") == 20 })
	time.Sleep(50 * time.Millisecond)
	stopped := make(chan error)
	go func() { stopped <- r.stop() }()
	eventually(t, "what has not begun is back", func() bool { return r.Count("RUNNING") == 2 })
	claims := len(r.Requests("/v1/claims"))
	close(gate)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if r.Count("SUCCEEDED") != 22 || r.Count("QUEUED") != 18 || len(r.Requests("/v1/claims")) != claims {
		t.Errorf("%d succeeded, %d queued", r.Count("SUCCEEDED"), r.Count("QUEUED"))
	}
	for _, q := range r.Requests("/v1/completions") {
		if body := string(q.Body); strings.Contains(body, "RETURNED") && strings.Contains(body, `"claim"`) {
			t.Errorf("a draining worker claims: %s", body)
		}
	}
}

func TestDrainStopsHandlersAfterItsTime(t *testing.T) {
	r := start(t, worker.Options{Concurrency: 2, DrainTimeout: 50 * time.Millisecond, StopTimeout: 100 * time.Millisecond},
		func(ctx context.Context, task *worker.Task) (raw, error) {
			<-ctx.Done()
			if string(task.Input) == `"deaf"` {
				<-t.Context().Done()
			}
			if !errors.Is(context.Cause(ctx), worker.ErrDraining) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
			return nil, context.Cause(ctx)
		})
	listens, deaf := r.Add(`"listens"`), r.Add(`"deaf"`)
	eventually(t, "both run", func() bool { return r.Count("RUNNING") == 2 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if outcome, code := last(r.Task(listens)); outcome != "FAILED" || code != "worker_draining" {
		t.Errorf("listens: %s %s", outcome, code)
	}
	if outcome, code := last(r.Task(deaf)); outcome != "UNKNOWN" || code != "worker_stopped" {
		t.Errorf("deaf: %s %s", outcome, code)
	}
}

func TestTaskThatWaitsTooLongHereIsReturned(t *testing.T) {
	hang := make(chan struct{})
	r := &rig{Server: fake.New(t)}
	r.RoundTrip = 20 * time.Millisecond
	r.run(t, worker.Options{Concurrency: 1, Prefetch: 4, Lease: 2 * time.Second}, func(_ context.Context, task *worker.Task) (raw, error) {
		if string(task.Input) == `"slow"` {
			<-hang
		}
		return task.Input, nil
	})
	for range 10 {
		r.Add(`"quick"`)
	}
	slow := r.Add(`"slow"`)
	for range 8 {
		r.Add(`"behind"`)
	}
	// Which quick ones come before the slow one is open: claims in flight are answered in any order.
	hangs := func() bool { return r.Task(slow).State == "RUNNING" }
	eventually(t, "tasks are claimed ahead", func() bool { return hangs() && r.Count("RUNNING") > 1 })
	eventually(t, "they are returned for others to take", func() bool { return hangs() && r.Count("RUNNING") == 1 && r.Count("QUEUED") > 0 })
	close(hang)
	eventually(t, "all are done", func() bool { return r.Count("SUCCEEDED") == 19 })
}

func TestWorkerThatCannotReportSaysSoAndFallsSilent(t *testing.T) {
	r := &rig{Server: fake.New(t)}
	for range 1000 {
		r.Misfortune(fake.Fault{Path: "/v1/completions", Before: true, Status: 503})
	}
	r.run(t, worker.Options{DrainTimeout: 50 * time.Millisecond, StopTimeout: time.Millisecond, ReportTimeout: 100 * time.Millisecond},
		func(context.Context, *worker.Task) (raw, error) { return raw(`1`), nil })
	r.Add(`1`)
	eventually(t, "it tries", func() bool { return len(r.Requests("/v1/completions")) > 0 })
	unreported, ok := errors.AsType[*worker.UnreportedError](r.stop())
	if !ok || unreported.Attempts != 1 {
		t.Fatalf("%+v", unreported)
	}
	before := len(r.Requests("/v1/completions"))
	time.Sleep(300 * time.Millisecond)
	if after := len(r.Requests("/v1/completions")); after > before+1 { // one may have been on its way
		t.Errorf("%d requests after Run has returned", after-before)
	}
}
