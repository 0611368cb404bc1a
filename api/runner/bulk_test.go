package runner_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/doctor"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/runner"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// many accepts tasks in lane-sized batches and returns their ids in order.
func (n *node) many(count int, change func(i int, s *pulse.Submission)) []engine.ID {
	n.Helper()
	var ids []engine.ID
	var subs []pulse.Submission
	for i := range count {
		n.seq++
		input := []byte(`{}`)
		s := pulse.Submission{
			Credential: n.key.ID, Application: n.key.Application, TaskID: store.NewID(), Key: fmt.Sprint("key-", n.seq), QueueName: "work", Queue: n.queue, Handler: "h", HandlerVersion: "1",
			Input: input, InputDigest: sha256.Sum256(input), DeadlineMS: 3_600_000, AttemptTimeoutMS: 600_000, Retry: pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 1}, Lost: pulse.LostReview,
		}
		if change != nil {
			change(i, &s)
		}
		subs, ids = append(subs, s), append(ids, s.TaskID)
		if len(subs) == 200 || i == count-1 {
			out, err := n.Submit(n.Context(), n.ns, subs)
			n.must(err)
			for _, o := range out {
				if o.Refusal != nil {
					n.Fatal(o.Refusal)
				}
			}
			subs = nil
		}
	}
	return ids
}

// begin begins a bulk operation on the node's queue.
func (n *node) begin(kind pulse.BulkKind, key string, change ...func(*pulse.BulkRequest)) engine.ID {
	n.Helper()
	r := pulse.BulkRequest{Credential: n.key.ID, Application: n.key.Application, QueueName: "work", Queue: n.queue, Key: key, Kind: kind, Reason: "because"}
	for _, f := range change {
		f(&r)
	}
	row, _, err := store.BeginBulk(n.Context(), n.writer, n.ns, &r, store.NewID())
	n.must(err)
	return store.ID(row.OperationID)
}

func (n *node) bulk(id engine.ID) db.BulkOperation {
	n.Helper()
	row, err := db.New(n.db).GetBulkOperation(n.Context(), db.GetBulkOperationParams{NamespaceID: n.ns, ApplicationID: n.key.Application, OperationID: id[:]})
	n.must(err)
	return row
}

func (n *node) ends(id engine.ID, limit time.Duration) db.BulkOperation {
	n.Helper()
	for deadline := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		if row := n.bulk(id); row.State != uint8(pulse.BulkRunning) {
			return row
		}
		if time.Now().After(deadline) {
			n.Fatalf("not within %v: %+v", limit, n.bulk(id))
		}
	}
}

// codes counts the results of an operation from its rows.
func (n *node) codes(id engine.ID) string {
	n.Helper()
	rows, err := n.db.Query("SELECT result, code, COUNT(*) FROM bulk_item WHERE operation_id = ? GROUP BY result, code ORDER BY result, code", id[:])
	n.must(err)
	defer func() { _ = rows.Close() }()
	var all []string
	for rows.Next() {
		var result, count int
		var code string
		n.must(rows.Scan(&result, &code, &count))
		all = append(all, fmt.Sprintf("%d %s %d", result, code, count))
	}
	n.must(rows.Err())
	return strings.Join(all, ", ")
}

func (n *node) count(query string, args ...any) (count int) {
	n.Helper()
	n.must(n.db.QueryRow(query, args...).Scan(&count))
	return count
}

// sound asks the doctor.
func (n *node) sound() {
	n.Helper()
	found, err := doctor.Check(n.Context(), n.reader)
	n.must(err)
	for _, f := range found {
		n.Errorf("the doctor finds %+v", f)
	}
}

