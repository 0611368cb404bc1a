//go:build integration

package integration

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// bulk begins a bulk operation and returns a way to ask how it stands.
func bulk(t *testing.T, ctx context.Context, a *api, key, kind string) func() (state string, did int) {
	t.Helper()
	var receipt struct {
		OperationID string `json:"operation_id"`
	}
	body := map[string]any{"operation_key": key, "kind": kind, "queue": "bulk", "reason": "proof"}
	must(t, a.call(ctx, "POST", "/v1/bulk-operations", body, &receipt))
	return func() (string, int) {
		var op struct {
			State string `json:"state"`
			Done  int    `json:"done"`
		}
		must(t, a.call(ctx, "GET", "/v1/bulk-operations/"+receipt.OperationID, nil, &op))
		return op.State, op.Done
	}
}

// Bulk operations over 5,000 tasks while node processes are killed in the middle again and again, and the database once:
// a purge ends each task once, a retry makes one successor of each, and every count is exact.
func TestBulkOperationsWhileNodesAreKilled(t *testing.T) {
	const tasks = 5000
	d := newDatabase(t)
	nodes := []*node{serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0")}
	a := newAPI(d.key(), nodes[0].URL, nodes[1].URL)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	must(t, a.call(ctx, "PUT", "/v1/queues/bulk", map[string]any{"open_tasks_max": 100000, "running_attempts_max": 1000}, nil))
	var callers sync.WaitGroup
	for c := range 4 {
		callers.Go(func() {
			for i := c * 20; i < tasks; i += 80 {
				var items []any
				for j := i; j < min(i+20, tasks); j++ {
					items = append(items, map[string]any{"submit_key": fmt.Sprint("t", j), "queue": "bulk", "handler": "h", "handler_version": "1", "input": map[string]any{"n": j},
						"deadline_ms": 3600000, "attempt_timeout_ms": 60000, "retry_policy": map[string]any{"kind": "FIXED", "max_attempts": 3}})
				}
				if err := a.call(ctx, "POST", "/v1/task-batches", map[string]any{"items": items}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	kills := 0
	through := func(kind string, database bool) {
		standing := bulk(t, ctx, a, kind, kind)
		began := time.Now()
		for step := 1; ; step++ {
			state, did := standing()
			if state == "DONE" {
				if did != tasks {
					t.Errorf("%s did %d", kind, did)
				}
				break
			}
			if state == "ABORTED" || ctx.Err() != nil {
				t.Fatalf("%s is %s after %d", kind, state, did)
			}
			if did < step*tasks/6 {
				time.Sleep(5 * time.Millisecond)
				step--
				continue
			}
			i := rand.IntN(len(nodes))
			address := nodes[i].URL[len("http://"):]
			nodes[i].kill()
			if kills++; database && step == 3 {
				d.kill()
				d.up()
			}
			nodes[i] = serve(t, d, address)
		}
		t.Logf("%s of %d tasks in %v", kind, tasks, time.Since(began).Round(100*time.Millisecond))
	}
	through("PURGE", false)
	through("RETRY", true)
	for _, n := range nodes {
		n.stop()
	}
	db, err := sql.Open("mysql", d.DSN)
	must(t, err)
	defer func() { _ = db.Close() }()
	for what, c := range map[string]struct {
		statement string
		want      int
	}{
		"cancelled":             {"SELECT COUNT(*) FROM task WHERE state = 4 AND source = 1", tasks},
		"successors":            {"SELECT COUNT(*) FROM task WHERE state = 1 AND source = 2", tasks},
		"all tasks":             {"SELECT COUNT(*) FROM task", 2 * tasks},
		"results of each":       {"SELECT COUNT(*) FROM bulk_item WHERE result = 1", 2 * tasks},
		"linked":                {"SELECT COUNT(*) FROM task_retry r JOIN bulk_item i USING (namespace_id, task_id, successor_id)", tasks},
		"stream entries":        {"SELECT COUNT(*) FROM stream_entry", tasks},
		"cancels in the audit":  {"SELECT COUNT(*) FROM audit WHERE action = 'task.cancelled'", tasks},
		"retries in the audit":  {"SELECT COUNT(*) FROM audit WHERE action = 'task.retried'", tasks},
		"ends of the operation": {"SELECT COUNT(*) FROM audit WHERE action = 'bulk.done'", 2},
	} {
		var got int
		if must(t, db.QueryRowContext(ctx, c.statement).Scan(&got)); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
	d.healthy()
	t.Logf("two operations over %d tasks, %d nodes killed, the database once: each task once", tasks, kills)
}
