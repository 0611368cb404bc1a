package tx

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Class says what an error of the database means for the transaction it ended.
type Class string

// Classes of database errors, for MySQL and MariaDB alike.
const (
	Other       Class = "other"       // a bug or a broken statement: rolled back, reported as internal
	Retry       Class = "retry"       // deadlock, lock wait, NOWAIT, aborted: run the closure again
	Duplicate   Class = "duplicate"   // a unique key exists
	Check       Class = "check"       // a CHECK constraint refused the row
	Disconnect  Class = "disconnect"  // the connection is gone; before COMMIT nothing was committed
	Unavailable Class = "unavailable" // the server takes no work now: starting, stopping, full, read-only
)

var classes = map[uint16]Class{
	1213: Retry, // deadlock: the server has rolled the whole transaction back
	1205: Retry, // lock wait: only the statement was rolled back (NOWAIT on MariaDB too)
	3572: Retry, // NOWAIT on MySQL
	3101: Retry, // rolled back by group replication
	1180: Retry, // error during commit
	1062: Duplicate,
	3819: Check, // MySQL
	4025: Check, // MariaDB
	1040: Unavailable,
	1053: Unavailable, // shutting down
	1290: Unavailable, // read-only option
	1836: Unavailable, // read-only mode
	1792: Unavailable, // read-only transaction
	1203: Unavailable, // too many connections of this user
	1021: Unavailable, // disk full
	1114: Unavailable, // table full
	1927: Disconnect,  // killed, MariaDB
	3169: Disconnect,  // killed, MySQL
	4031: Disconnect,  // closed after idling
}

// ClassOf recognises an error, wrapped or not.
func ClassOf(err error) Class {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		if server.Number == 1317 && strings.Contains(server.Message, "transaction") {
			return Retry // a proxy ended the transaction
		}
		if server.Number == 1317 {
			return Disconnect // the statement was killed
		}
		if class, ok := classes[server.Number]; ok {
			return class
		}
		return Other
	}
	var network net.Error
	switch {
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Disconnect
	case errors.As(err, &network):
		return Disconnect
	}
	return Other
}

// Code is the server's error number, or zero.
func Code(err error) uint16 {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return server.Number
	}
	return 0
}

// Errors of the helper itself.
var (
	// ErrBusy ends a transaction that could not get its locks in a bounded number of tries: 503, retry later.
	ErrBusy = errors.New("the database is busy: locks were not free in time")
	// ErrUnavailable ends a transaction that found no working server: 503, retry later. Nothing was committed.
	ErrUnavailable = errors.New("the database takes no work now")
	// ErrOutcomeUnknown is returned when a COMMIT was sent, its answer was lost, and no server could be asked in time.
	// Ask again with the same key.
	ErrOutcomeUnknown = errors.New("the outcome is not known yet: ask again with the same key")
	// ErrPoisoned refuses statements after one has failed: on some errors the server has already rolled back.
	ErrPoisoned = errors.New("tx: a statement of this transaction has failed; return the error")
	// ErrLadder reports locks taken upwards: a bug, refused before the statement is sent.
	ErrLadder = errors.New("tx: lock order violated")
)
