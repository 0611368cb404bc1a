package tx_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// stand is a database, a proxy before it, and a writer that only knows the proxy.
type stand struct {
	testing.TB
	*tx.DB
	direct *dbtest.DB
	proxy  *proxy.Proxy
	ns     uint64
	app    uint64
	key    uint64

	mu     sync.Mutex
	events []tx.Event
}

// newStand opens a writer with a few connections; parameters are added to its DSN, "&readTimeout=1s".
func newStand(t testing.TB, connections int, parameters string) *stand {
	t.Helper()
	d := dbtest.New(t)
	if _, err := d.Exec("DO 0"); err != nil { // the driver's own goroutines are there before the leak check begins
		t.Fatal(err)
	}
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if !parallel(t) {
			goleak.VerifyNone(t, leaks)
		}
	})
	p, err := proxy.New(d.Address())
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	s := &stand{TB: t, direct: d, proxy: p}
	s.bootstrap()
	s.DB, err = tx.Open(d.DSNThrough(p.Addr())+parameters, connections)
	must(t, err)
	s.DB.Observe = func(e tx.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, e)
	}
	t.Cleanup(s.finish)
	return s
}

// parallel: a leak check would see the goroutines of the other tests.
func parallel(t testing.TB) bool { return strings.HasPrefix(t.Name(), "TestParallel") }

func (s *stand) bootstrap() {
	writer, err := tx.Open(s.direct.DSN(), 2)
	must(s, err)
	defer writer.Close()
	reader, err := tx.OpenReader(s.direct.DSN(), 2)
	must(s, err)
	defer reader.Close()
	issued, err := auth.NewService(writer, reader, auth.NewVerifier(reader)).Bootstrap(context.Background(), "test", "app", "key", auth.AllScopes)
	must(s, err)
	s.ns, s.app, s.key = issued.Key.Namespace, issued.Application, issued.ID
}

// finish holds every test to this: no connection stays in use.
func (s *stand) finish() {
	for deadline := time.Now().Add(2 * time.Second); s.Stats().InUse > 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	if n := s.Stats().InUse; n > 0 {
		s.Errorf("%d connections still in use", n)
	}
	must(s, s.DB.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run is one transaction with a lock on the way and audit rows as its effect.
func (s *stand) run(ctx context.Context, ids ...[]byte) error {
	return s.Run(ctx, s.ns, "test", func(ctx context.Context, b tx.Begun) error {
		return s.climbAndWrite(ctx, b, ids...)
	})
}

func (s *stand) climbAndWrite(ctx context.Context, b tx.Begun, ids ...[]byte) error {
	_, _, identified, err := b.LockIdentity(ctx, []uint64{s.key}, nil)
	if err != nil {
		return err
	}
	if _, _, err = identified.LockQuotas(ctx, []uint64{s.app}); err != nil {
		return err
	}
	return s.write(ctx, b.Tx, ids...)
}

func (s *stand) write(ctx context.Context, t *tx.Tx, ids ...[]byte) error {
	rows := make([]db.InsertAuditParams, len(ids))
	for i, id := range ids {
		rows[i] = s.audit(id)
	}
	return tx.Many(ctx, t, tx.Rows((*db.Queries).InsertAudit), rows)
}

func (s *stand) audit(id []byte) db.InsertAuditParams {
	return db.InsertAuditParams{
		NamespaceID: s.ns, AuditID: id, ApplicationID: s.app, OperationID: id, Actor: []byte("test"), Action: []byte("effect"), Subject: []byte("x"),
		At: time.Now().UTC(), Detail: []byte("{}"),
	}
}

func effect() []byte {
	id := store.NewID()
	return id[:]
}

// effects is how many rows of the ids exist.
func (s *stand) effects(ids ...[]byte) int {
	s.Helper()
	n := 0
	for _, id := range ids {
		var found int
		must(s, s.direct.QueryRow("SELECT COUNT(*) FROM audit WHERE namespace_id = ? AND audit_id = ?", s.ns, id).Scan(&found))
		n += found
	}
	return n
}

func (s *stand) count(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// forget clears rules, log and events, so that a test may count from here.
func (s *stand) forget() {
	s.proxy.ClearRules()
	s.proxy.ResetCounters()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = nil
}

var (
	quotaLock = regexp.MustCompile(`(?s)FROM quota .*FOR UPDATE`)
	rollback  = regexp.MustCompile(`^ROLLBACK$`)
)

// after lists what reached the proxy on one connection after the n-th statement that matches.
func (s *stand) after(match *regexp.Regexp, n int) []string {
	var texts []string
	connection := 0
	for _, statement := range s.proxy.Statements() {
		if connection == 0 && match.MatchString(statement.Text) {
			if n--; n == 0 {
				connection = statement.Connection
			}
			continue
		}
		if statement.Connection == connection {
			texts = append(texts, statement.Text)
		}
	}
	return texts
}
