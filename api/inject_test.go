package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/doctor"
	"github.com/orbitrun/orbit/api/retention"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// shellOperation is an operation that writes without a lane. prepare brings the rows into place; run is what the fault
// meets, answered with the status of HTTP; applied counts its effect, which must be one or none.
type shellOperation struct {
	name    string
	prepare func(n *node, key string) (run func() int, applied func() int)
	several bool // it is several transactions: a later one may fail when the effect is there
}

func (n *node) scalar(query string, args ...any) (count int) {
	n.Helper()
	must(n, n.db.QueryRowContext(n.Context(), query, args...).Scan(&count))
	return count
}

// asked is a request whose effect one query counts.
func asked(method, path, body, query string, args ...any) func(*node, string) (func() int, func() int) {
	return func(n *node, key string) (func() int, func() int) {
		fill := func(s string) string { return strings.ReplaceAll(s, "KEY", key) }
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = []byte(fill(fmt.Sprint(a)))
		}
		return func() int {
				return n.do(call{method: method, path: fill(path), body: fill(body), header: map[string]string{"Idempotency-Key": key}}).status
			},
			func() int { return n.scalar(query, values...) }
	}
}

// after runs a preparation first.
func after(first func(n *node, key string), then func(*node, string) (func() int, func() int)) func(*node, string) (func() int, func() int) {
	return func(n *node, key string) (func() int, func() int) {
		first(n, key)
		return then(n, key)
	}
}

func scheduled(n *node, key string) { n.put("/v1/schedules/"+key, minutely).is(200) }

// subscribed makes a subscription with one result before it.
func subscribed(n *node, key string) {
	n.queue(key)
	n.subscribe(key, fmt.Sprintf(`{"queues":[%q],"generations_max":1}`, key))
	n.finish(key, 1)
}

// delivered is one result in the hand of a consumer, to be settled.
func delivered(verb, more, query string) func(*node, string) (func() int, func() int) {
	return func(n *node, key string) (func() int, func() int) {
		subscribed(n, key)
		d := n.pull(key, "c", 0, 1, 0).Items[0]
		body := fmt.Sprintf(`{"items":[{"seq":%d,"generation":%d,"proof":%q%s}]}`, d.Seq, d.Generation, d.Proof, more)
		return func() int { return n.post("/v1/subscriptions/"+key+"/"+verb, body).status },
			func() int { return n.scalar(query, []byte(key)) }
	}
}

const ofSubscription = " x JOIN subscription s USING (namespace_id, subscription_id) WHERE s.name = ?"