// second is another node, which reaches the database through a proxy; kill resets every connection in the middle of what
// it does, and the node never comes back.
func (n *node) second() (kill func()) {
	n.Helper()
	p, err := proxy.New(n.db.Address())
	n.must(err)
	writer, err := tx.Open(n.db.DSNThrough(p.Addr()), 4)
	n.must(err)
	reader, err := tx.OpenReader(n.db.DSNThrough(p.Addr()), 4)
	n.must(err)
	set := lane.New(writer, reader, nil, lane.Options{Timeout: time.Second})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		runner.New(reader, writer, set, slog.New(slog.DiscardHandler)).Run(ctx)
	}()
	n.Cleanup(func() {
		cancel()
		_ = p.Close()
		_ = writer.Close()
		_ = reader.Close()
		set.Close()
		<-done
	})
	return func() {
		p.CutAll()
		_ = p.Close()
		cancel()
	}
}

// Five thousand tasks, two nodes, one of them killed in the middle: every task is judged once, the counters and what is
// written of each task agree with the tasks, and nothing of the killed node's last page is done by halves.
func TestABulkCancelSurvivesAKilledNode(t *testing.T) {
	n := newNode(t)
	const all, running = 5000, 100
	n.many(all, func(i int, s *pulse.Submission) {
		if i%10 == 0 {
			s.DelayMS = 600_000
		}
	})
	for range running / 10 {
		got, _, err := n.Claim(t.Context(), n.ns, pulse.Claim{Credential: n.key.ID, Application: n.key.Application, Worker: "w", Queues: []uint64{n.queue},
			Handlers: []uint64{pulse.HandlerHash("h", "1")}, Tasks: 10, Lease: 10 * time.Minute}, 0)
		n.must(err)
		if len(got) != 10 {
			t.Fatalf("%d started", len(got))
		}
	}
	op := n.begin(pulse.BulkCancel, "everything")
	n.many(50, nil) // accepted after the operation: not meant
	began := time.Now()
	kill := n.second()
	n.runs(1)
	for n.bulk(op).Did < 1500 {
		time.Sleep(time.Millisecond)
	}
	kill()
	at := n.bulk(op).Did
	row := n.ends(op, 60*time.Second)
	t.Logf("%d tasks in %v, one of two nodes killed after %d", all, time.Since(began).Round(time.Millisecond), at)
	if row.State != uint8(pulse.BulkDone) || row.Did != all || row.Skipped+row.Refused != 0 || row.Scanned != all {
		t.Errorf("%+v", row)
	}
	if got := n.codes(op); got != "1 cancel_requested 100, 1 cancelled 4900" {
		t.Error(got)
	}
	for what, c := range map[string]struct {
		query string
		want  int
	}{
		"tasks cancelled":  {"SELECT COUNT(*) FROM task WHERE state = 4", all - running},
		"tasks still open": {"SELECT COUNT(*) FROM open_task", 50 + running},
		"asked to stop":    {"SELECT COUNT(*) FROM open_task WHERE cancel_requested_at IS NOT NULL", running},
		"events":           {"SELECT COUNT(*) FROM task_event WHERE kind IN (5, 9)", all},
		"stream entries":   {"SELECT COUNT(*) FROM stream_entry", all - running},
		"audit of tasks":   {"SELECT COUNT(DISTINCT subject) FROM audit WHERE action IN ('task.cancelled', 'task.cancel_requested') AND reason = 'because'", all},
		"audits of it":     {"SELECT COUNT(*) FROM audit WHERE action LIKE 'bulk.%'", 2},
		"other cancels":    {"SELECT COUNT(*) FROM bulk_item i JOIN task t USING (namespace_id, task_id) WHERE t.state NOT IN (1, 4)", 0},
	} {
		if got := n.count(c.query); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
	n.sound()
}

// fail ends tasks as FAILED with a code.
func (n *node) fail(count int, code string) {
	n.Helper()
	for count > 0 {
		got, _, err := n.Claim(n.Context(), n.ns, pulse.Claim{Credential: n.key.ID, Application: n.key.Application, Worker: "w", Queues: []uint64{n.queue},
			Handlers: []uint64{pulse.HandlerHash("h", "1")}, Tasks: min(count, 200), Lease: 10 * time.Minute}, 0)
		n.must(err)
		var reports []pulse.Report
		for i := range got {
			reports = append(reports, pulse.Report{Credential: n.key.ID, Application: n.key.Application, Queue: n.queue, Task: got[i].Task.ID, AttemptNo: got[i].Task.AttemptNo,
				Token: got[i].Task.Token, Outcome: pulse.Permanent, FailureCode: code, Text: []byte(`{}`)})
		}
		_, _, _, err = n.Complete(n.Context(), n.ns, reports, nil)
		n.must(err)
		if count -= len(got); len(got) == 0 {
			n.Fatal("nothing to fail")
		}
	}
}

// A retry of everything that failed with one code, two nodes, one killed: one successor each, under a key that never
// changes; the operation again under another key finds nothing left to do.
func TestABulkRetryMakesOneSuccessorEach(t *testing.T) {
	n := newNode(t)
	n.many(600, nil)
	n.fail(500, "provider_down")
	n.fail(100, "card_declined")
	only := func(r *pulse.BulkRequest) { r.Filter.FailureCode = "provider_down" }
	dry := n.begin(pulse.BulkRetry, "look first", only, func(r *pulse.BulkRequest) { r.DryRun = true })
	kill := n.second()
	n.runs(1)
	if row := n.ends(dry, 20*time.Second); row.Did != 500 || n.count("SELECT COUNT(*) FROM task") != 600 || n.codes(dry) != "1 retried 100" {
		t.Errorf("dry run: %+v %s", row, n.codes(dry))
	}
	op := n.begin(pulse.BulkRetry, "again", only)
	for n.bulk(op).Did < 100 {
		time.Sleep(time.Millisecond)
	}
	kill()
	if row := n.ends(op, 60*time.Second); row.Did != 500 || row.Skipped+row.Refused != 0 || row.Scanned != 600 || n.codes(op) != "1 retried 500" {
		t.Errorf("%+v %s", row, n.codes(op))
	}
	if successors, linked := n.count("SELECT COUNT(*) FROM task WHERE source = 2"), n.count("SELECT COUNT(*) FROM task_retry r JOIN bulk_item i USING (namespace_id, task_id, successor_id) WHERE i.operation_id = ?", op[:]); successors != 500 || linked != 500 {
		t.Errorf("%d successors, %d of them linked", successors, linked)
	}
	more := n.begin(pulse.BulkRetry, "once more", only)
	if row := n.ends(more, 30*time.Second); row.Did != 0 || row.Skipped != 500 || n.codes(more) != "2 retry_exists 500" {
		t.Errorf("%+v %s", row, n.codes(more))
	}
	n.sound()
}

// An abort holds from its commit on: what was done stays, nothing more is done, and the counters say exactly how much.
// A page that was found before is stale.
func TestAnAbortedBulkOperationDoesNothingMore(t *testing.T) {
	n := newNode(t)
	n.many(3000, nil)
	op := n.begin(pulse.BulkPurge, "purge")
	row := n.bulk(op)
	page, err := store.NextBulkPage(t.Context(), db.New(n.reader), &row, engine.BulkPageMax)
	n.must(err)
	if page.Items() != engine.BulkPageMax || page.Scanned != engine.BulkPageMax || page.Last {
		t.Errorf("%d on the page, %d looked at", page.Items(), page.Scanned)
	}
	if out, err := n.Bulk(t.Context(), n.ns, page); err != nil || out.Stale {
		t.Fatal(out, err)
	}
	if out, err := n.Bulk(t.Context(), n.ns, page); err != nil || !out.Stale || n.bulk(op).Did != engine.BulkPageMax {
		t.Errorf("a stale cursor: %+v %v", out, err)
	}
	n.runs(2)
	for n.bulk(op).Did < 500 {
		time.Sleep(time.Millisecond)
	}
	n.must(store.AbortBulk(t.Context(), n.writer, n.ns, n.key.Application, n.key.ID, op, "wrong queue"))
	after := n.bulk(op)
	n.must(store.AbortBulk(t.Context(), n.writer, n.ns, n.key.Application, n.key.ID, op, "once more"))
	time.Sleep(1500 * time.Millisecond)
	row = n.bulk(op)
	cancelled := n.count("SELECT COUNT(*) FROM task WHERE state = 4")
	if row.State != uint8(pulse.BulkAborted) || row.Did != after.Did || int(row.Did) != cancelled || cancelled == 3000 || n.count("SELECT COUNT(*) FROM bulk_item") != cancelled {
		t.Errorf("%d cancelled, %+v", cancelled, row)
	}
	if n.count("SELECT COUNT(*) FROM audit WHERE action = 'bulk.aborted' AND reason = 'wrong queue'") != 1 || n.count("SELECT COUNT(*) FROM audit WHERE action = 'bulk.aborted'") != 1 {
		t.Error("an abort is one audit entry")
	}
	n.sound()
}

// Filters: the page reads by the index of each, judges the rest, and a rare match in many tasks still ends.
func TestBulkFiltersSelectExactly(t *testing.T) {
	n := newNode(t)
	n.many(2000, func(i int, s *pulse.Submission) {
		s.BusinessKey = fmt.Sprint("order ", i%50)
		s.Attributes = []pulse.Attribute{{Name: "region", Value: []string{"north", "south"}[i%2]}}
		if i == 1999 {
			s.Handler = "rare"
		}
	})
	n.runs(1)
	for name, c := range map[string]struct {
		filter pulse.BulkFilter
		want   int64
	}{
		"handler":       {pulse.BulkFilter{Handler: "rare"}, 1},
		"version":       {pulse.BulkFilter{Handler: "rare", HandlerVersion: "2"}, 0},
		"key":           {pulse.BulkFilter{BusinessKey: "order 7"}, 40},
		"another key":   {pulse.BulkFilter{BusinessKey: "order 7 "}, 0},
		"attribute":     {pulse.BulkFilter{AttributeName: "region", AttributeValue: "north"}, 1000},
		"attribute and": {pulse.BulkFilter{AttributeName: "region", AttributeValue: "south", Handler: "rare"}, 1},
		"running":       {pulse.BulkFilter{State: pulse.PublicRunning}, 0},
		"future":        {pulse.BulkFilter{From: time.Now().Add(time.Hour)}, 0},
	} {
		op := n.begin(pulse.BulkCancel, "dry "+name, func(r *pulse.BulkRequest) { r.Filter, r.DryRun = c.filter, true })
		if row := n.ends(op, 10*time.Second); row.Did != c.want || row.Did+row.Skipped+row.Refused != c.want {
			t.Errorf("%s: %+v", name, row)
		}
	}
	if n.count("SELECT COUNT(*) FROM task WHERE state <> 1") != 0 {
		t.Error("a dry run changed tasks")
	}
}

// T7: one task whose row cannot be read holds up none of those behind it: it is refused by name, everything else is done.
func TestT7ABrokenTaskHoldsUpNoBulkOperation(t *testing.T) {
	n := newNode(t)
	ids := n.many(90, nil)
	n.fail(90, "x")
	n.internal = true
	_, err := n.db.Exec("UPDATE task SET retry_policy = 'broken' WHERE task_id = ?", ids[40][:])
	n.must(err)
	op := n.begin(pulse.BulkRetry, "again")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		runner.New(n.reader, n.writer, n.Set, slog.New(slog.DiscardHandler)).Run(ctx)
	}()
	row := n.ends(op, 20*time.Second)
	cancel()
	<-done
	if row.State != uint8(pulse.BulkDone) || row.Did != 89 || row.Refused != 1 || row.Scanned != 90 || n.codes(op) != "1 retried 89, 3 internal 1" {
		t.Errorf("%+v %s", row, n.codes(op))
	}
	if n.count("SELECT COUNT(*) FROM bulk_item WHERE task_id = ? AND result = 3", ids[40][:]) != 1 || n.count("SELECT COUNT(*) FROM task WHERE source = 2") != 89 {
		t.Error("not the broken one was left out")
	}
	n.sound()
}

