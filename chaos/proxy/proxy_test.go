package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// stand is a database, a proxy before it, and a client that only knows the proxy.
type stand struct {
	direct *dbtest.DB
	proxy  *proxy.Proxy
	client *sql.DB
}

func newStand(t *testing.T) *stand {
	t.Helper()
	return standWith(t, func(*mysql.Config) {})
}

func standWith(t *testing.T, change func(*mysql.Config)) *stand {
	t.Helper()
	db := dbtest.New(t)
	db.Discard() // the tests make a table of their own
	if _, err := db.Exec("CREATE TABLE mark (id INT NOT NULL PRIMARY KEY, note VARCHAR(20) NOT NULL DEFAULT '')"); err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(db.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	config, err := mysql.ParseDSN(db.DSNThrough(p.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = &mysql.NopLogger{} // every test breaks connections on purpose
	change(config)
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	client := sql.OpenDB(connector)
	t.Cleanup(func() { _ = client.Close() })
	return &stand{direct: db, proxy: p, client: client}
}

// commit inserts a mark in a transaction through the proxy and returns what COMMIT said.
func (s *stand) commit(id int) error {
	tx, err := s.client.Begin()
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("INSERT INTO mark (id) VALUES (?)", id); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return tx.Commit()
}

// isThere asks past the proxy whether the mark was committed, by inserting it again: the insert waits behind a
// session that still decides, a plain read would not.
func (s *stand) isThere(t *testing.T, id int) bool {
	t.Helper()
	_, err := s.direct.Exec("INSERT INTO mark (id, note) VALUES (?, 'probe')", id)
	var known *mysql.MySQLError
	switch {
	case err == nil:
		return false
	case errors.As(err, &known) && known.Number == 1062:
		return true
	}
	t.Fatal(err)
	return false
}

func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

func errorNumber(err error) uint16 {
	var known *mysql.MySQLError
	if errors.As(err, &known) {
		return known.Number
	}
	return 0
}

// C6 in small: the client gets an error either way, and only the moment of the cut says what happened.
func TestCommitCutOnBothSides(t *testing.T) {
	s := newStand(t)
	for i := range 40 {
		when, committed := proxy.Before, false
		if i%2 == 1 {
			when, committed = proxy.Answered, true
		}
		rule := s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, When: when, Do: proxy.Cut, Times: 1})
		if err := s.commit(i); err == nil {
			t.Fatalf("round %d: COMMIT of a cut connection succeeded", i)
		}
		if rule.Fired() != 1 {
			t.Fatalf("round %d: rule fired %d times", i, rule.Fired())
		}
		if got := s.isThere(t, i); got != committed {
			t.Fatalf("round %d, cut at moment %d: committed %v, want %v", i, when, got, committed)
		}
	}
	s.proxy.ClearRules()
	if err := s.commit(1000); err != nil || !s.isThere(t, 1000) {
		t.Fatalf("without rules: %v", err)
	}
}

// Sent cuts the client while the statement is on its way: the server executes it.
func TestSentReachesTheServer(t *testing.T) {
	s := newStand(t)
	for i := range 20 {
		s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, When: proxy.Sent, Do: proxy.Cut, Times: 1})
		if err := s.commit(i); err == nil {
			t.Fatal("COMMIT of a cut connection succeeded")
		}
		if !s.isThere(t, i) {
			t.Fatalf("round %d: the COMMIT was lost on its way", i)
		}
	}
}

func TestSilence(t *testing.T) {
	s := standWith(t, func(c *mysql.Config) { c.ReadTimeout = 200 * time.Millisecond })
	t.Run("half-open: the server rolls back, the client hears nothing", func(t *testing.T) {
		s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, Do: proxy.HalfOpen, Times: 1})
		started := time.Now()
		if err := s.commit(1); err == nil {
			t.Fatal("COMMIT succeeded")
		}
		if waited := time.Since(started); waited < 150*time.Millisecond {
			t.Fatalf("the client learned it after %v: the connection was closed, not silent", waited)
		}
		if s.isThere(t, 1) {
			t.Fatal("committed")
		}
	})
	t.Run("frozen: the server's session lives on with its locks", func(t *testing.T) {
		s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, Do: proxy.Freeze, Times: 1})
		if err := s.commit(2); err == nil {
			t.Fatal("COMMIT succeeded")
		}
		probe := make(chan error, 1)
		go func() {
			_, err := s.direct.Exec("INSERT INTO mark (id) VALUES (2)")
			probe <- err
		}()
		select {
		case err := <-probe:
			t.Fatalf("the lock was gone while the session lived: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		s.proxy.CutAll()
		if err := <-probe; err != nil {
			t.Fatalf("after the cut the probe got %v", err)
		}
	})
}

