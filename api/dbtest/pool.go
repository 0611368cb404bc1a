package dbtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
)

// pool is this process's view of the server's databases of one schema.
type pool struct {
	config *mysql.Config
	admin  *sql.DB // no database selected
	source source
}

// lease is the right to one database: it lasts as long as its session.
type lease struct {
	pool    *pool
	name    string
	session *sql.Conn
	spoiled bool
}

// adminDatabase remembers which databases are complete, and their fingerprint. A database that is not listed was
// left half made by a killed process.
const adminDatabase = "orbit_test_admin"

// databasesMax bounds the search for a free database: more tests than this never run at once on one server.
const databasesMax = 400

var thePool = sync.OnceValues(func() (*pool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	config, err := server()
	if err != nil {
		return nil, err
	}
	p := &pool{config: config}
	p.admin = open(p.configOf(""))
	p.admin.SetMaxIdleConns(4)
	for _, statement := range []string{
		"CREATE DATABASE IF NOT EXISTS " + adminDatabase,
		"CREATE TABLE IF NOT EXISTS " + adminDatabase + `.ready (
			name VARCHAR(64) NOT NULL PRIMARY KEY, fingerprint CHAR(64) NOT NULL, used_at DATETIME NOT NULL)`,
	} {
		if _, err := p.admin.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	if p.source, err = loadSource(ctx, p); err != nil {
		return nil, err
	}
	return p, p.dropStale(ctx)
})

func acquire(ctx context.Context) (*lease, error) {
	p, err := thePool()
	if err != nil {
		return nil, err
	}
	l, err := p.lockFree(ctx, p.source.digest)
	if err != nil {
		return nil, err
	}
	if err := p.prepare(ctx, l.name); err != nil {
		unlock(l.session)
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	return l, nil
}

// lockFree takes the first database of the group that no living session holds.
func (p *pool) lockFree(ctx context.Context, group string) (*lease, error) {
	session, err := p.admin.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for number := range databasesMax {
		name := fmt.Sprintf("orbit_test_%s_%03d", group, number)
		got, err := tryLock(ctx, session, name)
		if err != nil {
			unlock(session)
			return nil, err
		}
		if got {
			return &lease{pool: p, name: name, session: session}, nil
		}
	}
	unlock(session)
	return nil, fmt.Errorf("all %d databases of group %s are in use", databasesMax, group)
}

func tryLock(ctx context.Context, session *sql.Conn, name string) (bool, error) {
	var got sql.NullInt64
	err := session.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", name).Scan(&got)
	return got.Int64 == 1, err
}

// prepare makes the database what a fresh one is: by emptying it when its tables are still the right ones, else by
// making it anew.
func (p *pool) prepare(ctx context.Context, name string) error {
	if err := p.killSessions(ctx, name); err != nil {
		return err
	}
	clean, err := p.empty(ctx, name)
	if err != nil {
		return err
	}
	if !clean {
		if err := p.create(ctx, name); err != nil {
			return err
		}
	}
	return p.copySeeds(ctx, name)
}

// create replays the source and then lists the database as ready.
func (p *pool) create(ctx context.Context, name string) error {
	if err := p.recreate(ctx, name); err != nil {
		return err
	}
	config := p.configOf(name)
	config.MultiStatements = true
	db := open(config)
	defer db.Close()
	db.SetMaxOpenConns(1) // session settings of one script hold for the next
	for _, script := range p.source.scripts {
		if _, err := db.ExecContext(ctx, script); err != nil {
			return fmt.Errorf("schema: %w", err)
		}
	}
	print, err := p.fingerprint(ctx, name)
	if err != nil {
		return err
	}
	_, err = p.admin.ExecContext(ctx, "REPLACE INTO "+adminDatabase+".ready VALUES (?, ?, NOW())", name, print)
	return err
}

// recreate leaves an empty database of that name which is not listed as ready.
func (p *pool) recreate(ctx context.Context, name string) error {
	if err := p.drop(ctx, name); err != nil {
		return err
	}
	_, err := p.admin.ExecContext(ctx, "CREATE DATABASE "+quote(name)+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
	return err
}

func (p *pool) drop(ctx context.Context, name string) error {
	if _, err := p.admin.ExecContext(ctx, "DELETE FROM "+adminDatabase+".ready WHERE name = ?", name); err != nil {
		return err
	}
	_, err := p.admin.ExecContext(ctx, "DROP DATABASE IF EXISTS "+quote(name))
	return err
}

// copySeeds brings back the template's rows. Generated columns compute themselves.
func (p *pool) copySeeds(ctx context.Context, name string) error {
	for _, table := range p.source.seeded {
		columns := strings.Join(table.columns, ", ")
		statement := fmt.Sprintf("INSERT INTO %s.%s (%s) SELECT %s FROM %s.%s",
			quote(name), quote(table.name), columns, columns, quote(p.source.template), quote(table.name))
		if _, err := p.admin.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("rows of %s: %w", table.name, err)
		}
	}
	return nil
}

// release gives the database back.
func (l *lease) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	defer unlock(l.session)
	if l.spoiled || !ownServer() {
		if err := l.pool.killSessions(ctx, l.name); err != nil {
			return err
		}
		return l.pool.drop(ctx, l.name)
	}
	_, err := l.pool.admin.ExecContext(ctx, "UPDATE "+adminDatabase+".ready SET used_at = NOW() WHERE name = ?", l.name)
	return err
}

// unlock ends the session for good: Close alone would only hand it back to the admin pool, its lock still held.
func unlock(session *sql.Conn) {
	_ = session.Raw(func(any) error { return driver.ErrBadConn })
	_ = session.Close()
}

// keep holds the lock until the process ends and makes the next owner start from nothing.
func (l *lease) keep() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	_, _ = l.pool.admin.ExecContext(ctx, "DELETE FROM "+adminDatabase+".ready WHERE name = ?", l.name)
}

func (p *pool) configOf(database string) *mysql.Config {
	config := p.config.Clone()
	config.DBName = database
	return config
}

func quote(identifier string) string { return "`" + strings.ReplaceAll(identifier, "`", "``") + "`" }
