package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/flow"
	"github.com/orbitrun/orbit/sdk/internal/fake"
	"github.com/orbitrun/orbit/sdk/worker"
)

type raw = json.RawMessage

// rig is a worker on a fake server; stop drains it.
type rig struct {
	*fake.Server
	w    *worker.Worker
	stop func() error
}

func start(t *testing.T, o worker.Options, handle worker.HandlerFunc) *rig {
	t.Helper()
	r := &rig{Server: fake.New(t)}
	r.run(t, o, handle)
	return r
}

func (r *rig) run(t *testing.T, o worker.Options, handle worker.HandlerFunc) {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	client, err := orbit.New(r.URL, "orb_test", orbit.WithLogger(quiet))
	if err != nil {
		t.Fatal(err)
	}
	o.Queues = []string{"q"}
	if o.PollWait == 0 {
		o.PollWait = 100 * time.Millisecond
	}
	r.w = worker.New(client, o)
	worker.HandleFunc(r.w, "h", "1", handle)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.w.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = r.stop() }) // a test that cares has stopped it and looked
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func (r *rig) settled(t *testing.T, id, state string) fake.Task {
	t.Helper()
	eventually(t, id+" becomes "+state, func() bool { return r.Task(id).State == state })
	return r.Task(id)
}

func last(task fake.Task) (outcome, code string) {
	c := task.Attempts[len(task.Attempts)-1]
	if c.Failure != nil {
		code = c.Failure.Code
	}
	return string(c.Outcome), code
}

func TestPayloadsKeepTheirBytes(t *testing.T) {
	r := start(t, worker.Options{}, func(_ context.Context, task *worker.Task) (raw, error) { return task.Input, nil })
	texts := []string{`{"a": 1.10,  "b":9223372036854775808}`, `"<&>🎩"`, `0.1000000000000000000000000000000000000001`, `null`}
	for _, text := range texts {
		id := r.Add(text)
		r.settled(t, id, "SUCCEEDED")
		if sent := lastBody(r, "/v1/completions"); !strings.Contains(sent, `"output":`+text) {
			t.Errorf("sent %s, want the bytes %s in it", sent, text)
		}
	}
}

func lastBody(r *rig, path string) string {
	all := r.Requests(path)
	return string(all[len(all)-1].Body)
}

func TestT5ReportIsRepeatedUnchangedUntilAnswered(t *testing.T) {
	var runs atomic.Int32
	r := &rig{Server: fake.New(t)}
	r.Misfortune(fake.Fault{Path: "/v1/completions", Before: true, Status: 503},
		fake.Fault{Path: "/v1/completions"}, // carried out, the answer is lost
		fake.Fault{Path: "/v1/completions", Before: true, Status: 502})
	r.run(t, worker.Options{}, func(context.Context, *worker.Task) (raw, error) { runs.Add(1); return raw(`1`), nil })
	id := r.Add(`{}`)
	eventually(t, "four reports", func() bool { return len(r.Requests("/v1/completions")) == 4 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	items := map[string]bool{}
	for _, q := range r.Requests("/v1/completions") {
		var b struct{ Items raw }
		if err := json.Unmarshal(q.Body, &b); err != nil {
			t.Fatal(err)
		}
		items[string(b.Items)] = true
	}
	task := r.Task(id)
	if len(items) != 1 || len(task.Attempts) != 1 || len(task.Late) != 0 || runs.Load() != 1 {
		t.Errorf("%d different reports, %d accepted, %d late, %d runs", len(items), len(task.Attempts), len(task.Late), runs.Load())
	}
}

func TestT4LeasesAreRenewedTogetherWhileHandlersRun(t *testing.T) {
	r := start(t, worker.Options{Concurrency: 8, Lease: time.Second}, func(ctx context.Context, _ *worker.Task) (raw, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(2500 * time.Millisecond):
			return raw(`1`), nil
		}
	})
	for range 8 {
		r.Add(`{}`)
	}
	eventually(t, "all run beyond two leases", func() bool { return r.Count("SUCCEEDED") == 8 })
	renewals := len(r.Requests("/v1/lease-renewals"))
	if renewals < 4 || renewals > 10 {
		t.Errorf("%d renewal requests for 8 tasks in 2.5 leases, want about 7: one request for all, at a third of a lease", renewals)
	}
}

func TestT15CancelReachesTheHandlerAndOnlyItsOwnWordIsCancelled(t *testing.T) {
	r := start(t, worker.Options{Concurrency: 3, Lease: time.Second}, func(ctx context.Context, task *worker.Task) (raw, error) {
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), worker.ErrCancelRequested) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		switch string(task.Input) {
		case `"stopped"`:
			return nil, context.Cause(ctx)
		case `"interrupted"`:
			return nil, fmt.Errorf("charge card: %w", ctx.Err())
		}
		return raw(`"done anyway"`), nil
	})
	stopped, interrupted, done := r.Add(`"stopped"`), r.Add(`"interrupted"`), r.Add(`"done"`)
	eventually(t, "all run", func() bool { return r.Count("RUNNING") == 3 })
	for _, id := range []string{stopped, interrupted, done} {
		r.RequestCancel(id)
	}
	r.settled(t, stopped, "CANCELLED")
	r.settled(t, done, "SUCCEEDED")
	if outcome, code := last(r.settled(t, interrupted, "NEEDS_REVIEW")); outcome != "UNKNOWN" || code != "cancel_requested" {
		t.Errorf("interrupted: %s %s", outcome, code)
	}
}

