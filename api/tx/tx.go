package tx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/orbitrun/orbit/gen/db"
)

var errBadConn = driver.ErrBadConn

// Tx is one running transaction. Its rungs (ladder.go) are what closures hold.
type Tx struct {
	conn       *sql.Conn
	q          *db.Queries
	namespace  uint64
	name       string
	command    uuid.UUID
	statements int
	savepoints int
	rung       Rung
	now        time.Time
	wrote      bool
	broken     error
}

func newTx(conn *sql.Conn, namespace uint64, name string) *Tx {
	t := &Tx{conn: conn, namespace: namespace, name: name, command: newCommand()}
	t.q = db.New(guard{t})
	return t
}

// Namespace is the one namespace of the transaction.
func (t *Tx) Namespace() uint64 { return t.namespace }

// Queries are the named statements that lock nothing by themselves; locking ones are reached through the rungs only
// (make rules refuses a Lock… call outside this package).
func (t *Tx) Queries() *db.Queries { return t.q }

// Now is the database's time, read once: by LockQueues, or by Clock where no queue is locked.
func (t *Tx) Now() time.Time { return t.now }

// Clock reads the database's time once. Call it after the last lock that may wait.
func (t *Tx) Clock(ctx context.Context) (time.Time, error) {
	if !t.now.IsZero() {
		return t.now, nil
	}
	err := guard{t}.QueryRowContext(ctx, "SELECT SYSDATE(6)").Scan(&t.now)
	return t.now, err
}

// Savepoint runs fn so that its writes can be taken back alone. After a deadlock or a lost connection there is
// nothing to go back to, and the error ends the whole transaction.
func (t *Tx) Savepoint(ctx context.Context, fn func() error) error {
	t.savepoints++
	name := fmt.Sprintf("orbit_%d", t.savepoints)
	g := guard{t}
	if _, err := g.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		return nil
	}
	if Code(err) == deadlock || Code(t.broken) == deadlock || ClassOf(err) == Disconnect {
		return err
	}
	t.broken = nil
	if _, back := g.ExecContext(ctx, "ROLLBACK TO SAVEPOINT "+name); back != nil {
		return back
	}
	return err
}

// deadlock is the one server error after which the transaction no longer exists, savepoints included. It may come in
// the middle of a result, where only the reader of the rows sees it.
const deadlock = 1213

// cause is what broke the transaction, when all fn has to say is that it was broken.
func (t *Tx) cause(err error) error {
	if t.broken != nil && (errors.Is(err, ErrPoisoned) || errors.Is(err, context.Canceled)) {
		return t.broken
	}
	return err
}

// guard counts statements and refuses them once one has failed.
type guard struct{ t *Tx }

func (g guard) before() error {
	if g.t.broken != nil {
		return ErrPoisoned
	}
	g.t.statements++
	return nil
}

func (g guard) after(err error) error {
	if err != nil {
		g.t.broken = err
	}
	return err
}

func (g guard) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	if err := g.before(); err != nil {
		return nil, err
	}
	g.t.wrote = g.t.wrote || !strings.Contains(statement, "SAVEPOINT")
	result, err := g.t.conn.ExecContext(ctx, statement, args...)
	return result, g.after(err)
}

func (g guard) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	if err := g.before(); err != nil {
		return nil, err
	}
	rows, err := g.t.conn.QueryContext(ctx, statement, args...)
	return rows, g.after(err)
}

// QueryRowContext has no error to return before Scan, so a poisoned transaction answers through a context that is
// already over: nothing is sent, and Scan says so.
func (g guard) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	if g.before() != nil {
		over, cancel := context.WithCancel(ctx)
		cancel()
		return g.t.conn.QueryRowContext(over, statement, args...)
	}
	row := g.t.conn.QueryRowContext(ctx, statement, args...)
	_ = g.after(row.Err())
	return row
}

func (g guard) PrepareContext(ctx context.Context, statement string) (*sql.Stmt, error) {
	return nil, fmt.Errorf("tx: statements are interpolated, not prepared: %s", statement)
}
