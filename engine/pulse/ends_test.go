package pulse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// How a running task ends, by what its worker says and by its circumstances. "held" means that permit and resource key
// stay with the task, "free" that both are given back; the number is attempts used of three.
//
//	plain      one attempt used, time left           spent     the third attempt of three
//	late       the retry would start past the deadline   stopping  a cancel was requested
//	again      lost_policy RETRY                     doubt     RETRY, and attempt 1 is UNKNOWN: only a success ends it
//	kept/broken an output contract that the output keeps or breaks
const ends = `
           | plain                | spent                | late                 | stopping            | again                | again spent          | again late           | again stopping      | doubt                | doubt spent          | doubt stopping      | kept                 | broken
SUCCEEDED  | SUCCEEDED free       | SUCCEEDED free       | SUCCEEDED free       | SUCCEEDED free      | SUCCEEDED free       | SUCCEEDED free       | SUCCEEDED free       | SUCCEEDED free      | SUCCEEDED free       | SUCCEEDED free       | SUCCEEDED free      | SUCCEEDED free       | NEEDS_REVIEW free 1
RETRYABLE  | QUEUED free 1        | FAILED free          | FAILED free          | CANCELLED free      | QUEUED free 1        | FAILED free          | FAILED free          | CANCELLED free      | QUEUED held 2        | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 2 | QUEUED free 1        | QUEUED free 1
PERMANENT  | FAILED free          | FAILED free          | FAILED free          | FAILED free         | FAILED free          | FAILED free          | FAILED free          | FAILED free         | NEEDS_REVIEW held 2  | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 2 | FAILED free          | FAILED free
UNKNOWN    | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 1 | QUEUED held 1        | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 1 | QUEUED held 2        | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 2 | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 1
CANCELLED  | cancel_not_requested | cancel_not_requested | cancel_not_requested | CANCELLED free      | cancel_not_requested | cancel_not_requested | cancel_not_requested | CANCELLED free      | cancel_not_requested | cancel_not_requested | NEEDS_REVIEW held 2 | cancel_not_requested | cancel_not_requested
RETURNED   | QUEUED free 0        | QUEUED free 2        | QUEUED free 0        | CANCELLED free      | QUEUED free 0        | QUEUED free 2        | QUEUED free 0        | CANCELLED free      | QUEUED held 1        | QUEUED held 2        | NEEDS_REVIEW held 2 | QUEUED free 0        | QUEUED free 0
lease over | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 1 | QUEUED held 1        | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 1 | QUEUED held 2        | NEEDS_REVIEW held 3  | NEEDS_REVIEW held 2 | NEEDS_REVIEW held 1  | NEEDS_REVIEW held 1
`

var outcomes = map[string]pulse.Outcome{
	"SUCCEEDED": pulse.Succeeded, "RETRYABLE": pulse.Retryable, "PERMANENT": pulse.Permanent,
	"UNKNOWN": pulse.Unknown, "CANCELLED": pulse.Cancelled, "RETURNED": pulse.Returned,
}

func TestHowEveryReportEnds(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(ends), "\n")
	circumstances := fields(lines[0])[1:]
	for _, line := range lines[1:] {
		row := fields(line)
		for i, circumstance := range circumstances {
			t.Run(row[0]+"/"+circumstance, func(t *testing.T) {
				if got := endOf(t, row[0], circumstance); got != row[i+1] {
					t.Errorf("ends as %q, want %q", got, row[i+1])
				}
			})
		}
	}
}

