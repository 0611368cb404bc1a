package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	setupTimeout   = setupSecondsMax * time.Second
	releaseTimeout = 60 * time.Second
	// truncateRowsMin: below it DELETE is cheaper than TRUNCATE, which recreates the table's file.
	truncateRowsMin = 2000
	// staleAfter: databases of another schema nobody used for so long are dropped.
	staleAfter = time.Hour
)

// table is a base table with the columns that can be written.
type table struct {
	name    string
	columns []string
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tablesOf lists the base tables of a database by name.
func tablesOf(ctx context.Context, db querier, database string) ([]table, error) {
	rows, err := db.QueryContext(ctx, `SELECT c.TABLE_NAME, c.COLUMN_NAME, c.EXTRA
		FROM information_schema.COLUMNS c JOIN information_schema.TABLES t
		  ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
		WHERE c.TABLE_SCHEMA = ? AND t.TABLE_TYPE = 'BASE TABLE' ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`, database)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tables []table
	for rows.Next() {
		var name, column, extra string
		if err := rows.Scan(&name, &column, &extra); err != nil {
			return nil, err
		}
		if len(tables) == 0 || tables[len(tables)-1].name != name {
			tables = append(tables, table{name: name})
		}
		if !strings.Contains(extra, "STORED GENERATED") && !strings.Contains(extra, "VIRTUAL GENERATED") {
			last := &tables[len(tables)-1]
			last.columns = append(last.columns, quote(column))
		}
	}
	return tables, rows.Err()
}

// rowsPerTable counts each table's rows, up to truncateRowsMin, in one round trip.
func rowsPerTable(ctx context.Context, db querier, database string, tables []table) (map[string]int, error) {
	var counts []string
	for _, t := range tables {
		counts = append(counts, fmt.Sprintf("SELECT '%s', COUNT(*) FROM (SELECT 1 FROM %s.%s LIMIT %d) x",
			strings.ReplaceAll(t.name, "'", "''"), quote(database), quote(t.name), truncateRowsMin))
	}
	rows, err := db.QueryContext(ctx, strings.Join(counts, " UNION ALL "))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]int{}
	for rows.Next() {
		var name string
		var count int
		if err := rows.Scan(&name, &count); err != nil {
			return nil, err
		}
		if count > 0 {
			found[name] = count
		}
	}
	return found, rows.Err()
}

// empty deletes every row. It returns false when the database is not the one that was listed as ready: it must be
// made anew.
func (p *pool) empty(ctx context.Context, name string) (bool, error) {
	var listed string
	err := p.admin.QueryRowContext(ctx, "SELECT fingerprint FROM "+adminDatabase+".ready WHERE name = ?", name).Scan(&listed)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if print, err := p.fingerprint(ctx, name); err != nil || print != listed {
		return false, err
	}
	tables, err := tablesOf(ctx, p.admin, name)
	if err != nil {
		return false, err
	}
	rows, err := rowsPerTable(ctx, p.admin, name, tables)
	if err != nil {
		return false, err
	}
	return true, p.deleteRows(ctx, name, rows)
}

// deleteRows ignores foreign keys, so the order of the tables does not matter; the setting is the session's.
func (p *pool) deleteRows(ctx context.Context, name string, rows map[string]int) error {
	if len(rows) == 0 {
		return nil
	}
	session, err := p.admin.Conn(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	defer func() { _, _ = session.ExecContext(context.WithoutCancel(ctx), "SET foreign_key_checks = 1") }()
	if _, err := session.ExecContext(ctx, "SET foreign_key_checks = 0"); err != nil {
		return err
	}
	for table, count := range rows {
		verb := "DELETE FROM "
		if count >= truncateRowsMin {
			verb = "TRUNCATE TABLE "
		}
		if _, err := session.ExecContext(ctx, verb+quote(name)+"."+quote(table)); err != nil {
			return fmt.Errorf("emptying %s: %w", table, err)
		}
	}
	return nil
}

// fingerprint is a digest of the columns and indexes, so that a test which altered a table and died, or forgot
// Discard, does not hand its tables to the next one.
func (p *pool) fingerprint(ctx context.Context, name string) (string, error) {
	sum := sha256.New()
	for _, query := range []string{
		`SELECT CONCAT_WS('|', TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA)
		   FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, ORDINAL_POSITION`,
		`SELECT CONCAT_WS('|', TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE)
		   FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
		`SELECT CONCAT_WS('|', TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE)
		   FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, CONSTRAINT_NAME`,
	} {
		if err := p.digestRows(ctx, sum.Write, query, name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (p *pool) digestRows(ctx context.Context, write func([]byte) (int, error), query, name string) error {
	rows, err := p.admin.QueryContext(ctx, query, name)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line sql.RawBytes
		if err := rows.Scan(&line); err != nil {
			return err
		}
		_, _ = write(append(line, '\n'))
	}
	return rows.Err()
}

// killSessions ends what a former owner left open in the database: a session inside a transaction would make the
// emptying wait for its locks.
func (p *pool) killSessions(ctx context.Context, name string) error {
	// The table of the same name converts every running statement to text and fails on one with binary values in it.
	rows, err := p.admin.QueryContext(ctx, "SHOW PROCESSLIST")
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var id int64
	var database sql.NullString
	into := make([]any, len(columns))
	for i, column := range columns {
		switch into[i] = new(any); strings.ToLower(column) {
		case "id":
			into[i] = &id
		case "db":
			into[i] = &database
		}
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if database.String == name {
			// It may have ended by itself meanwhile; then there is nothing to kill.
			_, _ = p.admin.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
		}
	}
	return rows.Err()
}

// dropStale removes old databases that no living session holds: those of other schemas when unused for staleAfter,
// and templates of processes that ended.
func (p *pool) dropStale(ctx context.Context) error {
	names, err := p.staleNames(ctx)
	if err != nil {
		return err
	}
	session, err := p.admin.Conn(ctx)
	if err != nil {
		return err
	}
	defer unlock(session)
	for _, name := range names {
		got, err := tryLock(ctx, session, name)
		if err != nil {
			return err
		}
		if !got {
			continue
		}
		if err := p.drop(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// staleNames compares in Go, because the two lists have different collations on different servers.
func (p *pool) staleNames(ctx context.Context) ([]string, error) {
	all, err := p.names(ctx, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")
	if err != nil {
		return nil, err
	}
	recent, err := p.names(ctx, "SELECT name FROM "+adminDatabase+".ready WHERE used_at > NOW() - INTERVAL ? SECOND",
		int(staleAfter.Seconds()))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return !strings.HasPrefix(name, "orbit_test_") || name == adminDatabase ||
			strings.HasPrefix(name, "orbit_test_"+p.source.digest+"_") || slices.Contains(recent, name)
	}), nil
}

func (p *pool) names(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := p.admin.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
