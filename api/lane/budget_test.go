package lane_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// budget is what one transaction of a lane may cost: statements that go to the server, and rows it inserts, updates,
// deletes. Rows are those of the server's own counters, so a hidden write shows.
type budget struct {
	name       string
	items      int
	statements int
	writes     int
	run        func(w *world, fresh func(n int) []pulse.Submission)
}

// C3: what each operation costs, alone and fused. A change that makes one dearer must say so here.
func TestStatementAndRowBudgets(t *testing.T) {
	d := dbtest.New(t)
	p, err := proxy.New(d.Address())
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	w := worldOn(t, d, d.DSNThrough(p.Addr()), lane.Options{})
	fresh := func(n int) []pulse.Submission {
		subs := make([]pulse.Submission, n)
		for i := range subs {
			subs[i] = w.submission()
		}
		return subs
	}
	var held []lane.Granted
	reports := func(n int) []pulse.Report {
		var all []pulse.Report
		for i := range held[:n] {
			all = append(all, w.report(&held[i].Task, pulse.Succeeded))
		}
		held = held[n:]
		return all
	}
	claim := func(n int) {
		got := w.claimNow(n)
		if len(got) != n {
			t.Fatalf("claimed %d of %d", len(got), n)
		}
		held = append(held, got...)
	}
	complete := func(n, next int) {
		var c *pulse.Claim
		if next > 0 {
			c = new(w.claim(next))
		}
		_, got, _, err := w.Complete(context.Background(), w.ns, reports(n), c)
		must(t, err)
		held = append(held, got...)
	}
	w.submit(fresh(300)...)
	claim(120)
	table := &strings.Builder{}
	columns := tabwriter.NewWriter(table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\noperation\titems\tstatements\trows written\tper item\tbudget")
	for _, b := range []budget{
		{"submit", 1, 11, 9, func(w *world, fresh func(int) []pulse.Submission) { w.submit(fresh(1)...) }},
		{"submit", 32, 11, 133, func(w *world, fresh func(int) []pulse.Submission) { w.submit(fresh(32)...) }},
		{"claim", 1, 11, 7, func(*world, func(int) []pulse.Submission) { claim(1) }},
		{"claim", 50, 11, 105, func(*world, func(int) []pulse.Submission) { claim(50) }},
		{"complete", 1, 15, 11, func(*world, func(int) []pulse.Submission) { complete(1, 0) }},
		{"complete", 50, 15, 256, func(*world, func(int) []pulse.Submission) { complete(50, 0) }},
		{"complete and claim", 50, 18, 356, func(*world, func(int) []pulse.Submission) { complete(50, 50) }},
		{"renew", 50, 7, 51, func(w *world, _ func(int) []pulse.Submission) {
			var all []pulse.Renewal
			for i := range held[:50] {
				g := &held[i].Task
				all = append(all, pulse.Renewal{Credential: w.key.ID, Application: w.key.Application, Task: g.ID, AttemptNo: g.AttemptNo, Token: g.Token, Extend: 45 * time.Second})
			}
			_, err := w.Renew(context.Background(), w.ns, all)
			must(t, err)
		}},
		{"cancel", 1, 16, 11, func(w *world, _ func(int) []pulse.Submission) { w.cancel(w.waitingTask()) }},
		{"an empty claim", 1, 5, 0, func(w *world, _ func(int) []pulse.Submission) {
			c := w.claim(5)
			c.Handlers = []uint64{1}
			_, _, err := w.Claim(context.Background(), w.ns, c, 0)
			must(t, err)
		}},
	} {
		rows, own := w.written(func() {
			p.ResetCounters()
			b.run(w, fresh)
		})
		statements := p.Count(nil)
		fmt.Fprintf(columns, "%s\t%d\t%d\t%d\t%.1f\t%d statements, %d rows\n", b.name, b.items, statements, rows, float64(rows)/float64(b.items), b.statements, b.writes)
		if statements > b.statements || own && rows > b.writes {
			t.Errorf("%s of %d: %d statements and %d rows, the budget is %d and %d", b.name, b.items, statements, rows, b.statements, b.writes)
			for _, s := range p.Statements() {
				t.Logf("  %.90q", s.Text)
			}
		}
	}
	must(t, columns.Flush())
	t.Log(table.String())
	w.exact()
}

// waitingTask names a task that waits, as far as a cancel needs it.
func (w *world) waitingTask() pulse.Submission {
	w.Helper()
	var id []byte
	must(w, w.db.QueryRow("SELECT task_id FROM open_task WHERE state = 1 ORDER BY due_at DESC LIMIT 1").Scan(&id))
	s := pulse.Submission{Credential: w.key.ID, Application: w.key.Application, Queue: w.queue}
	copy(s.TaskID[:], id)
	return s
}

// written is how many rows the server inserted, updated and deleted meanwhile. A row that an INSERT … ON DUPLICATE KEY
// UPDATE changes counts twice. own says that the counters are those of this test's tables; without performance_schema
// they are the whole server's, and others may be at work.
func (w *world) written(do func()) (rows int, own bool) {
	w.Helper()
	must(w, w.db.QueryRow("SELECT @@performance_schema").Scan(&own))
	count := w.innodbRows
	if own {
		count = func() (n int) {
			must(w, w.db.QueryRow("SELECT COALESCE(SUM(count_insert + count_update + count_delete), 0) FROM performance_schema.table_io_waits_summary_by_table WHERE object_schema = ?", w.db.Name).Scan(&n))
			return n
		}
	}
	before := count()
	do()
	return count() - before, own
}

// innodbRows are the whole server's.
func (w *world) innodbRows() int {
	w.Helper()
	rows, err := w.db.Query("SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted')")
	must(w, err)
	defer rows.Close()
	sum := 0
	for rows.Next() {
		var name string
		var n int
		must(w, rows.Scan(&name, &n))
		sum += n
	}
	must(w, rows.Err())
	return sum
}