func TestT5LostLeaseStopsTheHandlerAndTheReportIsLate(t *testing.T) {
	late, lost, causes := make(chan string, 1), make(chan string, 1), make(chan error, 1)
	r := start(t, worker.Options{Lease: time.Second, Hooks: worker.Hooks{
		Late:      func(_ *worker.Task, c orbit.Completion) { late <- c.Outcome },
		LeaseLost: func(task *worker.Task) { lost <- task.TaskID },
	}}, func(ctx context.Context, _ *worker.Task) (raw, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return raw(`"finished nevertheless"`), nil
	})
	id := r.Add(`{}`)
	eventually(t, "it runs", func() bool { return r.Task(id).State == "RUNNING" })
	r.Lose(id)
	if got := <-lost; got != id {
		t.Errorf("lost %s", got)
	}
	if cause := <-causes; !errors.Is(cause, worker.ErrLeaseLost) {
		t.Errorf("cause %v", cause)
	}
	if outcome := <-late; outcome != "SUCCEEDED" {
		t.Errorf("late report says %s", outcome)
	}
	if task := r.Task(id); task.State != "NEEDS_REVIEW" || len(task.Late) != 1 {
		t.Errorf("state %s with %d late reports", task.State, len(task.Late))
	}
}

func TestT4UnreachableServerEndsTheLeaseHere(t *testing.T) {
	causes := make(chan error, 1)
	r := &rig{Server: fake.New(t)}
	for range 50 {
		r.Misfortune(fake.Fault{Path: "/v1/lease-renewals", Before: true})
	}
	began := time.Now()
	r.run(t, worker.Options{Lease: time.Second}, func(ctx context.Context, _ *worker.Task) (raw, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	r.Add(`{}`)
	if cause := <-causes; !errors.Is(cause, worker.ErrLeaseLost) {
		t.Errorf("cause %v", cause)
	}
	if took := time.Since(began); took < 900*time.Millisecond || took > 2*time.Second {
		t.Errorf("the lease of 1 s ended after %v", took)
	}
}

func TestDeadlineEndsTheContext(t *testing.T) {
	r := start(t, worker.Options{}, func(ctx context.Context, _ *worker.Task) (raw, error) {
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), worker.ErrDeadline) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		return nil, ctx.Err()
	})
	id := r.AddWith(`{}`, 150*time.Millisecond)
	if outcome, code := last(r.settled(t, id, "NEEDS_REVIEW")); outcome != "UNKNOWN" || code != "deadline_reached" {
		t.Errorf("%s %s", outcome, code)
	}
}

func TestT7PanicAndExitAreUnknownAndTheWorkerGoesOn(t *testing.T) {
	r := start(t, worker.Options{Concurrency: 1}, func(_ context.Context, task *worker.Task) (raw, error) {
		task.Progress(map[string]int{"pages": 3})
		switch string(task.Input) {
		case `"panic"`:
			panic("boom")
		case `"exit"`:
			runtime.Goexit()
		}
		return raw(`1`), nil
	})
	panicked, exited, fine := r.Add(`"panic"`), r.Add(`"exit"`), r.Add(`"fine"`)
	r.settled(t, fine, "SUCCEEDED")
	task := r.settled(t, panicked, "NEEDS_REVIEW")
	if outcome, code := last(task); outcome != "UNKNOWN" || code != "panic" || !strings.Contains(string(task.Failure), `"pages":3`) {
		t.Errorf("%s %s %s", outcome, code, task.Failure)
	}
	if outcome, code := last(r.settled(t, exited, "NEEDS_REVIEW")); outcome != "UNKNOWN" || code != "handler_exited" {
		t.Errorf("%s %s", outcome, code)
	}
}

func TestRefusedReportBecomesUnknown(t *testing.T) {
	var refusals atomic.Int32
	r := start(t, worker.Options{Hooks: worker.Hooks{Refused: func(*worker.Task, orbit.Completion, error) { refusals.Add(1) }}},
		func(context.Context, *worker.Task) (raw, error) {
			return raw(`"` + strings.Repeat("x", 300<<10) + `"`), nil
		})
	id := r.Add(`{}`)
	if outcome, code := last(r.settled(t, id, "NEEDS_REVIEW")); outcome != "UNKNOWN" || code != "report_refused" || refusals.Load() != 1 {
		t.Errorf("%s %s, %d refusals", outcome, code, refusals.Load())
	}
}

