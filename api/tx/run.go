package tx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"github.com/orbitrun/orbit/gen/db"
)

// Event is one thing worth counting: a retry by code, an unknown commit and how it was resolved, a commit.
type Event struct {
	Transaction string // name given to Run
	Kind        string // commit, rollback, retry, unknown_committed, unknown_rolled_back, unknown
	Code        uint16 // server error number of a retry
	Statements  int
}

// DB runs transactions. Observe may be nil.
type DB struct {
	pool    *sql.DB
	Observe func(Event)
}

// Tries bounds how often a closure runs; the waits between grow from 2 ms to 250 ms with jitter.
const Tries = 8

// resolveFor bounds the search for a server that can say whether a COMMIT happened.
const resolveFor = 20 * time.Second

// Open opens the writers' pool of a node.
func Open(dsn string, connections int) (*DB, error) { return OpenShifted(dsn, connections, nil) }

// OpenShifted opens writers that see the time of a shift.
func OpenShifted(dsn string, connections int, shift *Shift) (*DB, error) {
	pool, err := open(dsn, connections, silence, shift, readCommitted, noAutocommit)
	if err != nil {
		return nil, err
	}
	return &DB{pool: pool}, nil
}

// Close closes the pool.
func (d *DB) Close() error { return d.pool.Close() }

// Stats are those of the pool.
func (d *DB) Stats() sql.DBStats { return d.pool.Stats() }

// Run runs one transaction of one namespace. The name feeds metrics. fn may run more than once and must touch nothing
// outside itself that it does not overwrite on every run. It never nests. A nil return means committed; ErrBusy and
// ErrUnavailable mean nothing was committed; ErrOutcomeUnknown means ask again with the same key; any other error is
// fn's own, rolled back.
func (d *DB) Run(ctx context.Context, namespace uint64, name string, fn func(context.Context, Begun) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval, wait.Multiplier = 2*time.Millisecond, 250*time.Millisecond, 2.5
	for try := 1; ; try++ {
		again, err := d.once(ctx, namespace, name, fn)
		if !again {
			return err
		}
		if try == Tries {
			return giveUp(err)
		}
		d.observe(Event{Transaction: name, Kind: "retry", Code: Code(err)})
		if sleep(ctx, wait.NextBackOff()) != nil {
			return giveUp(err)
		}
	}
}

func giveUp(err error) error {
	if ClassOf(err) == Retry {
		return fmt.Errorf("%w (%v)", ErrBusy, err)
	}
	return fmt.Errorf("%w (%v)", ErrUnavailable, err)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// once is one try; again asks for another.
func (d *DB) once(ctx context.Context, namespace uint64, name string, fn func(context.Context, Begun) error) (again bool, err error) {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return judge(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	t := newTx(conn, namespace, name)
	ended := false
	defer func() {
		if !ended { // a panic: what it left on the connection must meet nobody
			discard(conn)
		}
	}()
	err = fn(ctx, Begun{t})
	ended = true
	switch {
	case err != nil:
		d.rollback(conn, t)
		return judge(ctx, t.cause(err))
	case t.broken != nil:
		d.rollback(conn, t)
		return judge(ctx, fmt.Errorf("%w: %w", ErrPoisoned, t.broken))
	case !t.wrote:
		d.rollback(conn, t)
		return false, nil
	}
	return d.commit(ctx, conn, t)
}

// judge says whether an error before COMMIT asks for another try, and names what a caller must be told when there is
// no time left for one.
func judge(ctx context.Context, err error) (again bool, _ error) {
	switch class := ClassOf(err); {
	case class == Retry:
		return true, err
	case class != Disconnect && class != Unavailable:
		return false, err
	case ctx.Err() != nil:
		return false, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return true, err
}

func (d *DB) commit(ctx context.Context, conn *sql.Conn, t *Tx) (again bool, err error) {
	if _, err := t.q.InsertTxCommand(ctx, db.InsertTxCommandParams{NamespaceID: t.namespace, CommandID: t.command[:]}); err != nil {
		d.rollback(conn, t)
		return ClassOf(err) != Other, err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	if err == nil {
		d.observe(Event{Transaction: t.name, Kind: "commit", Statements: t.statements + 1})
		return false, nil
	}
	discard(conn)
	return d.resolve(t)
}

// resolve finds out whether a COMMIT whose answer was lost has happened.
func (d *DB) resolve(t *Tx) (again bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), resolveFor)
	defer cancel()
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 10*time.Millisecond, time.Second
	for {
		committed, err := d.committed(ctx, t)
		switch {
		case err == nil && committed:
			d.observe(Event{Transaction: t.name, Kind: "unknown_committed"})
			return false, nil
		case err == nil:
			d.observe(Event{Transaction: t.name, Kind: "unknown_rolled_back"})
			return true, errors.New("the transaction was rolled back by a lost connection")
		}
		if sleep(ctx, wait.NextBackOff()) != nil {
			d.observe(Event{Transaction: t.name, Kind: "unknown"})
			return false, ErrOutcomeUnknown
		}
	}
}

// committed inserts the transaction's own command once more. The insert is never committed.
func (d *DB) committed(ctx context.Context, t *Tx) (bool, error) {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	_, err = db.New(conn).InsertTxCommand(ctx, db.InsertTxCommandParams{NamespaceID: t.namespace, CommandID: t.command[:]})
	d.rollback(conn, t)
	if ClassOf(err) == Duplicate {
		return true, nil
	}
	return false, err
}

// rollback ends the transaction explicitly: after 1205 the server has rolled back only the statement. A connection
// that cannot say ROLLBACK is thrown away, and with it whatever it held.
func (d *DB) rollback(conn *sql.Conn, t *Tx) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		discard(conn)
	}
	d.observe(Event{Transaction: t.name, Kind: "rollback", Statements: t.statements})
}

func discard(conn *sql.Conn) { _ = conn.Raw(func(any) error { return errBadConn }) }

func (d *DB) observe(e Event) {
	if d.Observe != nil {
		d.Observe(e)
	}
}

func newCommand() uuid.UUID { return uuid.Must(uuid.NewV7()) }