// An injected deadlock ends the transaction, an injected lock timeout leaves it open, as the server does.
func TestInjectedErrors(t *testing.T) {
	s := newStand(t)
	second := regexp.MustCompile(`^INSERT INTO mark.*second`)
	for _, c := range []struct {
		name  string
		rule  proxy.Rule
		first bool // the first insert survives a COMMIT after the error
	}{
		{"1213 rolls back everything", proxy.Deadlock(second), false},
		{"1205 only the statement", proxy.Rule{Match: second, Times: 1, Do: proxy.Fail, Code: 1205}, true},
		{"3572 only the statement", proxy.Rule{Match: second, Times: 1, Do: proxy.Fail, Code: 3572}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := s.direct.Exec("DELETE FROM mark"); err != nil {
				t.Fatal(err)
			}
			rule := s.proxy.SetRule(c.rule)
			conn, err := s.client.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			run := func(statement string) error {
				_, err := conn.ExecContext(context.Background(), statement)
				return err
			}
			if err := errors.Join(run("BEGIN"), run("INSERT INTO mark VALUES (1, 'first')")); err != nil {
				t.Fatal(err)
			}
			if err := run("INSERT INTO mark VALUES (2, 'second')"); errorNumber(err) != c.rule.Code {
				t.Fatalf("got %v, want error %d", err, c.rule.Code)
			}
			if err := run("COMMIT"); err != nil {
				t.Fatal(err)
			}
			if got := s.isThere(t, 1); got != c.first {
				t.Fatalf("first insert committed %v, want %v", got, c.first)
			}
			if s.isThere(t, 2) || rule.Fired() != 1 {
				t.Fatalf("the refused statement reached the server, or the rule fired %d times", rule.Fired())
			}
		})
	}
}

// A COMMIT that succeeded but is answered with an error.
func TestErrorAfterTheFact(t *testing.T) {
	s := newStand(t)
	s.proxy.SetRule(proxy.Rule{Match: proxy.Commit, When: proxy.Answered, Do: proxy.Fail, Code: 1180, Times: 1})
	if err := s.commit(1); errorNumber(err) != 1180 {
		t.Fatalf("COMMIT said %v", err)
	}
	if !s.isThere(t, 1) {
		t.Fatal("the COMMIT did not happen")
	}
	rows := s.proxy.SetRule(proxy.Rule{Match: regexp.MustCompile("^SELECT"), When: proxy.Answered, Do: proxy.Fail, Code: 1180})
	var n int
	if err := s.client.QueryRow("SELECT 5").Scan(&n); err != nil || n != 5 || rows.Fired() != 0 {
		t.Fatalf("a result with rows must pass whole: %d %v, fired %d", n, err, rows.Fired())
	}
}

// The hook of C5: a connection killed at its N-th statement, for every N.
func TestCutAtEveryStatement(t *testing.T) {
	s := newStand(t)
	if err := s.client.Ping(); err != nil {
		t.Fatal(err)
	}
	s.proxy.ResetCounters()
	if err := s.commit(1); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, statement := range s.proxy.Statements() {
		texts = append(texts, statement.Text)
	}
	if want := []string{"START TRANSACTION", "INSERT INTO mark (id) VALUES (1)", "COMMIT"}; fmt.Sprint(texts) != fmt.Sprint(want) {
		t.Fatalf("the transaction was %q", texts)
	}
	for n := 2; n <= len(texts); n++ {
		for _, when := range []proxy.Moment{proxy.Before, proxy.Answered} {
			id := 10*n + int(when)
			if err := s.client.Ping(); err != nil { // the connection and its session settings come first
				t.Fatal(err)
			}
			rule := s.proxy.SetRule(proxy.At(n, when))
			if err := s.commit(id); err == nil || rule.Fired() != 1 {
				t.Fatalf("statement %d, moment %d: %v, fired %d", n, when, err, rule.Fired())
			}
			last := n == len(texts) && when == proxy.Answered
			if got := s.isThere(t, id); got != last {
				t.Fatalf("statement %d, moment %d: committed %v, want %v", n, when, got, last)
			}
		}
	}
}