func TestWholeRequestRefusedDoesNotSinkItsNeighbours(t *testing.T) {
	release := make(chan struct{})
	r := start(t, worker.Options{Concurrency: 4}, func(_ context.Context, task *worker.Task) (raw, error) {
		<-release
		return task.Input, nil
	})
	r.Misfortune(fake.Fault{Path: "/v1/completions", Before: true, Status: 400})
	for range 4 {
		r.Add(`1`)
	}
	eventually(t, "all run", func() bool { return r.Count("RUNNING") == 4 })
	close(release)
	eventually(t, "all reported, each alone", func() bool { return r.Count("SUCCEEDED") == 4 })
}

func TestT18HangingHandlersAreOfferedNothing(t *testing.T) {
	r := start(t, worker.Options{Concurrency: 2, DrainTimeout: time.Millisecond}, func(ctx context.Context, _ *worker.Task) (raw, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	for range 5 {
		r.Add(`{}`)
	}
	eventually(t, "two run", func() bool { return r.Count("RUNNING") == 2 })
	time.Sleep(300 * time.Millisecond)
	if r.Count("QUEUED") != 3 || len(r.Requests("/v1/claims")) != 1 {
		t.Errorf("%d queued after %d claims", r.Count("QUEUED"), len(r.Requests("/v1/claims")))
	}
}

func TestTypedHandlersFollowTheFlowReference(t *testing.T) {
	type order struct {
		Total flow.Number `json:"total"`
	}
	type invoice struct {
		Amount flow.Number `json:"amount"`
		Note   string      `json:"note"`
	}
	ref := flow.Handler[order, invoice]("q", "h", "1")
	s := fake.New(t)
	client, err := orbit.New(s.URL, "orb_test", orbit.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	w := worker.New(client, worker.Options{PollWait: 50 * time.Millisecond, Middleware: []worker.Middleware{named(&seen, "outer"), named(&seen, "inner")}})
	worker.HandleRef(w, ref, func(_ context.Context, _ *worker.Task, in order) (invoice, error) {
		return invoice{in.Total, "<thanks>"}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	defer func() { cancel(); <-done }()

	task, err := orbit.SubmitTo(ctx, client, ref, order{"1.10"}, orbit.Submission{Deadline: time.Hour, AttemptTimeout: time.Minute, Retry: orbit.Once()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := task.Wait(ctx)
	if err != nil || out != (invoice{"1.10", "<thanks>"}) {
		t.Errorf("%+v %v", out, err)
	}
	if strings.Join(seen, " ") != "outer inner" {
		t.Errorf("middleware ran as %v", seen)
	}
	wrong := s.Add(`{"total":"many"}`)
	eventually(t, "input that does not fit fails", func() bool { return s.Task(wrong).State == "FAILED" })
	if outcome, code := last(s.Task(wrong)); outcome != "FAILED" || code != "input_invalid" {
		t.Errorf("%s %s", outcome, code)
	}
}

func named(seen *[]string, name string) worker.Middleware {
	return func(next worker.HandlerFunc) worker.HandlerFunc {
		return func(ctx context.Context, task *worker.Task) (raw, error) {
			*seen = append(*seen, name)
			return next(ctx, task)
		}
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	client, err := orbit.New("http://127.0.0.1:1", "k")
	if err != nil {
		t.Fatal(err)
	}
	w := worker.New(client, worker.Options{Queues: []string{"q"}})
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "0 handlers") {
		t.Errorf("without handlers: %v", err)
	}
	same := func(context.Context, *worker.Task, int) (int, error) { return 0, nil }
	worker.Handle(w, "h", "1", same)
	worker.Handle(w, "h", "1", same)
	if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "registered twice") {
		t.Errorf("registered twice: %v", err)
	}
}

// T18: tasks started by a claim whose answer is lost, alone or with reports, are fetched under its key, not left to
// their leases; each runs once.
func TestT18ALostClaimIsFetched(t *testing.T) {
	r := start(t, worker.Options{Concurrency: 2, Lease: time.Minute}, func(_ context.Context, task *worker.Task) (raw, error) {
		return raw(`"` + task.TaskID + `"`), nil
	})
	for _, path := range []string{"/v1/claims", "/v1/completions"} {
		r.Misfortune(fake.Fault{Path: path})
		var ids []string
		for range 6 {
			ids = append(ids, r.Add(`{}`))
		}
		for _, id := range ids {
			if task := r.settled(t, id, "SUCCEEDED"); task.Attempt != 1 {
				t.Errorf("%s ran %d times", id, task.Attempt)
			}
		}
	}
	repeated := 0
	for _, q := range r.Requests("/v1/claims") {
		if strings.Contains(string(q.Body), `"question":1`) {
			repeated++
		}
	}
	if repeated == 0 {
		t.Error("nothing was asked again")
	}
}