// Other work of the application comes between two pages: what a claim and its report wait for while thousands of tasks
// are purged, beside the same without.
func TestABulkOperationLeavesRoomForWork(t *testing.T) {
	n := newNode(t)
	n.runs(1)
	const many = 6000
	turns := func(until func() bool) (all []time.Duration) {
		for !until() {
			began := time.Now()
			n.submit(func(s *pulse.Submission) { s.Priority = 9 })
			got := n.claim(2 * time.Second)
			var reports []pulse.Report
			for i := range got {
				reports = append(reports, pulse.Report{Credential: n.key.ID, Application: n.key.Application, Queue: n.queue, Task: got[i].Task.ID, AttemptNo: got[i].Task.AttemptNo,
					Token: got[i].Task.Token, Outcome: pulse.Succeeded, Output: []byte(`1`), Text: []byte(`{}`)})
			}
			_, _, _, err := n.Complete(t.Context(), n.ns, reports, nil)
			n.must(err)
			all = append(all, time.Since(began))
		}
		slices.Sort(all)
		return all
	}
	rounds := 0
	alone := turns(func() bool { rounds++; return rounds > 60 })
	n.many(many, func(_ int, s *pulse.Submission) { s.Handler = "other" })
	op := n.begin(pulse.BulkPurge, "purge")
	began := time.Now()
	beside := turns(func() bool { return n.bulk(op).State != uint8(pulse.BulkRunning) })
	took := time.Since(began)
	at := func(all []time.Duration, percent int) time.Duration {
		return all[len(all)*percent/100].Round(100 * time.Microsecond)
	}
	t.Logf("submit, claim, report: alone p50 %v p95 %v; beside a purge of %d in %v: %d turns, p50 %v p95 %v", at(alone, 50), at(alone, 95), many, took.Round(time.Millisecond), len(beside), at(beside, 50), at(beside, 95))
	if row := n.bulk(op); row.Did != many || len(beside) < 10 {
		t.Errorf("%d turns beside %+v", len(beside), row)
	}
}

