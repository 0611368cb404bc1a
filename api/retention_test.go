package api_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/doctor"
	"github.com/orbitrun/orbit/api/retention"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

const keepLittle = `{"tasks_ms":3600000,"stream_ms":3600000,"receipts_ms":172800000,"audit_ms":86400000}`

// ages moves what is kept for a time into the past.
func (n *node) ages(d time.Duration) {
	n.Helper()
	for _, column := range []string{"stream_entry.at", "ended_task.look_at", "receipt.created_at", "audit.at"} {
		table, name, _ := strings.Cut(column, ".")
		_, err := n.db.ExecContext(n.Context(), fmt.Sprintf("UPDATE %s SET %s = %s - INTERVAL ? SECOND", table, name, name), int(d.Seconds()))
		must(n, err)
	}
}

// sweep deletes all that is due, asks the doctor, and says what is left.
func (n *node) sweep(tables ...string) string {
	n.Helper()
	must(n, retention.New(n.Reader, n.Writer, slog.New(slog.DiscardHandler)).Sweep(n.Context()))
	found, err := doctor.CheckDeep(n.Context(), n.Reader)
	if must(n, err); len(found) > 0 {
		n.Errorf("the doctor found %+v", found)
	}
	return n.counts(tables...)
}

func (n *node) counts(tables ...string) string {
	n.Helper()
	var words []string
	for _, table := range tables {
		var rows int
		must(n, n.db.QueryRowContext(n.Context(), "SELECT COUNT(*) FROM "+table).Scan(&rows))
		words = append(words, fmt.Sprint(rows))
	}
	return strings.Join(words, " ")
}

// T20: nothing goes before its time, and nothing that a subscription, a review, an open instance, a repetition or an
// open task still needs; the rest goes with every row that hangs on it.
func TestT20RetentionTakesOnlyWhatNobodyNeeds(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("slow", `{"queues":["work"],"start":"FIRST","window":100}`)
	n.finish("work", 40)
	asked := n.submit(fmt.Sprintf(submission, "asked", "1"))
	n.run("work", `"outcome":"UNKNOWN"`)
	failed := n.submit(fmt.Sprintf(submission, "failed", "1"))
	n.run("work", `"outcome":"FAILED","failure":{"code":"no"}`)
	again := n.post(failed+"/retry", `{"submit_key":"again","expected_version":3,"reason":"fixed"}`).is(201)
	var successor httpapi.TaskReceipt
	again.into(&successor)
	n.run("work", `"outcome":"SUCCEEDED","output":1`)
	waiting := n.submit(fmt.Sprintf(submission, "waiting", "1")) // 44 tasks, 43 results

	all := []string{"task", "attempt", "stream_entry", "task_event", "receipt"}
	was := n.counts(all...)
	n.ages(72 * time.Hour)
	n.expect("without settings", n.sweep(all...), was)
	n.do(call{method: "PUT", path: "/v1/admin/retention", body: keepLittle}).is(200)
	n.expect("everything of the stream is before the subscription", n.sweep("task", "stream_entry"), "44 43")

	got := n.pull("slow", "a", 0, 64, 0)
	n.settle("slow", "acks", "", got.Items[:20]...)
	var kept httpapi.Retention
	n.get("/v1/admin/retention").is(200).into(&kept)
	n.expect("held by", kept.StreamHolders, fmt.Sprintf("[{%s 21 slow}]", kept.StreamHolders[0].ApplicationId))
	n.expect("20 are acknowledged, and the link before the next stays", n.sweep("task", "attempt", "stream_entry"), "25 24 24")
	n.settle("slow", "acks", "", got.Items[20:]...)
	n.subscribe("slow", `{"queues":["work"],"start":"FIRST","window":100,"paused":true}`)
	if p := n.post("/v1/subscriptions/slow/seek", `{"to":"SEQUENCE","seq":19,"reason":"x"}`).is(409).problem(); p.Code != "sequence_unavailable" {
		t.Errorf("refused with %s", p.Code)
	}
	n.subscribe("slow", `{"queues":["work"],"start":"FIRST","window":100}`)

	// results 20 to 42 and their tasks go; the newest result stays as the link, and with it its task
	n.expect("all are acknowledged", n.sweep("stream_entry", "ended_task"), "1 1")
	for path, want := range map[string]int{asked: 200, failed: 200, "/v1/tasks/" + successor.TaskId: 200, waiting: 200} {
		n.get(path).is(want)
	}
	n.expect("left", n.counts("task", "task_retry"), "4 1")
	n.get("/v1/tasks/" + successor.TaskId + "/source").is(200)

	// its successor first, then the original
	n.finish("work", 1) // takes the waiting one: its result is the newest now
	n.ages(2 * time.Hour)
	got = n.pull("slow", "a", 0, 64, 0)
	n.settle("slow", "acks", "", got.Items...)
	n.ages(2 * time.Hour)
	n.sweep()
	n.get("/v1/tasks/" + successor.TaskId).is(404)
	n.ages(2 * time.Hour)
	n.sweep()
	n.get(failed).is(404)
	n.get(asked).is(200)
	n.do(call{method: "POST", path: asked + "/review", body: review, header: map[string]string{"Idempotency-Key": "r"}}).is(200)
	var decided httpapi.Task
	n.get(asked).is(200).into(&decided)
	n.expect("decided long after its first result was deleted", decided.State, "SUCCEEDED")
}

