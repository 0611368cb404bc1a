package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/fake"
	"github.com/orbitrun/orbit/sdk/worker"
)

func TestManyTasksGoInFewRequests(t *testing.T) {
	const tasks = 4000
	r := &rig{Server: fake.New(t)}
	r.RoundTrip = 5 * time.Millisecond
	for range tasks {
		r.Add(`{"n":1}`)
	}
	began := time.Now()
	r.run(t, worker.Options{Concurrency: 50}, func(_ context.Context, task *worker.Task) (raw, error) {
		time.Sleep(2 * time.Millisecond)
		return task.Input, nil
	})
	eventually(t, "all are done", func() bool { return r.Count("SUCCEEDED") == tasks })
	took := time.Since(began)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	completions, claims := len(r.Requests("/v1/completions")), len(r.Requests("/v1/claims"))
	t.Logf("%d tasks in %v (%.0f/s) with %d completion and %d claim requests", tasks, took, tasks/took.Seconds(), completions, claims)
	if completions+claims > tasks/10 {
		t.Errorf("%d completion and %d claim requests for %d tasks", completions, claims, tasks)
	}
	if most := r.InFlightMost(); most > 4 { // two exchanges, a poll, a renewal
		t.Errorf("%d requests at the same time", most)
	}
}