var shellOperations = []shellOperation{
	{name: "create queue", prepare: asked("PUT", "/v1/queues/KEY", `{"open_tasks_max":10,"running_attempts_max":10}`, "SELECT COUNT(*) FROM queue q JOIN audit a ON a.subject = CONCAT('queue:', q.name) WHERE q.name = ?", "KEY")},
	{name: "pause queue", prepare: after(func(n *node, key string) { n.queue(key) }, asked("POST", "/v1/queues/KEY/pause", `{"reason":"r"}`,
		"SELECT COUNT(*) FROM queue q JOIN audit a ON a.subject = CONCAT('queue:', q.name) AND a.action = 'queue.paused' WHERE q.name = ? AND q.paused = 1", "KEY"))},
	{name: "create schedule", prepare: asked("PUT", "/v1/schedules/KEY", minutely, "SELECT COUNT(*) FROM schedule s JOIN schedule_version v USING (namespace_id, schedule_id) WHERE s.name = ?", "KEY")},
	{name: "pause schedule", prepare: after(scheduled, asked("POST", "/v1/schedules/KEY/pause", `{"reason":"r"}`, "SELECT COUNT(*) FROM schedule WHERE name = ? AND paused = 1 AND revision = 2", "KEY"))},
	{name: "trigger schedule", prepare: after(scheduled, asked("POST", "/v1/schedules/KEY/trigger", `{"reason":"r"}`,
		"SELECT COUNT(*) FROM schedule s JOIN schedule_trigger g USING (namespace_id, schedule_id) JOIN task t ON t.namespace_id = g.namespace_id AND t.task_id = g.task_id JOIN open_task o ON o.namespace_id = t.namespace_id AND o.task_id = t.task_id WHERE s.name = ?", "KEY"))},
	{name: "create subscription", prepare: after(func(n *node, key string) { n.queue(key); n.finish(key, 1) }, asked("PUT", "/v1/subscriptions/KEY", `{"queues":["KEY"],"start":"FIRST"}`, "SELECT COUNT(*) FROM subscription WHERE name = ? AND next_seq = 1", "KEY"))},
	{name: "pull", prepare: after(subscribed, asked("POST", "/v1/subscriptions/KEY/pull", `{"consumer":"c","max":8}`, "SELECT COUNT(*) FROM subscription_delivery"+ofSubscription+" AND s.pending_count = 1", "KEY"))},
	{name: "acknowledge", prepare: delivered("acks", "", "SELECT COUNT(*) FROM subscription s WHERE s.name = ? AND s.pending_count = 0 AND NOT EXISTS (SELECT 1 FROM subscription_delivery d WHERE d.subscription_id = s.subscription_id)")},
	{name: "refuse to death", prepare: delivered("nacks", "", "SELECT COUNT(*) FROM subscription_dead_letter"+ofSubscription+" AND s.dead_count = 1 AND s.pending_count = 0")},
	{name: "seek", prepare: after(func(n *node, key string) {
		subscribed(n, key)
		n.subscribe(key, fmt.Sprintf(`{"queues":[%q],"generations_max":1,"paused":true}`, key))
	}, asked("POST", "/v1/subscriptions/KEY/seek", `{"to":"FIRST","reason":"r"}`, "SELECT COUNT(*) FROM subscription WHERE name = ? AND next_seq = 1 AND epoch = 2", "KEY"))},
	{name: "redeliver", prepare: func(n *node, key string) (func() int, func() int) {
		subscribed(n, key)
		d := n.pull(key, "c", 0, 1, 0).Items[0]
		n.settle(key, "nacks", "", d)
		return func() int {
				return n.post("/v1/subscriptions/"+key+"/redeliveries", fmt.Sprintf(`{"seqs":[%d],"reason":"r"}`, d.Seq)).status
			},
			func() int {
				return n.scalar("SELECT COUNT(*) FROM subscription_delivery"+ofSubscription+" AND s.dead_count = 0 AND s.pending_count = 1", []byte(key))
			}
	}},
	{name: "delete subscription", prepare: func(n *node, key string) (func() int, func() int) {
		subscribed(n, key)
		n.pull(key, "c", 0, 1, 0)
		return func() int {
				if s := n.do(call{method: "DELETE", path: "/v1/subscriptions/" + key}).status; s != http.StatusNotFound {
					return s
				}
				return http.StatusOK // it was deleted, and only the answer is another
			},
			func() int { return 1 - n.scalar("SELECT COUNT(*) FROM subscription WHERE name = ?", []byte(key)) }
	}},
	{name: "retention settings", prepare: func(n *node, key string) (func() int, func() int) {
		days := 40 + len(key) + n.scalar("SELECT COUNT(*) FROM audit")
		ms := int64(days) * 86_400_000
		return func() int {
				return n.put("/v1/admin/retention", fmt.Sprintf(`{"tasks_ms":0,"stream_ms":%d,"receipts_ms":0,"audit_ms":0}`, ms)).status
			},
			func() int { return n.scalar("SELECT COUNT(*) FROM retention WHERE stream_ms = ?", ms) }
	}},
	{name: "change subscription", prepare: after(subscribed, asked("PUT", "/v1/subscriptions/KEY", `{"queues":["KEY"],"generations_max":7}`, "SELECT COUNT(*) FROM subscription WHERE name = ? AND generations_max = 7 AND version = 2", "KEY"))},
	{name: "resume queue", prepare: after(func(n *node, key string) {
		n.queue(key)
		n.post("/v1/queues/"+key+"/pause", `{"reason":"r"}`).is(200)
	}, asked("POST", "/v1/queues/KEY/resume", `{"reason":"r"}`, "SELECT COUNT(*) FROM queue q WHERE q.name = ? AND q.paused = 0 AND NOT EXISTS (SELECT 1 FROM queue_hold h WHERE h.queue_id = q.queue_id)", "KEY"))},
	{name: "end a rate", prepare: after(func(n *node, key string) {
		n.put("/v1/queues/"+key, `{"open_tasks_max":10,"running_attempts_max":10,"rate":{"tokens":1,"period_ms":1000,"burst":1}}`).is(200)
	}, asked("PUT", "/v1/queues/KEY", `{"open_tasks_max":10,"running_attempts_max":10}`, "SELECT COUNT(*) FROM queue q WHERE q.name = ? AND q.rate_limited = 0 AND NOT EXISTS (SELECT 1 FROM queue_rate r WHERE r.queue_id = q.queue_id)", "KEY"))},
	{name: "create application", prepare: asked("POST", "/v1/admin/applications", `{"name":"KEY"}`, "SELECT COUNT(*) FROM application a JOIN quota q USING (namespace_id, application_id) WHERE a.name = ?", "KEY")},
	{name: "create key", prepare: func(n *node, key string) (func() int, func() int) {
		return asked("POST", "/v1/admin/applications/"+auth.ApplicationText(n.admin.Application)+"/credentials", `{"name":"KEY","scopes":["tasks:read"]}`, "SELECT COUNT(*) FROM credential WHERE name = ?", "KEY")(n, key)
	}},
	{name: "rotate key", prepare: func(n *node, key string) (func() int, func() int) {
		k := n.key("tasks:read")
		return func() int {
				return n.post("/v1/admin/credentials/"+auth.CredentialText(k.ID)+"/rotate", `{"overlap_ms":60000}`).status
			},
			func() int {
				return n.scalar("SELECT COUNT(*) FROM credential o JOIN credential r ON r.credential_id = o.rotated_to WHERE o.credential_id = ?", k.ID)
			}
	}},
	{name: "revoke key", prepare: func(n *node, key string) (func() int, func() int) {
		k := n.key("tasks:read")
		return func() int {
				return n.post("/v1/admin/credentials/"+auth.CredentialText(k.ID)+"/revoke", `{"reason":"r"}`).status
			},
			func() int {
				return n.scalar("SELECT COUNT(*) FROM credential WHERE credential_id = ? AND revoked_at IS NOT NULL", k.ID)
			}
	}},
	{name: "change quota", prepare: func(n *node, key string) (func() int, func() int) {
		most := 1_000_000 + n.scalar("SELECT COUNT(*) FROM audit")
		return func() int {
				return n.put("/v1/admin/applications/"+auth.ApplicationText(n.admin.Application)+"/quota", fmt.Sprintf(`{"open_tasks_max":%d,"running_attempts_max":10000,"open_instances_max":10000,"open_payload_bytes_max":1000000000}`, most)).status
			},
			func() int { return n.scalar("SELECT COUNT(*) FROM quota WHERE open_tasks_max = ?", most) }
	}},
	{name: "publish", prepare: func(n *node, key string) (func() int, func() int) {
		key = strings.ReplaceAll(key, "-", "_")
		document := strings.Replace(approval, `"definition":"approval"`, fmt.Sprintf(`"definition":%q`, key), 1)
		return func() int { return n.post("/v1/workflows", `{"document":`+document+`}`).status },
			func() int {
				return n.scalar("SELECT COUNT(*) FROM workflow_definition d JOIN workflow_version v USING (namespace_id, application_id, name) WHERE d.name = ?", []byte(key))
			}
	}},
	{name: "fire a schedule", prepare: func(n *node, key string) (func() int, func() int) {
		scheduled(n, key)
		var id uint64
		must(n, n.db.QueryRow("SELECT schedule_id FROM schedule WHERE name = ?", []byte(key)).Scan(&id))
		for _, statement := range []string{"UPDATE schedule_version SET effective_from = effective_from - INTERVAL 60 SECOND WHERE schedule_id = ?",
			"UPDATE schedule SET skip_before = skip_before - INTERVAL 60 SECOND, last_at = last_at - INTERVAL 60 SECOND, next_at = next_at - INTERVAL 60 SECOND, due_at = due_at - INTERVAL 60 SECOND WHERE schedule_id = ?"} {
			_, err := n.db.Exec(statement, id)
			must(n, err)
		}
		return func() int {
				if _, err := store.FireSchedules(context.Background(), n.Writer, n.admin.Key.Namespace, n.admin.Application, []uint64{id}); err != nil {
					return http.StatusServiceUnavailable
				}
				return http.StatusOK
			}, func() int {
				return n.scalar("SELECT COUNT(*) FROM schedule_trigger g JOIN open_task o USING (namespace_id, task_id) JOIN schedule s USING (namespace_id, schedule_id) WHERE g.schedule_id = ? AND s.next_at > g.planned_at", id)
			}
	}},
	{name: "purge", prepare: func(n *node, key string) (func() int, func() int) {
		n.queue(key)
		n.finish(key, 1)
		n.finish(key, 1) // the newest stays
		n.put("/v1/admin/retention", keepLittle).is(200)
		n.ages(72 * time.Hour)
		task := n.scalar("SELECT COUNT(*) FROM task WHERE state = 2")
		return func() int {
				if err := retention.New(n.Reader, n.Writer, slog.New(slog.DiscardHandler)).Sweep(context.Background()); err != nil {
					return http.StatusServiceUnavailable
				}
				return http.StatusOK
			}, func() int {
				left := n.scalar("SELECT COUNT(*) FROM task WHERE state = 2")
				if orphans := n.scalar("SELECT COUNT(*) FROM attempt a LEFT JOIN task t USING (namespace_id, task_id) WHERE t.task_id IS NULL"); orphans > 0 {
					return -orphans
				}
				return min(task-left, 1)
			}
	}, several: true},
}

