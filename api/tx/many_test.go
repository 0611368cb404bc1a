package tx_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// One statement for up to 256 rows, whatever the number; the text and the order of parameters come from sqlc.
func TestManyRowsInFewStatements(t *testing.T) {
	s := newStand(t, 2, "")
	insert := regexp.MustCompile(`INTO audit `)
	for _, c := range []struct{ rows, statements int }{{0, 0}, {1, 1}, {2, 1}, {255, 1}, {256, 1}, {257, 2}, {600, 3}} {
		s.forget()
		ids := make([][]byte, c.rows)
		for i := range ids {
			ids[i] = effect()
		}
		must(t, s.run(t.Context(), ids...))
		var n int
		must(t, s.direct.QueryRow("SELECT COUNT(*) FROM audit WHERE namespace_id = ? AND action = 'effect'", s.ns).Scan(&n))
		if n != c.rows || s.proxy.Count(insert) != c.statements {
			t.Errorf("%d rows: %d arrived in %d statements, want %d", c.rows, n, s.proxy.Count(insert), c.statements)
		}
		_, err := s.direct.Exec("DELETE FROM audit")
		must(t, err)
	}
}

// Every column is where the single-row statement puts it, for rows that differ in every column.
func TestManyKeepsEveryColumnOfEveryRow(t *testing.T) {
	s := newStand(t, 2, "")
	rows := make([]db.InsertAuditParams, 5)
	for i := range rows {
		rows[i] = s.audit(effect())
		rows[i].Actor, rows[i].Action, rows[i].Subject = []byte(fmt.Sprint("actor ", i)), []byte(fmt.Sprint("action ", i)), []byte(strings.Repeat("'\\\x00💥", i))
		if i%2 == 1 {
			rows[i].Reason = []byte("why")
		}
	}
	must(t, s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
		return tx.Many(ctx, b.Tx, tx.Rows((*db.Queries).InsertAudit), rows)
	}))
	for i, want := range rows {
		var got db.InsertAuditParams
		must(t, s.direct.QueryRow("SELECT actor, action, subject, reason FROM audit WHERE namespace_id = ? AND audit_id = ?", s.ns, want.AuditID).
			Scan(&got.Actor, &got.Action, &got.Subject, &got.Reason))
		if fmt.Sprintf("%q %q %q %q", got.Actor, got.Action, got.Subject, got.Reason) != fmt.Sprintf("%q %q %q %q", want.Actor, want.Action, want.Subject, want.Reason) {
			t.Errorf("row %d came back as %q", i, got.Subject)
		}
	}
}

// A statement with a tail repeats only its tuple; one duplicate fails the whole chunk.
func TestManyWithATailAndWithADuplicate(t *testing.T) {
	s := newStand(t, 2, "")
	queues := make([]db.UpdateQueueCountersParams, 300)
	for i := range queues {
		queues[i] = db.UpdateQueueCountersParams{NamespaceID: s.ns, QueueID: uint64(i + 1), ApplicationID: s.app, Name: []byte(fmt.Sprint("q", i)), OpenTasks: int64(i), CreatedAt: s.audit(nil).At}
	}
	for round := range 2 { // inserts, then updates
		for i := range queues {
			queues[i].OpenTasks += int64(round)
		}
		must(t, s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
			return tx.Many(ctx, b.Tx, (*db.Queries).UpdateQueueCounters, queues)
		}))
	}
	var rows, sum int
	must(t, s.direct.QueryRow("SELECT COUNT(*), SUM(open_tasks) FROM queue WHERE namespace_id = ?", s.ns).Scan(&rows, &sum))
	if rows != 300 || sum != 299*150+300 {
		t.Errorf("%d rows with the sum %d", rows, sum)
	}
	id := effect()
	err := s.run(t.Context(), effect(), id, id)
	if tx.ClassOf(err) != tx.Duplicate || s.effects(id) != 0 {
		t.Errorf("answered %v, %d effects", err, s.effects(id))
	}
}

// A fenced write that changed fewer rows than the plan saw must not commit.
func TestAWriteThatMissesARowDoesNotCommit(t *testing.T) {
	s := newStand(t, 2, "")
	id := effect()
	err := s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error {
		if err := s.climbAndWrite(ctx, b, id); err != nil {
			return err
		}
		rows, err := b.Queries().DeleteOpenTasks(ctx, db.DeleteOpenTasksParams{NamespaceID: s.ns, TaskIds: [][]byte{id}})
		return tx.Affected(rows, err)(1)
	})
	if err == nil || s.effects(id) != 0 {
		t.Errorf("answered %v, %d effects", err, s.effects(id))
	}
	if err := tx.Affected(1, errors.New("first"))(2); err == nil || err.Error() != "first" {
		t.Errorf("the statement's own error is hidden: %v", err)
	}
}

// A tuple with a function call in it would be cut in the middle.
func TestManyRefusesWhatItCannotRepeat(t *testing.T) {
	s := newStand(t, 2, "")
	for name, insert := range map[string]func(*db.Queries, context.Context, int) error{
		"a call in the tuple": func(q *db.Queries, ctx context.Context, _ int) error {
			_, err := q.InsertTxCommand(ctx, db.InsertTxCommandParams{NamespaceID: s.ns, CommandID: effect()})
			return err
		},
		"no tuple": func(q *db.Queries, ctx context.Context, _ int) error {
			_, err := q.DeleteOpenTasks(ctx, db.DeleteOpenTasksParams{NamespaceID: s.ns, TaskIds: [][]byte{effect()}})
			return err
		},
		"a read": func(q *db.Queries, ctx context.Context, _ int) error {
			_, err := q.ListNamespaces(ctx, db.ListNamespacesParams{Limit: 1})
			return err
		},
	} {
		err := s.Run(t.Context(), s.ns, "test", func(ctx context.Context, b tx.Begun) error { return tx.Many(ctx, b.Tx, insert, []int{1, 2}) })
		if err == nil {
			t.Errorf("%s was repeated", name)
		}
	}
}