func TestPreparedStatementsAreKnownByTheirText(t *testing.T) {
	s := standWith(t, func(c *mysql.Config) { c.InterpolateParams = false })
	statement, err := s.client.Prepare("INSERT INTO mark (id) VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	defer statement.Close()
	insert := regexp.MustCompile(`^INSERT INTO mark`)
	rule := s.proxy.SetRule(proxy.Rule{Match: insert, After: 1, Times: 1, Do: proxy.Fail, Code: 1205})
	for i, want := range []uint16{0, 1205, 0} {
		if _, err := statement.Exec(i); errorNumber(err) != want {
			t.Fatalf("execution %d: %v, want %d", i, err, want)
		}
	}
	if rule.Fired() != 1 || s.proxy.Count(insert) != 3 {
		t.Fatalf("fired %d, counted %d", rule.Fired(), s.proxy.Count(insert))
	}
}

func TestDelays(t *testing.T) {
	s := newStand(t)
	took := func(f func() error) time.Duration {
		t.Helper()
		started := time.Now()
		if err := f(); err != nil {
			t.Fatal(err)
		}
		return time.Since(started)
	}
	ping := func() error { _, err := s.client.Exec("DO 1"); return err }
	took(ping)
	for _, when := range []proxy.Moment{proxy.Before, proxy.Answered} {
		s.proxy.SetRule(proxy.Rule{When: when, Do: proxy.Wait, Delay: 80 * time.Millisecond, Times: 1})
		if d := took(ping); d < 80*time.Millisecond {
			t.Fatalf("moment %d delayed by %v", when, d)
		}
	}
	s.proxy.ClearRules()
	s.proxy.SetLink(proxy.Link{Latency: 30 * time.Millisecond})
	if d := took(ping); d < 60*time.Millisecond {
		t.Fatalf("latency both ways made %v", d)
	}
	s.proxy.SetLink(proxy.Link{BytesPerSecond: 100_000})
	slow := func() error {
		var text string
		return s.client.QueryRow("SELECT REPEAT('x', 20000)").Scan(&text)
	}
	if d := took(slow); d < 200*time.Millisecond {
		t.Fatalf("20 kB at 100 kB/s took %v", d)
	}
	s.proxy.SetLink(proxy.Link{})
	if d := took(ping); d > 50*time.Millisecond {
		t.Fatalf("a healed link takes %v", d)
	}
}

func TestOneWayCutAndRefusal(t *testing.T) {
	s := standWith(t, func(c *mysql.Config) { c.ReadTimeout = 150 * time.Millisecond })
	if err := s.client.Ping(); err != nil {
		t.Fatal(err)
	}
	s.proxy.SetLink(proxy.Link{DropToClient: true})
	if _, err := s.client.Exec("INSERT INTO mark (id) VALUES (1)"); err == nil {
		t.Fatal("an answer came through")
	}
	if !s.isThere(t, 1) {
		t.Fatal("the way to the server was cut too")
	}
	s.proxy.SetLink(proxy.Link{})
	if err := s.client.Ping(); err != nil {
		t.Fatal(err)
	}
	s.proxy.SetLink(proxy.Link{DropToServer: true})
	if _, err := s.client.Exec("INSERT INTO mark (id) VALUES (2)"); err == nil || s.isThere(t, 2) {
		t.Fatalf("the statement came through: %v", err)
	}
	s.proxy.SetLink(proxy.Link{Refuse: true})
	s.proxy.CutAll()
	if err := s.client.Ping(); err == nil {
		t.Fatal("connected to a refusing proxy")
	}
	s.proxy.SetLink(proxy.Link{})
	if err := s.client.Ping(); err != nil {
		t.Fatal(err)
	}
}

func TestLargeResultsAndStatementsPassUnchanged(t *testing.T) {
	s := standWith(t, func(c *mysql.Config) { c.MaxAllowedPacket = 48 << 20 })
	for _, length := range []int{0, 1, 1<<16 - 1, 1 << 20, 1<<24 - 1, 17 << 20} {
		var got, sum string
		query := fmt.Sprintf("SELECT REPEAT('y', %d), SHA2(REPEAT('y', %d), 256)", length, length)
		if err := s.client.QueryRow(query).Scan(&got, &sum); err != nil || len(got) != length {
			t.Fatalf("%d bytes: got %d, %v", length, len(got), err)
		}
		var back string
		if err := s.client.QueryRow("SELECT SHA2(?, 256)", got).Scan(&back); err != nil || back != sum {
			t.Fatalf("%d bytes sent: digest %q, want %q (%v)", length, back, sum, err)
		}
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	db := dbtest.New(t)
	if err := db.Ping(); err != nil { // the driver and the pool have their goroutines now
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	p, err := proxy.New(db.Address())
	if err != nil {
		t.Fatal(err)
	}
	client, err := sql.Open("mysql", db.DSNThrough(p.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	p.SetRule(proxy.Rule{Match: regexp.MustCompile("SLEEP"), Do: proxy.Freeze})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := client.ExecContext(ctx, "DO SLEEP(0)"); err == nil {
		t.Fatal("a frozen statement was answered")
	}
	within(t, time.Second, "frozen session", func() bool { return p.Connections() == 1 })
	_ = client.Close()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before)
}
