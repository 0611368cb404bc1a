package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/orbitrun/orbit/orbittest"
	orbit "github.com/orbitrun/orbit/sdk"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shop makes a database for the business beside Orbit's.
func shop(t *testing.T, s *orbittest.Server) (string, *box) {
	t.Helper()
	config, err := mysql.ParseDSN(s.Database)
	must(t, err)
	orbits, err := sql.Open("mysql", s.Database)
	must(t, err)
	_, err = orbits.ExecContext(t.Context(), "CREATE DATABASE shop")
	must(t, err)
	must(t, orbits.Close())
	config.DBName = "shop"
	b, err := openBox(t.Context(), config.FormatDSN())
	must(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return config.FormatDSN(), b
}

func (b *box) count(t *testing.T, where string, args ...any) (n int) {
	t.Helper()
	must(t, b.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM outbox WHERE "+where, args...).Scan(&n))
	return n
}

func TestOutbox(t *testing.T) {
	s := orbittest.New(t)
	s.Queue("charges")
	dsn, b := shop(t, s)
	t.Run("one task an order", func(t *testing.T) { oneTaskAnOrder(t, s, dsn, b) })
	t.Run("an overtaken relay confirms nothing", func(t *testing.T) { overtaken(t, s, b) })
	t.Run("the budget ends in review", func(t *testing.T) { budget(t, s, b) })
}

// Relays are killed ten times and the server once while 300 orders are placed: 300 tasks, each accepted under the key it
// was written with.
func oneTaskAnOrder(t *testing.T, s *orbittest.Server, dsn string, b *box) {
	const orders, kills = 300, 10
	binary := filepath.Join(t.TempDir(), "outbox")
	if said, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	hire := func() *exec.Cmd {
		cmd := exec.Command(binary, "-url", s.URL, "-key", s.Key, "-database", dsn, "-lease", "1s")
		must(t, cmd.Start())
		return cmd
	}
	relays := []*exec.Cmd{hire(), hire()}
	end := func(c *exec.Cmd) { _ = c.Process.Kill(); _ = c.Wait() }
	defer func() { end(relays[0]); end(relays[1]) }()
	for n := range orders {
		must(t, b.Place(t.Context(), fmt.Sprintf("order-%03d", n), int64(n)))
		if n%(orders/kills) == orders/kills-1 {
			i := n / (orders / kills) % 2
			end(relays[i])
			relays[i] = hire()
		}
		if n == orders/2 {
			s.Kill()
			s.Start()
		}
	}
	for deadline := time.Now().Add(time.Minute); b.count(t, "state = 'ACCEPTED'") < orders; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d are accepted, %d wait for a person", b.count(t, "state = 'ACCEPTED'"), orders, b.count(t, "state = 'REVIEW'"))
		}
	}
	tasks := map[string]string{}
	for task, err := range s.Client.ListTasks(t.Context(), orbit.TaskFilter{Queue: "charges"}) {
		must(t, err)
		got, err := s.Client.GetTask(t.Context(), task.TaskID)
		must(t, err)
		tasks[string(got.Input)] = task.TaskID
		if b.count(t, "task_id = ? AND request = ?", task.TaskID, []byte(got.Input)) != 1 {
			t.Errorf("task %s with %s belongs to no command", task.TaskID, got.Input)
		}
	}
	if len(tasks) != orders {
		t.Errorf("%d different tasks for %d orders", len(tasks), orders)
	}
	t.Logf("%d orders, %d relays and a server killed: %d tasks, tries used at most %d", orders, kills, len(tasks), maxTries(t, b))
}

func maxTries(t *testing.T, b *box) (n int) {
	must(t, b.QueryRowContext(t.Context(), "SELECT MAX(tries) FROM outbox").Scan(&n))
	return n
}

// A relay stands still behind its request until its lease is over and another relay has sent the same command: both got
// the same task, and only the newer one may say so.
func overtaken(t *testing.T, s *orbittest.Server, b *box) {
	must(t, b.Place(t.Context(), "order-slow", 1))
	slow, err := b.Take(t.Context(), time.Millisecond)
	must(t, err)
	var second *command
	old := &relay{box: b, client: s.Client, sent: func(*command) {
		time.Sleep(20 * time.Millisecond)
		second, err = b.Take(t.Context(), time.Minute)
		must(t, err)
		must(t, (&relay{box: b, client: s.Client}).Send(t.Context(), second))
	}}
	if err := old.Send(t.Context(), slow); !errors.Is(err, ErrOvertaken) {
		t.Errorf("an overtaken relay is answered %v", err)
	}
	if second.key != slow.key || second.generation != slow.generation+1 || b.count(t, "order_id = 'order-slow' AND state = 'ACCEPTED'") != 1 {
		t.Errorf("first %+v, then %+v", slow, second)
	}
}

// A hundred tries or a day later a person decides. The key and the request are what they were; a request that Orbit
// refuses goes to a person at once.
func budget(t *testing.T, s *orbittest.Server, b *box) {
	nowhere, err := orbit.New("http://127.0.0.1:1", s.Key, orbit.WithRetryFor(0))
	must(t, err)
	must(t, b.Place(t.Context(), "order-tired", 1))
	must(t, b.Place(t.Context(), "order-old", 1))
	_, err = b.ExecContext(t.Context(), "UPDATE outbox SET created_at = created_at - INTERVAL 24 HOUR WHERE order_id = 'order-old'")
	must(t, err)
	keys := func() (text string) {
		must(t, b.QueryRowContext(t.Context(), "SELECT GROUP_CONCAT(submit_key, request ORDER BY order_id) FROM outbox WHERE order_id IN ('order-tired', 'order-old')").Scan(&text))
		return text
	}
	before := keys()
	r := &relay{box: b, client: nowhere}
	for range TriesMax + 10 {
		_, err = b.ExecContext(t.Context(), "UPDATE outbox SET lease_until = UTC_TIMESTAMP(6) WHERE state = 'PENDING'") // the waits are over
		must(t, err)
		c, err := b.Take(context.Background(), time.Second)
		must(t, err)
		if c != nil {
			_ = r.Send(t.Context(), c)
		}
	}
	if b.count(t, "order_id = 'order-tired' AND state = 'REVIEW' AND tries = 100") != 1 || b.count(t, "order_id = 'order-old' AND state = 'REVIEW' AND tries = 0") != 1 {
		t.Error("the budgets did not end in review")
	}
	if keys() != before {
		t.Error("a key or a request was changed")
	}
	_, err = b.ExecContext(t.Context(), "UPDATE outbox SET state = 'PENDING', tries = 0, created_at = UTC_TIMESTAMP(6), target = 'nowhere' WHERE order_id = 'order-old'")
	must(t, err) // as a person would not: the queue does not exist
	c, err := b.Take(t.Context(), time.Second)
	must(t, err)
	if err := (&relay{box: b, client: s.Client}).Send(t.Context(), c); err == nil || !strings.Contains(err.Error(), "queue_unknown") {
		t.Errorf("refused with %v", err)
	}
	if b.count(t, "order_id = 'order-old' AND state = 'REVIEW' AND problem LIKE '%queue_unknown%'") != 1 {
		t.Error("a refused request is not with a person")
	}
}
