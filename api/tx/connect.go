package tx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Config reads a go-sql-driver DSN and sets what Orbit relies on (Configure).
func Config(dsn string) (*mysql.Config, error) {
	cfg, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	return cfg, Configure(cfg)
}

func parse(dsn string) (*mysql.Config, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("database URL is not a go-sql-driver DSN (user:password@tcp(host:port)/database): %w", err)
	}
	return cfg, nil
}

// Configure sets what every connection to an Orbit database runs with: UTC, found rows, interpolation (one round trip a
// statement), refusal of read-only servers, time-outs where none are given, and microseconds cut here, because MySQL
// would round a finer fraction and MariaDB would cut it.
func Configure(cfg *mysql.Config) error {
	cfg.ParseTime, cfg.Loc = true, time.UTC
	cfg.InterpolateParams, cfg.ClientFoundRows, cfg.RejectReadOnly = true, true, true
	cfg.MultiStatements, cfg.AllowAllFiles = false, false
	cfg.Collation = "utf8mb4_bin"
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	cfg.Params["time_zone"] = "'+00:00'"
	setDefault(&cfg.Timeout, 5*time.Second)
	setDefault(&cfg.ReadTimeout, 30*time.Second)
	setDefault(&cfg.WriteTimeout, 30*time.Second)
	return cfg.Apply(mysql.TimeTruncate(time.Microsecond))
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// connector gives every connection its session once: READ COMMITTED, and for writers no autocommit, so that a
// transaction costs no BEGIN and a statement after a lost transaction can never commit itself.
type connector struct {
	driver.Connector
	session []string
	shift   *Shift // nil: the clock is what it is
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, statement := range c.session {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, statement, nil); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	if c.shift == nil {
		return conn, nil
	}
	return shifted{conn.(serverConn), c.shift}, nil
}

const (
	readCommitted = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
	// A lock is waited for five seconds and not the server's fifty: the transaction behind a call that has given up
	// would hold what it has for as long, and everybody behind it.
	noAutocommit = "SET SESSION autocommit = 0, SESSION innodb_lock_wait_timeout = 5"
)

// OpenReader opens a pool for single-statement reads; nothing is locked and nothing is written through it.
func OpenReader(dsn string, connections int) (*sql.DB, error) {
	return OpenShiftedReader(dsn, connections, nil)
}

// OpenShiftedReader opens a reader that sees the time of a shift.
func OpenShiftedReader(dsn string, connections int, shift *Shift) (*sql.DB, error) {
	return open(dsn, connections, 0, shift, readCommitted)
}

// silence is how long a writer believes a server that says nothing: longer than any wait for a lock, and no longer than
// a lane can stand still when the other end of its connection has gone without a word.
const silence = 8 * time.Second

// open's patience is how long a read may be silent; zero means what every connection has.
func open(dsn string, connections int, patience time.Duration, shift *Shift, session ...string) (*sql.DB, error) {
	cfg, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	setDefault(&cfg.ReadTimeout, patience)
	if err := Configure(cfg); err != nil {
		return nil, err
	}
	inner, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector{inner, session, shift})
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxLifetime(4 * time.Minute)
	return pool, nil
}