func shellFaults() map[string]proxy.Rule {
	return map[string]proxy.Rule{
		"1213": {Do: proxy.Fail, Code: 1213, Rollback: true, Times: 1}, "1205": {Do: proxy.Fail, Code: 1205, Times: 1}, "1290": {Do: proxy.Fail, Code: 1290, Times: 1},
		"3819": {Do: proxy.Fail, Code: 3819, Times: 1}, "cut before": {Do: proxy.Cut, Times: 1}, "cut after": {When: proxy.Answered, Do: proxy.Cut, Times: 1},
	}
}

// C5, C21, C23: faults at every statement of every operation that writes without a lane: queues, schedules,
// subscriptions, retention. It succeeds all the same, or says so and has done nothing, and then succeeds when it is
// asked again; the doctor finds nothing. Without a fault the server's own record of locks never climbs.
func TestEveryFaultAtEveryStatementOfTheShell(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	t.Run("operations", func(t *testing.T) {
		for _, op := range shellOperations {
			t.Run(op.name, func(t *testing.T) {
				t.Parallel()
				line := injectShell(t, op)
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, line)
			})
		}
	})
	if !t.Failed() {
		t.Logf("sites × faults, violations 0: %s", strings.Join(lines, "; "))
	}
	shellSites.Keep(t, "shell")
}

