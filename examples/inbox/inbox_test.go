package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/orbitrun/orbit/orbittest"
	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/worker"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shop makes a database for the business beside Orbit's.
func shop(t *testing.T, s *orbittest.Server) (dsn string, db *sql.DB) {
	t.Helper()
	config, err := mysql.ParseDSN(s.Database)
	must(t, err)
	orbits, err := sql.Open("mysql", s.Database)
	must(t, err)
	_, err = orbits.ExecContext(t.Context(), "CREATE DATABASE shop")
	must(t, err)
	must(t, orbits.Close())
	config.DBName = "shop"
	db, err = sql.Open("mysql", config.FormatDSN())
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return config.FormatDSN(), db
}

// Consumers are killed eight times while they book 400 results, and the server once: every result is booked exactly once.
func TestEveryResultIsBookedOnce(t *testing.T) {
	const sales, kills = 400, 8
	s := orbittest.New(t)
	s.Queue("sales")
	dsn, db := shop(t, s)
	_, err := s.Client.PutSubscription(t.Context(), "ledger", orbit.SubscriptionSettings{Queues: []string{"sales"}, AckTimeout: time.Second, GenerationsMax: 100})
	must(t, err)
	binary := filepath.Join(t.TempDir(), "inbox")
	if said, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	hire := func() *exec.Cmd {
		cmd := exec.Command(binary, "-url", s.URL, "-key", s.Key, "-database", dsn)
		must(t, cmd.Start())
		return cmd
	}
	consumer := hire()
	defer func() { _ = consumer.Process.Kill(); _ = consumer.Wait() }()

	w := worker.New(s.Client, worker.Options{Queues: []string{"sales"}})
	worker.Handle(w, "sell", "1", func(_ context.Context, _ *worker.Task, n int64) (sale, error) {
		if n%50 == 49 {
			return sale{}, worker.Permanent(fmt.Errorf("sold out"), "sold_out")
		}
		return sale{fmt.Sprint("customer-", n%7), n}, nil
	})
	working, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(working) }()
	defer func() { stop(); must(t, <-done) }()

	want := map[string]int64{}
	for n := int64(0); n < sales; n++ {
		if n%50 != 49 {
			want[fmt.Sprint("customer-", n%7)] += n
		}
		_, err := s.Client.Submit(t.Context(), orbit.Submission{SubmitKey: fmt.Sprint("sale-", n), Queue: "sales", Handler: "sell", HandlerVersion: "1",
			Input: json.RawMessage(fmt.Sprint(n)), Deadline: time.Hour, AttemptTimeout: time.Minute, Lost: orbit.LostRetry, Retry: orbit.Fixed(5, 0)})
		must(t, err)
		if n%(sales/kills) == sales/kills-1 { // in the middle of whatever it does
			must(t, consumer.Process.Kill())
			_ = consumer.Wait()
			consumer = hire()
		}
		if n == sales/2 {
			s.Kill()
			s.Start()
		}
	}
	booked := 0
	for deadline := time.Now().Add(time.Minute); booked < sales; time.Sleep(50 * time.Millisecond) {
		must(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM inbox").Scan(&booked))
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d results are booked", booked, sales)
		}
	}
	rows, err := db.QueryContext(t.Context(), "SELECT name, cents FROM account")
	must(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var cents int64
		must(t, rows.Scan(&name, &cents))
		if cents != want[name] {
			t.Errorf("%s has %d, not %d", name, cents, want[name])
		}
		delete(want, name)
	}
	must(t, rows.Err())
	if len(want) != 0 || booked != sales {
		t.Errorf("%d results booked, missing accounts %v", booked, want)
	}
	settled(t, s, sales)
	t.Logf("%d results, %d consumers and a server killed: booked %d, each once", sales, kills, booked)
}

// settled waits until the last acknowledgement is in.
func settled(t *testing.T, s *orbittest.Server, through int64) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		got, err := s.Client.GetSubscription(t.Context(), "ledger")
		must(t, err)
		if got.PendingCount == 0 && got.SettledThrough >= through {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still pending: %+v", got)
		}
	}
}
