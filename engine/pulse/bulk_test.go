package pulse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
)

// pages draws the next pages of the world's operations: current ones and stale ones, last ones and not.
func (d *drawn) pages(r *rows) (pages []pulse.BulkPage) {
	for i := range uint64(3) {
		if d.pick("page", 2) == 0 {
			continue
		}
		op := r.bulks[number(500+i)]
		page := pulse.BulkPage{Operation: op.ID, Application: app, Queue: queueA, Credential: key, From: op.Cursor, To: op.Cursor, Scanned: 3, Last: d.pick("last", 8) == 7}
		page.To.At = page.To.At.Add(time.Duration(1+d.pick("far", 3)) * time.Second)
		if d.pick("stale page", 5) == 4 {
			page.From.At = page.From.At.Add(time.Hour)
		}
		for _, s := range d.subs {
			_, known := r.full[s.TaskID]
			_, judged := r.bulkItems[fmt.Sprint(op.ID, s.TaskID)]
			if !known || judged || s.Queue != queueA || s.Application != app || d.pick("on the page", 3) == 0 {
				continue
			}
			if op.Kind != pulse.BulkRetry {
				page.Tasks = append(page.Tasks, s.TaskID)
				continue
			}
			d.seq++
			page.Retries = append(page.Retries, pulse.ManualRetry{Credential: key, Application: app, Queue: queueA, Task: s.TaskID, Successor: number(d.seq),
				Key: pulse.BulkRetryKey(op.ID, s.TaskID), ExpectedVersion: r.full[s.TaskID].Version, Reason: "many"})
		}
		pages = append(pages, page)
	}
	return pages
}

// bulkWorld has a task in every state and one operation of a kind.
func bulkWorld(t *testing.T, kind pulse.BulkKind, change func(*pulse.Bulk)) (*rows, func(pulse.Batch) pulse.Outcomes) {
	r, now := newRows(), start
	run := func(b pulse.Batch) pulse.Outcomes {
		t.Helper()
		b.Secret = number(uint64(now.UnixMicro()))
		now = now.Add(time.Millisecond)
		out, _, err := r.run(now, b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	held := submission(2)
	held.ResourceKey = "r"
	behind := submission(3)
	behind.ResourceKey = "r"
	later := submission(4)
	later.DelayMS = 60_000
	run(pulse.Batch{Submissions: []pulse.Submission{submission(1), held}})
	run(pulse.Batch{Claims: []pulse.Claim{claim(2)}})
	run(pulse.Batch{Submissions: []pulse.Submission{behind, later, submission(5)}})
	run(pulse.Batch{Cancels: []pulse.Cancel{{Credential: key, Application: app, Queue: queueA, Task: number(5)}}})
	op := pulse.Bulk{ID: number(500), Application: app, Queue: queueA, Credential: key, Kind: kind, State: pulse.BulkRunning, Reason: "many"}
	if change != nil {
		change(&op)
	}
	r.bulks[op.ID] = op
	return r, run
}

func bulkPage(tasks ...uint64) pulse.BulkPage {
	page := pulse.BulkPage{Operation: number(500), Application: app, Queue: queueA, Credential: key, To: pulse.BulkCursor{At: start, Task: number(9)}, Scanned: len(tasks), Last: true}
	for _, n := range tasks {
		page.Tasks = append(page.Tasks, number(n))
	}
	return page
}

func judgedOf(r *rows, tasks ...uint64) string {
	var all []string
	for _, n := range tasks {
		w := r.bulkItems[fmt.Sprint(number(500), number(n))]
		all = append(all, fmt.Sprint(map[pulse.BulkResult]string{pulse.BulkDid: "", pulse.BulkSkipped: "-", pulse.BulkRefused: "!"}[w.Result], w.Code))
	}
	return strings.Join(all, " ")
}

// Each kind judges each state by its own rule; a page is done once, whoever brings it again; a dry run changes nothing.
func TestBulkPagesJudgeEveryState(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   pulse.BulkKind
		change func(*pulse.Bulk)
		want   string // of a running, a running with a key, one behind the key, a delayed and a cancelled task
	}{
		{"cancel", pulse.BulkCancel, nil, "cancel_requested cancel_requested cancelled cancelled -task_ended"},
		{"cancel what waits", pulse.BulkCancel, func(b *pulse.Bulk) { b.Want = pulse.PublicQueued }, "-task_running -task_running cancelled cancelled -task_ended"},
		{"cancel what runs", pulse.BulkCancel, func(b *pulse.Bulk) { b.Want = pulse.PublicRunning }, "cancel_requested cancel_requested -task_waiting -task_waiting -task_ended"},
		{"purge", pulse.BulkPurge, nil, "-task_running -task_running cancelled cancelled -task_ended"},
		{"dry run", pulse.BulkCancel, func(b *pulse.Bulk) { b.DryRun = true }, "cancel_requested cancel_requested cancelled cancelled -task_ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, run := bulkWorld(t, c.kind, c.change)
			before := fmt.Sprint(r.open, r.full, r.queues, r.stream)
			out := run(pulse.Batch{Pages: []pulse.BulkPage{bulkPage(1, 2, 3, 4, 5), bulkPage(1, 2, 3, 4, 5)}})
			if got := judgedOf(r, 1, 2, 3, 4, 5); got != c.want {
				t.Errorf("%s", got)
			}
			op := r.bulks[number(500)]
			if out.Pages[0].State != pulse.BulkDone || !out.Pages[1].Stale || op.Matched() != 5 || op.Scanned != 5 || op.EndedAt.IsZero() {
				t.Errorf("%+v %+v", out.Pages, op)
			}
			if again := run(pulse.Batch{Pages: []pulse.BulkPage{bulkPage(1)}}); !again.Pages[0].Stale {
				t.Error("an operation that has ended goes on")
			}
			if after := fmt.Sprint(r.open, r.full, r.queues, r.stream); (before == after) != op.DryRun {
				t.Errorf("changed: %v", before != after)
			}
		})
	}
}

