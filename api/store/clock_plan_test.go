package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/gen/db"
)

// C24 for clocks: with 60,000 waits, checkpoints, polls, rounds and signals, of which 3,000 are due, no scan, no lock and
// no list sorts what it has read or reads much more than it returns.
func TestPlansOfClocks(t *testing.T) {
	d, ctx := dbtest.New(t), context.Background()
	d.Discard() // it gets a table of its own
	conn, err := d.Conn(ctx)
	must(t, err)
	defer conn.Close()
	// of each instance three activations, rounds and signals
	build(t, conn, append(numbers(60_000), []string{
		`INSERT INTO weave_pending_advance (namespace_id, instance_id, step_no, kind, activation_id, step_version, version, due_at)
		 SELECT 1, UNHEX(LPAD(HEX(i), 32, '0')), 1, 2, UNHEX(LPAD(HEX(i), 32, '0')), 2, 1, NOW(6) + INTERVAL (CAST(i AS SIGNED) - 3000) SECOND FROM n`,
		`INSERT INTO step_wait (namespace_id, instance_id, activation_id, step_no, kind, state, started_at, duration_ms, deadline_at)
		 SELECT 1, UNHEX(LPAD(HEX(i % 20000), 32, '0')), UNHEX(LPAD(HEX(i), 32, '0')), 1, 2, 1, NOW(6), 1000, NOW(6) FROM n`,
		`INSERT INTO weave_poll (namespace_id, instance_id, activation_id, step_no, state, used_rounds, last_task_id, started_at, deadline_at, overdue, verdict, input)
		 SELECT 1, UNHEX(LPAD(HEX(i % 20000), 32, '0')), UNHEX(LPAD(HEX(i), 32, '0')), 1, 2, 1, UNHEX(LPAD(HEX(i), 32, '0')), NOW(6), NOW(6), 0, 0, '{}' FROM n`,
		`INSERT INTO weave_poll_round (namespace_id, task_id, instance_id, activation_id, round_no, state, created_at, deadline_at)
		 SELECT 1, UNHEX(LPAD(HEX(i), 32, '0')), UNHEX(LPAD(HEX(i % 20000), 32, '0')), UNHEX(LPAD(HEX(i), 32, '0')), 1, 2, NOW(6), NOW(6) FROM n`,
		`INSERT INTO weave_signal (namespace_id, instance_id, signal_id, step_no, activation_no, signal_name, signal_version, correlation, state, version, available_at, accepted_at, expires_at, digest, audit_id, content)
		 SELECT 1, UNHEX(LPAD(HEX(i % 20000), 32, '0')), UNHEX(LPAD(HEX(i), 32, '0')), 1, 1, 's', '1', 'c', 1, 1, NOW(6) + INTERVAL (CAST(i AS SIGNED) - 3000) SECOND, NOW(6), NOW(6),
			UNHEX(REPEAT('00', 32)), UNHEX(LPAD(HEX(i), 32, '0')), '{}' FROM n`,
		"ANALYZE TABLE weave_pending_advance, step_wait, weave_poll, weave_poll_round, weave_signal",
	}...))
	now := time.Now().UTC()
	var ids [][]byte
	for i := range 32 {
		id := make([]byte, 16)
		id[15] = byte(i + 1)
		ids = append(ids, id)
	}
	for _, p := range []planned{
		{"ListDueAdvances", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListDueAdvances(ctx, db.ListDueAdvancesParams{NamespaceID: 1, AfterAt: now.Add(-30 * time.Minute), AfterID: ids[0], UntilAt: now, Limit: 100})
			return len(rows), err
		}},
		{"ListDueSignals", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListDueSignals(ctx, db.ListDueSignalsParams{NamespaceID: 1, PendingAt: &now, Limit: 100})
			return len(rows), err
		}},
		{"LockWaits", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.LockWaits(ctx, db.LockWaitsParams{NamespaceID: 1, InstanceIds: ids})
			return len(rows), err
		}},
		{"LockSignals", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.LockSignals(ctx, db.LockSignalsParams{NamespaceID: 1, InstanceIds: ids})
			return len(rows), err
		}},
		{"LockPolls", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.LockPolls(ctx, db.LockPollsParams{NamespaceID: 1, InstanceIds: ids})
			return len(rows), err
		}},
		{"LockRounds", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.LockRounds(ctx, db.LockRoundsParams{NamespaceID: 1, TaskIds: ids})
			return len(rows), err
		}},
		{"ListRoundCounts", true, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListRoundCounts(ctx, db.ListRoundCountsParams{NamespaceID: 1, InstanceIds: ids})
			return len(rows), err
		}},
		{"ListSignals", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListSignals(ctx, db.ListSignalsParams{NamespaceID: 1, InstanceID: ids[0], SignalID: []byte{}, Limit: 200})
			return len(rows), err
		}},
		{"ListWaits", false, func(ctx context.Context, q *db.Queries) (int, error) {
			rows, err := q.ListWaits(ctx, db.ListWaitsParams{NamespaceID: 1, InstanceID: ids[0], ActivationID: []byte{}, Limit: 200})
			return len(rows), err
		}},
	} {
		access, index, extra := explain(t, conn, p.record(ctx))
		before := handlerReads(t, conn)
		returned, err := p.call(ctx, db.New(conn))
		must(t, err)
		read := handlerReads(t, conn) - before
		t.Logf("%-20s %s %s: %d returned, %d read", p.name, access, index, returned, read)
		if sorted := strings.Contains(extra, "filesort") || strings.Contains(extra, "temporary"); returned == 0 || strings.Contains(access, "ALL") || sorted && !p.sorts || read > 5*returned+20 {
			t.Errorf("%s: access %s, %s, %d returned, %d read", p.name, access, extra, returned, read)
		}
	}
}
