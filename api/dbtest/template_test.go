package dbtest

import (
	"database/sql"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A template is registered before the first New of a process, so the story runs in a process of its own.
func TestTemplate(t *testing.T) {
	if os.Getenv("DBTEST_TEMPLATE") == "1" {
		templateStory(t)
		return
	}
	own := exec.Command(os.Args[0], "-test.run=^TestTemplate$", "-test.v")
	own.Env = append(os.Environ(), "DBTEST_TEMPLATE=1")
	out, err := own.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestTemplate") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func templateStory(t *testing.T) {
	built := 0
	Template("story", func(db *sql.DB) error {
		built++
		if _, err := db.Exec(`CREATE TABLE seat (
			id INT NOT NULL PRIMARY KEY,
			twice INT GENERATED ALWAYS AS (id * 2) STORED,
			CONSTRAINT seat_is_small CHECK (id < 100))`); err != nil {
			return err
		}
		_, err := db.Exec("INSERT INTO seat (id) VALUES (21)")
		return err
	})
	for range 2 {
		r := &recorder{TB: t}
		db := New(r)
		var id, twice int
		if err := db.QueryRow("SELECT id, twice FROM seat").Scan(&id, &twice); err != nil || id != 21 || twice != 42 {
			t.Fatalf("seed row: %d %d %v", id, twice, err)
		}
		if _, err := db.Exec("INSERT INTO seat (id) VALUES (100)"); err == nil || !strings.Contains(err.Error(), "seat_is_small") {
			t.Fatalf("the CHECK lost its name: %v", err)
		}
		exec1(t, db, "DELETE FROM seat")
		r.end()
	}
	if built != 1 {
		t.Fatalf("template built %d times", built)
	}
	defer func() {
		if recover() == nil {
			t.Fatal("a template after the first New was accepted")
		}
	}()
	Template("late", func(*sql.DB) error { return nil })
}