// endOf brings a task into its circumstance through public operations only and lets it end.
func endOf(t *testing.T, says, circumstance string) string {
	w := &play{t: t, rows: newRows(), now: start}
	has := func(word string) bool { return strings.Contains(circumstance, word) }
	sub := submission(1)
	sub.ResourceKey, sub.Retry = "r", pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 3, DelayMS: 60_000}
	if has("again") || has("doubt") {
		sub.Lost = pulse.LostRetry
	}
	if has("late") {
		sub.DeadlineMS, sub.AttemptTimeoutMS = 60_000, 60_000
	}
	if has("kept") || has("broken") {
		sub.OutputContract = []byte(`{"type":"object","required":["ok"]}`)
	}
	w.run(pulse.Batch{Submissions: []pulse.Submission{sub}})
	w.claim()
	again := func(earlier pulse.Outcome) {
		w.report(earlier, "")
		w.now = w.now.Add(minute)
		w.claim()
	}
	if has("doubt") {
		again(pulse.Unknown)
	}
	for has("spent") && w.last.AttemptsUsed < sub.Retry.MaxAttempts {
		again(pulse.Retryable)
	}
	if has("stopping") {
		w.run(pulse.Batch{Cancels: []pulse.Cancel{{Credential: key, Application: app, Queue: queueA, Task: sub.TaskID}}})
	}
	if says == "lease over" {
		w.now = w.rows.open[sub.TaskID].LeaseUntil.Add(engine.LeaseGrace)
		w.run(pulse.Batch{Dues: []pulse.Due{{Kind: pulse.DueLost, Application: app, Queue: queueA, Task: sub.TaskID}}})
	} else {
		output := `{"ok":1}`
		if has("broken") {
			output = `{"no":1}`
		}
		if refusal := w.report(outcomes[says], output).Refusal; refusal != nil {
			return refusal.Code
		}
	}
	return w.describe(sub.TaskID)
}

// play runs one task by hand.
type play struct {
	t    *testing.T
	rows *rows
	now  time.Time
	last pulse.Task
}

func (w *play) run(b pulse.Batch) pulse.Outcomes {
	w.t.Helper()
	out, _, err := w.rows.run(w.now, b)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *play) claim() {
	w.t.Helper()
	b := pulse.Batch{Secret: number(uint64(w.now.UnixNano())), Claims: []pulse.Claim{claim(1)}}
	for id := range w.rows.open {
		b.Dues = append(b.Dues, pulse.Due{Kind: pulse.DueDelayed, Application: app, Queue: queueA, Task: id})
	}
	out := w.run(b)
	if len(out.Claims[0].Started) != 1 {
		w.t.Fatalf("claimed %+v", out.Claims[0])
	}
	w.last = out.Claims[0].Started[0].Task
}

func (w *play) report(o pulse.Outcome, output string) pulse.ReportOutcome {
	w.t.Helper()
	r := pulse.Report{Credential: key, Application: app, Queue: w.last.Queue, Task: w.last.ID, AttemptNo: w.last.AttemptNo, Token: w.last.Token, Outcome: o}
	if o == pulse.Succeeded {
		r.Output = []byte(output)
	}
	return w.run(pulse.Batch{Reports: []pulse.Report{r}}).Reports[0]
}

func (w *play) describe(id engine.ID) string {
	held := "free"
	if w.rows.resources["r"].Holder == id {
		held = "held"
	}
	t, open := w.rows.open[id]
	if !open {
		return fmt.Sprint(w.rows.full[id].State, " ", held)
	}
	if t.PermitHeld != (held == "held") {
		w.t.Errorf("permit held %v, key %s", t.PermitHeld, held)
	}
	return fmt.Sprint(t.State.Public(), " ", held, " ", t.AttemptsUsed)
}

func submission(n uint64) pulse.Submission {
	input := []byte(fmt.Sprintf(`{"n":%d}`, n))
	return pulse.Submission{
		Credential: key, Application: app, TaskID: number(n), Key: fmt.Sprint("k", n), QueueName: "a", Queue: queueA, Handler: "h", HandlerVersion: "1",
		Input: input, DeadlineMS: deadlineMS, AttemptTimeoutMS: attemptTimeoutMS, Retry: pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 3}, Lost: pulse.LostReview,
	}
}

func claim(tasks int) pulse.Claim {
	return pulse.Claim{
		Credential: key, Application: app, Worker: "w", Queues: []uint64{queueA}, Handlers: []uint64{pulse.HandlerHash("h", "1")}, Tasks: tasks, Lease: 30 * time.Second,
	}
}

func number(n uint64) engine.ID {
	var id engine.ID
	for i := range 8 {
		id[15-i] = byte(n >> (8 * i))
	}
	return id
}
