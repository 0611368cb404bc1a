package orbittest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/orbittest"
	orbit "github.com/orbitrun/orbit/sdk"
)

const day = 24 * time.Hour

// work is a handler of this test: it takes one task of the handler, if there is one.
func work(t *testing.T, s *orbittest.Server, handler string) (orbit.ClaimedTask, bool) {
	t.Helper()
	got, err := s.Client.Claim(t.Context(), orbit.ClaimRequest{Worker: "w", Queues: []string{"q"}, Handlers: []orbit.HandlerRef{{Handler: handler, HandlerVersion: "1"}}, MaxTasks: 1, LeaseMS: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		return orbit.ClaimedTask{}, false
	}
	return got[0], true
}

// eventually takes one task, which a scan may still have to make ready.
func eventually(t *testing.T, s *orbittest.Server, handler string) orbit.ClaimedTask {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if task, ok := work(t, s, handler); ok {
			return task
		}
	}
	t.Fatalf("no task of %s became ready", handler)
	return orbit.ClaimedTask{}
}

func report(t *testing.T, s *orbittest.Server, c orbit.Completion) {
	t.Helper()
	answer, err := s.Client.Complete(t.Context(), "w", []orbit.Completion{c}, nil)
	if err != nil || answer.Items[0].Outcome != orbit.ReportAccepted {
		t.Fatalf("a report was answered %+v %v", answer, err)
	}
}

func submit(t *testing.T, s *orbittest.Server, handler string, o orbit.Submission) *orbit.TaskReceipt {
	t.Helper()
	o.Queue, o.Handler, o.HandlerVersion, o.Input, o.Deadline, o.AttemptTimeout = "q", handler, "1", json.RawMessage(`1`), 60*day, time.Hour
	if o.Retry.Kind == "" {
		o.Retry = orbit.Once()
	}
	receipt, err := s.Client.Submit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// A delay of a month, a schedule of a year and a deadline are seen in a moment, each at its time and not before.
func TestTimeMoves(t *testing.T) {
	s := orbittest.New(t)
	s.Queue("q")
	receipt := submit(t, s, "reminder", orbit.Submission{Delay: 30 * day})
	began := s.Now()
	s.Advance(30*day - time.Hour)
	if _, ready := work(t, s, "reminder"); ready {
		t.Fatal("the task came an hour too early")
	}
	s.AdvanceTo(receipt.AvailableAt)
	task := eventually(t, s, "reminder")
	if task.StartedAt.Before(receipt.AvailableAt) || task.StartedAt.After(receipt.AvailableAt.Add(time.Minute)) {
		t.Errorf("started at %v, available at %v", task.StartedAt, receipt.AvailableAt)
	}
	s.Advance(2 * time.Minute) // its lease runs out, and with REVIEW a person decides
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got, err := s.Client.GetTask(t.Context(), task.TaskID)
		if err == nil && got.State == "NEEDS_REVIEW" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v %v", got, err)
		}
	}
	if moved := s.Now().Sub(began); moved < 30*day || moved > 31*day {
		t.Errorf("the time moved by %v", moved)
	}
}

// The full stop: delays and all four retry policies wait, one task of each lost policy runs; then server, database and
// workers are killed at once, and half an hour later everything starts again. Each goes on exactly as it would have:
// at the times that were fixed before the stop, and with the budgets that were left (T6, T7).
func TestEverythingGoesOnAfterAFullStop(t *testing.T) {
	s := orbittest.New(t)
	s.Queue("q")
	const minute = time.Minute
	// available names the first minute, counted from the failure, in which the second attempt may start
	policies := map[string]struct {
		policy orbit.RetryPolicy
		wait   time.Duration
	}{
		"fixed":       {orbit.Fixed(3, 40*minute), 40 * minute},
		"linear":      {orbit.Linear(3, 35*minute, 5*minute, 2*time.Hour), 35 * minute},
		"exponential": {orbit.Exponential(3, 50*minute, 2, 2*time.Hour), 50 * minute},
		"list":        {orbit.List(20*minute, 2*time.Hour), 20 * minute},
	}
	due := map[string]time.Time{}
	for name, p := range policies {
		submit(t, s, name, orbit.Submission{Retry: p.policy})
		task := eventually(t, s, name)
		report(t, s, orbit.Completion{Lease: task.Lease, Outcome: "FAILED", Retryable: true, Failure: &orbit.Failure{Code: "down"}})
		got, err := s.Client.GetTask(t.Context(), task.TaskID)
		if err != nil || got.AvailableAt.Sub(task.StartedAt).Round(minute) != p.wait {
			t.Fatalf("%s: waits until %v after %v: %v", name, got.AvailableAt, task.StartedAt, err)
		}
		due[name] = got.AvailableAt
	}
	due["delay"] = submit(t, s, "delay", orbit.Submission{Delay: 45 * minute}).AvailableAt
	asked := submit(t, s, "asked", orbit.Submission{}).TaskID
	again := submit(t, s, "again", orbit.Submission{Lost: orbit.LostRetry, Retry: orbit.Fixed(2, 0)}).TaskID
	eventually(t, s, "asked")
	eventually(t, s, "again")

	s.KillAll()
	s.AdvanceStopped(30 * minute)
	s.Start()

	task := eventually(t, s, "again")
	if task.TaskID != again || task.AttemptNo != 2 || task.AttemptsUsed != 2 {
		t.Errorf("the task that is safe to repeat: attempt %d, %d used", task.AttemptNo, task.AttemptsUsed)
	}
	report(t, s, orbit.Completion{Lease: task.Lease, Outcome: "SUCCEEDED"})
	if got, err := s.Client.GetTask(t.Context(), asked); err != nil || got.State != "NEEDS_REVIEW" || got.FailureCode != "lease_expired" {
		t.Errorf("the task that asks: %+v %v", got, err)
	}
	var figures []string
	for len(due) > 0 {
		next := ""
		for name, at := range due {
			if next == "" || at.Before(due[next]) {
				next = name
			}
		}
		at := due[next]
		delete(due, next)
		s.AdvanceTo(at.Add(-minute))
		if _, early := work(t, s, next); early && at.After(s.Now()) {
			t.Fatalf("%s came before its time", next)
		} else if early {
			continue
		}
		s.AdvanceTo(at)
		task := eventually(t, s, next)
		late := task.StartedAt.Sub(at)
		if late < 0 || next != "list" && late > minute {
			t.Errorf("%s: started %v after its time", next, late)
		}
		want := 2
		if next == "delay" {
			want = 1
		}
		if task.AttemptNo != want || task.AttemptsUsed != want {
			t.Errorf("%s: attempt %d, %d used", next, task.AttemptNo, task.AttemptsUsed)
		}
		figures = append(figures, fmt.Sprintf("%s %d ms", next, late.Milliseconds()))
		report(t, s, orbit.Completion{Lease: task.Lease, Outcome: "SUCCEEDED"})
	}
	t.Logf("full stop of 30 min: early 0, late %s", strings.Join(figures, ", "))
}