// The key that began an operation is asked for every page: once it is revoked, nothing more is done, and the operation
// says why. Neither scope implies the other.
func TestABulkOperationEndsWithItsKey(t *testing.T) {
	for scopes, code := range map[string]string{"queues:manage": "scope_missing", "tasks:cancel": "scope_missing", "queues:manage tasks:retry": "scope_missing", "queues:manage tasks:cancel": ""} {
		r, run := bulkWorld(t, pulse.BulkPurge, nil)
		caller := r.callers[key]
		caller.Scopes = scopes
		r.callers[key] = caller
		run(pulse.Batch{Pages: []pulse.BulkPage{bulkPage(3)}})
		op := r.bulks[number(500)]
		if op.StopCode != code || (op.State == pulse.BulkAborted) != (code != "") || (len(r.bulkItems) == 0) != (code != "") {
			t.Errorf("%s: %+v", scopes, op)
		}
	}
}

// A retry makes one successor under a key that never changes, passes over what was retried already, and tells a limit
// task by task.
func TestABulkRetryFollowsTheRulesOfARetry(t *testing.T) {
	r, run := bulkWorld(t, pulse.BulkRetry, nil)
	run(pulse.Batch{Cancels: []pulse.Cancel{{Credential: key, Application: app, Queue: queueA, Task: number(4)}, {Credential: key, Application: app, Queue: queueA, Task: number(3)}}})
	q := r.queues[queueA]
	q.OpenTasksMax = q.OpenTasks + 1
	r.queues[queueA] = q
	page := bulkPage()
	for i, n := range []uint64{1, 3, 4, 5} {
		page.Retries = append(page.Retries, pulse.ManualRetry{Credential: key, Application: app, Queue: queueA, Task: number(n), Successor: number(uint64(600 + i)),
			Key: pulse.BulkRetryKey(number(500), number(n)), ExpectedVersion: 2, Reason: "many"})
	}
	run(pulse.Batch{Retries: []pulse.ManualRetry{{Credential: key, Application: app, Queue: queueA, Task: number(3), Successor: number(700), Key: "by hand", ExpectedVersion: 2, Reason: "r"}}})
	q = r.queues[queueA]
	q.OpenTasksMax = q.OpenTasks + 1
	r.queues[queueA] = q
	run(pulse.Batch{Pages: []pulse.BulkPage{page}})
	if got := judgedOf(r, 1, 3, 4, 5); got != "-task_not_retryable -retry_exists retried !queue_full" {
		t.Error(got)
	}
	if w := r.retries[number(4)]; w.Successor != number(602) || r.full[w.Successor].Sub.Key != "bulk_000000000000000000000000000001f4/task_00000000000000000000000000000004" {
		t.Errorf("%+v", w)
	}
}

// What a request may ask is judged at the door, by field.
func TestBulkRequestsAreCheckedAtTheDoor(t *testing.T) {
	for field, r := range map[string]pulse.BulkRequest{
		"/filter/state":           {Kind: pulse.BulkPurge, Filter: pulse.BulkFilter{State: pulse.PublicRunning}},
		"/filter/failure_code":    {Kind: pulse.BulkCancel, Filter: pulse.BulkFilter{FailureCode: "x"}},
		"/filter/created_before":  {Kind: pulse.BulkCancel, Filter: pulse.BulkFilter{From: start, Before: start}},
		"/filter/attribute":       {Kind: pulse.BulkCancel, Filter: pulse.BulkFilter{AttributeName: "a", BusinessKey: "b"}},
		"/filter/handler_version": {Kind: pulse.BulkCancel, Filter: pulse.BulkFilter{HandlerVersion: "1"}},
	} {
		if refusal := r.Check(); refusal == nil || refusal.Field != field {
			t.Errorf("%s: %+v", field, refusal)
		}
	}
	for _, r := range []pulse.BulkRequest{{Kind: pulse.BulkPurge}, {Kind: pulse.BulkCancel, Filter: pulse.BulkFilter{State: pulse.PublicRunning}}, {Kind: pulse.BulkRetry, Filter: pulse.BulkFilter{State: pulse.PublicCancelled, FailureCode: "x"}}} {
		if refusal := r.Check(); refusal != nil {
			t.Error(refusal)
		}
	}
	a, b := pulse.BulkRequest{Kind: pulse.BulkPurge, QueueName: "q", Reason: "r"}, pulse.BulkRequest{Kind: pulse.BulkPurge, QueueName: "q", Reason: "r", DryRun: true}
	if again := a; a.Digest() == b.Digest() || a.Digest() != again.Digest() {
		t.Error("digests do not tell requests apart")
	}
}