var shellSites, queueSites dbtest.Sites

func injectShell(t *testing.T, op shellOperation) string {
	d := dbtest.New(t)
	p, err := proxy.New(d.Address())
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	locks := dbtest.WatchLocks(t, d)
	watching := locks != nil
	p.Observe(func(proxy.Statement) {
		if watching {
			locks.Look()
		}
	})
	n := newNodeOn(t, d, d.DSNThrough(p.Addr())+"&readTimeout=5s")
	n.queue("work")
	for i := range 2 { // the first opens the connections
		run, applied := op.prepare(n, fmt.Sprint("clean-", i))
		p.ResetCounters()
		if status := run(); status >= 300 || applied() != 1 {
			t.Fatalf("without a fault: %d, applied %d", status, applied())
		}
	}
	watching = false
	sites := len(p.Statements())
	for _, s := range p.Statements() {
		shellSites.Add(s.Text)
	}
	if locks != nil {
		if _, transactions, climbs := locks.Paths(); len(climbs) > 0 || transactions < 2 {
			t.Errorf("of %d transactions recorded these climb: %s", transactions, strings.Join(climbs, "; "))
		}
	}
	count := 0
	faults := shellFaults()
	if op.several { // many statements, each in a transaction like those above
		delete(faults, "1205")
		delete(faults, "1290")
	}
	for name, fault := range faults {
		for site := range sites {
			run, applied := op.prepare(n, fmt.Sprint("k-", count))
			count++
			p.ResetCounters()
			rule := fault
			rule.After = site
			active := p.SetRule(rule)
			status := run()
			p.ClearRules()
			where := fmt.Sprintf("%s at site %d", name, site)
			if log := p.Statements(); site < len(log) {
				where += fmt.Sprintf(" %.70q", log[site].Text)
			}
			if active.Fired() != 1 {
				t.Fatalf("%s: fired %d", where, active.Fired())
			}
			if name != "3819" && status >= 300 {
				t.Errorf("%s: answered %d", where, status)
			}
			if got := applied(); status < 300 && got != 1 || status >= 300 && got != 0 && !(op.several && got == 1) {
				t.Errorf("%s: answered %d, applied %d", where, status, got)
			}
			if status >= 300 {
				if again := run(); again >= 300 || applied() != 1 {
					t.Errorf("%s: asked again it answers %d, applied %d", where, again, applied())
				}
			}
			if t.Failed() {
				return ""
			}
		}
	}
	if found, err := doctor.CheckDeep(n.Context(), n.Reader); err != nil || len(found) > 0 {
		t.Errorf("the doctor found %+v %v", found, err)
	}
	return fmt.Sprintf("%s %d × %d = %d", op.name, sites, len(faults), count)
}