// T10, T20: a key is remembered as long as its task is open, whatever its age, and after that as long as was set.
func TestT20ReceiptsOutliveTheirOpenTasks(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.finish("work", 32)
	n.submit(fmt.Sprintf(submission, "open", "1"))
	n.do(call{method: "PUT", path: "/v1/admin/retention", body: keepLittle}).is(200)
	n.ages(47 * time.Hour)
	n.expect("younger than 48 hours", n.sweep("receipt"), "33")
	n.ages(2 * time.Hour)
	n.expect("older", n.sweep("receipt", "open_task"), "1 1")
	if again := n.post("/v1/tasks", fmt.Sprintf(submission, "open", "1")).is(201); again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a key of an open task was forgotten: %s", again.body)
	}
}

// T20: the record a pending signal will be checked against stays until the instance has ended.
func TestT20AuditOfAnOpenInstanceStays(t *testing.T) {
	n := newNode(t)
	n.post("/v1/workflows", `{"document":`+approval+`}`).is(201)
	var started httpapi.InstanceReceipt
	n.post("/v1/instances", `{"start_key":"s","definition":"approval","input":null}`).is(201).into(&started)
	instance := "/v1/instances/" + started.InstanceId
	signal := func(correlation string) {
		n.do(call{method: "POST", path: instance + "/signals", body: fmt.Sprintf(decision, correlation, `{"verdict":"YES"}`), header: map[string]string{"Idempotency-Key": correlation}}).is(201)
	}
	signal("request-8 ")
	n.do(call{method: "PUT", path: "/v1/admin/retention", body: keepLittle}).is(200)
	n.ages(72 * time.Hour)
	n.expect("about the instance", n.sweep("audit WHERE action = 'workflow.signalled'", "audit WHERE action = 'workflow.published'"), "1 0")
	signal("request-9 ")
	n.until(instance, "SUCCEEDED")
	n.ages(72 * time.Hour)
	n.expect("after its end", n.sweep("audit WHERE subject LIKE 'inst_%'", "receipt WHERE kind <> 3"), "0 0")
}

// until waits for a state of an instance.
func (n *node) until(path, state string) {
	n.Helper()
	var got answer
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = n.get(path).is(200); strings.Contains(string(got.body), `"state":"`+state+`"`) {
			return
		}
	}
	n.Fatalf("still %s", got.body)
}

// T20: two nodes purge while results come, are consumed and sought again: nobody misses an entry, every count is exact.
func TestT20PurgesMeetConsumersWhoMoveBack(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	const quick = `{"queues":["work"],"start":"FIRST","window":64,"ack_timeout_ms":1000}`
	n.subscribe("s", quick)
	n.do(call{method: "PUT", path: "/v1/admin/retention", body: keepLittle}).is(200)
	stop := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					n.ages(2 * time.Hour)
					if err := retention.New(n.Reader, n.Writer, slog.New(slog.DiscardHandler)).Sweep(n.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for round := range 12 {
		n.finish("work", 32)
		got := n.pull("s", "a", 0, 64, 0)
		for i := 1; i < len(got.Items); i++ {
			if got.Items[i].Seq != got.Items[i-1].Seq+1 || got.Items[i].PreviousHash != got.Items[i-1].Hash || len(got.Items[i].Output) == 0 {
				t.Fatalf("round %d: %+v after %+v", round, got.Items[i], got.Items[i-1])
			}
		}
		n.settle("s", "acks", "", got.Items...)
		for before := n.counts("stream_entry"); round%3 == 2 && n.counts("stream_entry") == before; time.Sleep(5 * time.Millisecond) {
			// in every third round a purge comes before the seek; in the others they race
		}
		n.subscribe("s", strings.Replace(quick, `"start"`, `"paused":true,"start"`, 1))
		n.post("/v1/subscriptions/s/seek", `{"to":"FIRST","reason":"again"}`).is(200)
		n.subscribe("s", quick)
	}
	close(stop)
	all.Wait()
	if found, err := doctor.CheckDeep(n.Context(), n.Reader); err != nil || len(found) > 0 {
		t.Errorf("the doctor found %+v %v", found, err)
	}
	t.Logf("12 rounds, each sought again from the first kept; left: %s tasks, %s results", n.counts("task"), n.counts("stream_entry"))
	if kept := n.counts("stream_entry"); kept == "384" {
		t.Error("nothing was purged")
	}
}
