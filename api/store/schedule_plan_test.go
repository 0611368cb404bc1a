package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/gen/db"
)

// C24 for schedules: with 20,000 heads, of which 3,000 are due, and 60,000 triggers, no read of the scan, no lock and no
// list sorts what it has read or reads much more than it returns.
func TestPlansOfSchedules(t *testing.T) {
	d, ctx := dbtest.New(t), context.Background()
	d.Discard() // it gets a table of its own
	conn, err := d.Conn(ctx)
	must(t, err)
	defer conn.Close()
	build(t, conn, append(numbers(60_000), []string{
		`INSERT INTO schedule (namespace_id, schedule_id, application_id, name, version, plan_version, revision, paused, skip_before, last_at, next_at, due_at, waiting_version, created_at, changed_at)
		 SELECT 1 + i % 2, i, 1, CONCAT('s', i), 3, 2, 1, 0, NOW(6), NOW(6), NOW(6), NOW(6) + INTERVAL (CAST(i AS SIGNED) - 3000) SECOND, 0, NOW(6), NOW(6) FROM n WHERE i <= 20000`,
		`INSERT INTO schedule_version (namespace_id, schedule_id, version, effective_from, kind, expression, time_zone, every_ms, anchor_at, dst_gap, dst_repeat, overlap, misfire, catch_up_window_ms, queue_id, handler,
			handler_version, priority, deadline_ms, attempt_timeout_ms, retry_policy, lost_policy, created_by, created_at, digest, input)
		 SELECT 1 + n.i % 2, n.i, v.i, NOW(6), 2, '', '', 1000, NOW(6), 1, 2, 1, 1, 60000, 1, 'h', '1', 0, 1000, 1000, '{}', 1, 1, NOW(6), UNHEX(REPEAT('00', 32)), '{}' FROM n JOIN (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3) v WHERE n.i <= 20000`,
		`INSERT INTO schedule_trigger (namespace_id, trigger_id, schedule_id, version, planned_at, origin, outcome, decided_at)
		 SELECT 1, UNHEX(LPAD(HEX(i), 32, '0')), 2 * (i % 3) + 2, 1, NOW(6) - INTERVAL i SECOND, 1, 1, NOW(6) FROM n`,
		"ANALYZE TABLE schedule, schedule_version, schedule_trigger",
	}...))
	now, epoch := time.Now().UTC(), time.Unix(0, 0).UTC()
	middle := now.Add(-20 * time.Minute)
	var ids []uint64
	for i := uint64(2); i <= 64; i += 2 {
		ids = append(ids, i)
	}
	for _, p := range []planned{
		{"ListDueSchedules", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListDueSchedules(ctx, db.ListDueSchedulesParams{NamespaceID: 1, DueAt: &now, AfterAt: &epoch, Limit: 200})
			return len(rows), err
		}},
		{"LockSchedules", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.LockSchedules(ctx, db.LockSchedulesParams{NamespaceID: 1, ScheduleIds: ids})
			return len(rows), err
		}},
		{"ListPlannedVersions", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListPlannedVersions(ctx, db.ListPlannedVersionsParams{NamespaceID: 1, ScheduleIds: ids})
			return len(rows), err
		}},
		{"ListScheduleTriggers", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListScheduleTriggers(ctx, db.ListScheduleTriggersParams{NamespaceID: 1, ScheduleID: 2, BeforeAt: now, BeforeID: make([]byte, 16), Limit: 200})
			return len(rows), err
		}},
		{"ListScheduleTriggersBetween", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListScheduleTriggersBetween(ctx, db.ListScheduleTriggersBetweenParams{NamespaceID: 1, ScheduleID: 2, FromAt: middle, UntilAt: middle.Add(5 * time.Minute)})
			return len(rows), err
		}},
	} {
		access, index, extra := explain(t, conn, p.record(ctx))
		before := handlerReads(t, conn)
		returned, err := p.call(ctx, db.New(conn))
		must(t, err)
		read := handlerReads(t, conn) - before
		t.Logf("%-28s %s %s: %d returned, %d read", p.name, access, index, returned, read)
		if returned == 0 || strings.Contains(access, "ALL") || strings.Contains(extra, "filesort") || strings.Contains(extra, "temporary") || read > 3*returned+20 {
			t.Errorf("%s: access %s, %s, %d returned, %d read", p.name, access, extra, returned, read)
		}
	}
}