// What an operation is about is fixed when it is accepted, also while eight callers submit on two nodes: when it is done,
// nothing that was accepted before its time waits any more, and nothing accepted later was touched.
func TestABulkOperationIsAboutAFixedSet(t *testing.T) {
	n := newNode(t)
	n.runs(1)
	writer, err := tx.Open(n.db.DSN(), 4)
	n.must(err)
	other := lane.New(writer, n.reader, nil, lane.Options{})
	t.Cleanup(func() { other.Close(); _ = writer.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for c := range 8 {
		set := []*lane.Set{n.Set, other}[c%2]
		callers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				input := []byte(`{}`)
				s := pulse.Submission{
					Credential: n.key.ID, Application: n.key.Application, TaskID: store.NewID(), Key: fmt.Sprint("c", c, "-", i), QueueName: "work", Queue: n.queue, Handler: "h", HandlerVersion: "1",
					Input: input, InputDigest: sha256.Sum256(input), DeadlineMS: 3_600_000, AttemptTimeoutMS: 600_000, Retry: pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: 1}, Lost: pulse.LostReview,
				}
				if _, err := set.Submit(context.Background(), n.ns, []pulse.Submission{s}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	total := int64(0)
	for i := range 6 {
		time.Sleep(100 * time.Millisecond)
		op := n.begin(pulse.BulkPurge, fmt.Sprint("purge ", i))
		row := n.ends(op, 20*time.Second)
		total += row.Did
		if left := n.count("SELECT COUNT(*) FROM task WHERE created_at < ? AND state = 1", row.CreatedBefore); left > 0 || row.Skipped+row.Refused > 0 {
			t.Errorf("%d of before %v wait still: %+v", left, row.CreatedBefore, row)
		}
		if late := n.count("SELECT COUNT(*) FROM bulk_item i JOIN task t USING (namespace_id, task_id) WHERE i.operation_id = ? AND t.created_at >= ?", op[:], row.CreatedBefore); late > 0 {
			t.Errorf("%d of after %v were purged", late, row.CreatedBefore)
		}
	}
	cancel()
	callers.Wait()
	if cancelled := n.count("SELECT COUNT(*) FROM task WHERE state = 4"); int64(cancelled) != total || total == 0 {
		t.Errorf("%d cancelled, %d counted", cancelled, total)
	}
	t.Logf("6 purges of %d tasks beside 8 submitters on two nodes", total)
	n.sound()
}
