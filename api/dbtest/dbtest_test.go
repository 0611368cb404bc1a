package dbtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorder is a test that may fail without failing ours.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()                   {}
func (r *recorder) Failed() bool              { return len(r.errors) > 0 }
func (r *recorder) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Logf(string, ...any)       {}
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }
func (r *recorder) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}

func exec1(t testing.TB, db *DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(context.Background(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func count(t testing.TB, db *DB, table string) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const insertNamespace = "INSERT INTO namespace_name (name, namespace_id) VALUES (?, ?)"

func TestEveryTestStartsEmptyWithTheWholeSchema(t *testing.T) {
	first := &recorder{TB: t}
	db := New(first)
	exec1(t, db, insertNamespace, "a", 1)
	first.end()

	again := New(t)
	if got := count(t, again, "namespace_name"); got != 0 {
		t.Fatalf("%s starts with %d rows of its former owner", again.Name, got)
	}
	if len(first.errors) > 0 {
		t.Fatal(first.errors)
	}
	var zone string
	var matched int64
	if err := again.QueryRow("SELECT @@time_zone").Scan(&zone); err != nil || zone != "+00:00" {
		t.Fatalf("session time zone %q, %v", zone, err)
	}
	exec1(t, again, insertNamespace, "a", 1)
	result, err := again.Exec("UPDATE namespace_name SET namespace_id = 1 WHERE name = 'a'")
	if err != nil {
		t.Fatal(err)
	}
	if matched, _ = result.RowsAffected(); matched != 1 {
		t.Fatalf("an update to the same value counts %d rows, want the matched one", matched)
	}
}

func TestParallelTestsNeverShareADatabase(t *testing.T) {
	var seen sync.Map
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			r := &recorder{TB: t}
			db := New(r)
			if _, taken := seen.LoadOrStore(db.Name, i); taken {
				t.Errorf("%s given out twice", db.Name)
			}
			exec1(t, db, insertNamespace, "a", i)
			time.Sleep(20 * time.Millisecond)
			if got := count(t, db, "namespace_name"); got != 1 {
				t.Errorf("%s holds %d rows", db.Name, got)
			}
			seen.Delete(db.Name)
			r.end()
		})
	}
	group.Wait()
}

func TestAChangedTableIsNotHandedOn(t *testing.T) {
	for _, discard := range []bool{true, false} {
		r := &recorder{TB: t}
		db := New(r)
		exec1(t, db, "ALTER TABLE namespace_name ADD COLUMN spoiled INT NULL")
		if discard {
			db.Discard()
		}
		r.end()
		next := New(t)
		var spoiled int
		if err := next.QueryRow(`SELECT COUNT(*) FROM information_schema.COLUMNS
			WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME = 'spoiled'`).Scan(&spoiled); err != nil || spoiled != 0 {
			t.Fatalf("discard=%v: %s still has the column (%v)", discard, next.Name, err)
		}
	}
}

func TestALeakedConnectionFailsTheTestAndDoesNotBlockTheNext(t *testing.T) {
	r := &recorder{TB: t}
	db := New(r)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(insertNamespace, "locked", 1); err != nil {
		t.Fatal(err)
	}
	r.end()
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "1 connections still in use") {
		t.Fatalf("reported %q", r.errors)
	}
	started := time.Now()
	next := New(t)
	exec1(t, next, insertNamespace, "locked", 1)
	if waited := time.Since(started); waited > 3*time.Second {
		t.Fatalf("the next owner of %s waited %v for the leaked transaction", next.Name, waited)
	}
}

// TestAKilledProcessFreesItsDatabase starts this test binary again, lets it take a database and hold a row lock in
// it, and kills it: the name must come back to the next test, clean.
func TestAKilledProcessFreesItsDatabase(t *testing.T) {
	if os.Getenv("DBTEST_HELPER") == "1" {
		db := New(t)
		tx, _ := db.Begin()
		_, _ = tx.Exec(insertNamespace, "of the dead", 7)
		fmt.Println("HOLDING", db.Name)
		time.Sleep(time.Minute)
	}
	helper := exec.Command(os.Args[0], "-test.run=^TestAKilledProcessFreesItsDatabase$")
	helper.Env = append(os.Environ(), "DBTEST_HELPER=1")
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	var word, name string
	if _, err := fmt.Fscan(out, &word, &name); err != nil || word != "HOLDING" {
		t.Fatalf("helper said %q %q: %v", word, name, err)
	}
	p, err := thePool()
	if err != nil {
		t.Fatal(err)
	}
	session, err := p.admin.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock(session)
	if got, err := tryLock(context.Background(), session, name); err != nil || got {
		t.Fatalf("%s is free while its owner lives (%v)", name, err)
	}
	_ = helper.Process.Kill()
	_ = helper.Wait()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got, err := tryLock(context.Background(), session, name)
		if err != nil {
			t.Fatal(err)
		}
		if got {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still held 5 s after its owner was killed", name)
		}
	}
	if err := p.prepare(context.Background(), name); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := p.admin.QueryRow("SELECT COUNT(*) FROM " + quote(name) + ".namespace_name").Scan(&rows); err != nil || rows != 0 {
		t.Fatalf("%d rows of the killed process are left (%v)", rows, err)
	}
}

func TestManyRowsAreTruncated(t *testing.T) {
	r := &recorder{TB: t}
	db := New(r)
	exec1(t, db, `INSERT INTO namespace_name (name, namespace_id)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
		SELECT CONCAT(a.i, '.', b.i), a.i FROM n a JOIN n b WHERE b.i <= 4`)
	r.end()
	if got := count(t, New(t), "namespace_name"); got != 0 {
		t.Fatalf("%d rows left", got)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		r := &recorder{TB: b}
		db := New(r)
		_, _ = db.Exec(insertNamespace, "a", 1)
		r.end()
	}
}
