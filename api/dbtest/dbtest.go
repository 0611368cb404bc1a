package dbtest

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// DB is one test's own database: the whole schema, no rows but the template's.
type DB struct {
	*sql.DB
	Name string

	config *mysql.Config
	lease  *lease
}

// New returns an empty database with the schema of sql/schema, or of the registered Template. It belongs to t alone
// and needs no closing. A connection that is still in use when t ends fails t: it would be a leak in the code under
// test.
func New(t testing.TB) *DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupSecondsMax*time.Second)
	defer cancel()
	lease, err := acquire(ctx)
	if err != nil {
		t.Fatalf("test database: %v", err)
	}
	config := lease.pool.config.Clone()
	config.DBName = lease.name
	db := &DB{DB: open(config), Name: lease.name, config: config, lease: lease}
	t.Cleanup(func() { db.finish(t) })
	return db
}

// setupSecondsMax bounds one acquisition, including a cold start that downloads and initialises a server.
const setupSecondsMax = 300

// DSN is the driver's address of this database, with the production parameters.
func (db *DB) DSN() string { return db.config.FormatDSN() }

// DSNThrough is DSN with another host:port, for a proxy in front of the server.
func (db *DB) DSNThrough(address string) string {
	config := db.config.Clone()
	config.Addr = address
	return config.FormatDSN()
}

// Address is the host:port of the server.
func (db *DB) Address() string { return db.config.Addr }

// Discard says that the test changed tables or otherwise spoiled the database beyond emptying: the next owner
// creates it anew.
func (db *DB) Discard() { db.lease.spoiled = true }

func (db *DB) finish(t testing.TB) {
	inUse := connectionsInUse(db.DB)
	_ = db.Close()
	if inUse > 0 {
		t.Errorf("test database %s: %d connections still in use at the end of the test", db.Name, inUse)
	}
	if t.Failed() && os.Getenv("ORBIT_TEST_KEEP") == "1" {
		t.Logf("kept the database of the failed test: %s", db.DSN())
		db.lease.keep()
		return
	}
	if err := db.lease.release(); err != nil {
		t.Logf("test database %s: %v", db.Name, err)
	}
}

// connectionsInUse gives goroutines that are just ending a second to hand theirs back.
func connectionsInUse(db *sql.DB) int {
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if db.Stats().InUse == 0 {
			return 0
		}
	}
	return db.Stats().InUse
}
