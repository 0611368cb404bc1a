package tx

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Shift moves the time that a node reads from its database: tests of schedules, delays and deadlines need not wait. All
// that Orbit decides by time rests on the database's clock, so moving what is read of it moves everything; nothing else
// of the database changes. It is for one node with a database of its own. Keep, when set, stores how far the time was
// moved before it is moved, so that a node that starts again does not fall back.
type Shift struct {
	Keep   func(time.Duration) error
	micros atomic.Int64
}

// Advance moves the time on. It never goes back: rows of the future would be left behind.
func (s *Shift) Advance(d time.Duration) error {
	d = max(d, 0)
	if s.Keep != nil {
		if err := s.Keep(s.By() + d); err != nil {
			return err
		}
	}
	s.micros.Add(d.Microseconds())
	return nil
}

// By is how far the time has been moved.
func (s *Shift) By() time.Duration { return time.Duration(s.micros.Load()) * time.Microsecond }

// clocks are the spellings of the clock in sql/queries and in this package.
var clocks = []string{"SYSDATE(6)", "NOW(6)"}

// move rewrites a statement to read the moved clock.
func (s *Shift) move(statement string) string {
	by := s.micros.Load()
	if by == 0 {
		return statement
	}
	for _, clock := range clocks {
		statement = strings.ReplaceAll(statement, clock, fmt.Sprintf("(%s + INTERVAL %d MICROSECOND)", clock, by))
	}
	return statement
}

// serverConn is all that the driver's connections can do and database/sql asks for.
type serverConn interface {
	driver.Conn
	driver.Pinger
	driver.ExecerContext
	driver.QueryerContext
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.NamedValueChecker
	driver.SessionResetter
	driver.Validator
}

// shifted is a connection to a database whose clock is moved.
type shifted struct {
	serverConn
	by *Shift
}

func (c shifted) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.serverConn.ExecContext(ctx, c.by.move(query), args)
}

func (c shifted) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.serverConn.QueryContext(ctx, c.by.move(query), args)
}

func (c shifted) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.serverConn.PrepareContext(ctx, c.by.move(query))
}
