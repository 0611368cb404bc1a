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

	_ "github.com/go-sql-driver/mysql"
)

// Three nodes and a thousand schedules; about every second a node is killed without warning and started again. Each slot
// that came has exactly one task, and none is missing (T3, C41).
func TestSchedulesFireOnceWhileNodesAreKilled(t *testing.T) {
	const schedules, every = 1000, 3 * time.Second
	d := newDatabase(t)
	nodes := []*node{serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0")}
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.URL)
	}
	a := newAPI(d.key(), urls...)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	must(t, a.call(ctx, "PUT", "/v1/queues/q", map[string]any{"open_tasks_max": 1000000, "running_attempts_max": 10}, nil))
	putSchedules(t, ctx, a, schedules, every)
	kills := 0
	for began := time.Now(); time.Since(began) < 30*time.Second; kills++ {
		time.Sleep(time.Second)
		i := rand.IntN(len(nodes))
		address := nodes[i].URL[len("http://"):]
		nodes[i].kill()
		nodes[i] = serve(t, d, address)
	}
	db, err := sql.Open("mysql", d.DSN)
	must(t, err)
	defer func() { _ = db.Close() }()
	count := func(statement string) (n int) {
		t.Helper()
		must(t, db.QueryRowContext(ctx, statement).Scan(&n))
		return n
	}
	for count("SELECT COUNT(*) FROM schedule WHERE due_at < NOW(6) - INTERVAL 3 SECOND") > 0 {
		time.Sleep(200 * time.Millisecond) // the nodes catch up with what the kills left
	}
	for _, n := range nodes {
		n.stop()
	}
	slots, tasks := count("SELECT COUNT(*) FROM schedule_trigger WHERE origin = 1 AND outcome = 1"), count("SELECT COUNT(*) FROM task WHERE source = 3")
	missing := count(`SELECT COUNT(*) FROM (SELECT schedule_id, COUNT(*) n, TIMESTAMPDIFF(SECOND, MIN(planned_at), MAX(planned_at)) / 3 + 1 AS want
		FROM schedule_trigger WHERE origin = 1 GROUP BY schedule_id HAVING n <> want) x`)
	twice := count("SELECT COUNT(*) FROM (SELECT 1 FROM schedule_trigger WHERE origin = 1 GROUP BY schedule_id, planned_at HAVING COUNT(*) > 1) x")
	late := count("SELECT CAST(MAX(TIMESTAMPDIFF(MICROSECOND, planned_at, decided_at)) / 1000 AS SIGNED) FROM schedule_trigger")
	if slots != tasks || missing+twice != 0 || slots < 8*schedules || count("SELECT COUNT(DISTINCT schedule_id) FROM schedule_trigger") != schedules {
		t.Errorf("%d slots, %d tasks, %d schedules with a hole, %d slots twice", slots, tasks, missing, twice)
	}
	t.Logf("C41: %d slots of %d schedules fired once on three nodes, %d nodes killed; the latest %d ms after its time", slots, schedules, kills, late)
	d.healthy()
}

// putSchedules makes schedules whose slots fall together, from eight callers.
func putSchedules(t *testing.T, ctx context.Context, a *api, n int, every time.Duration) {
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for i := c; i < n; i += 8 {
				body := map[string]any{
					"timing": map[string]any{"kind": "INTERVAL", "every_ms": every.Milliseconds()}, "overlap": "ALLOW",
					"task": map[string]any{"queue": "q", "handler": "h", "handler_version": "1", "input": i, "deadline_ms": 3600000, "attempt_timeout_ms": 60000,
						"retry_policy": map[string]any{"kind": "FIXED", "max_attempts": 1}},
				}
				if err := a.call(ctx, "PUT", fmt.Sprintf("/v1/schedules/s%04d", i), body, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
