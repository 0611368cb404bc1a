package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// source is what a fresh database is made of.
type source struct {
	digest   string   // names the pool
	scripts  []string // executed in order, several statements each
	template string   // database whose rows are copied, or ""
	seeded   []table  // its tables with rows
}

var registered struct {
	sync.Mutex
	build func(*sql.DB) error
	label string
	used  bool
}

// Template replaces sql/schema for this process: build is run once, in an empty database, and its tables and rows
// are what every later New starts with. Call it before the first New, from TestMain or init. label tells templates
// of different packages apart in messages.
func Template(label string, build func(*sql.DB) error) {
	registered.Lock()
	defer registered.Unlock()
	if registered.used {
		panic("dbtest.Template after the first New")
	}
	registered.build, registered.label = build, label
}

// SchemaFolder replaces sql/schema by another folder of .sql files, relative to the working directory.
func SchemaFolder(folder string) {
	registered.Lock()
	defer registered.Unlock()
	if registered.used {
		panic("dbtest.SchemaFolder after the first New")
	}
	schemaFolder = folder
}

var schemaFolder string

func loadSource(ctx context.Context, p *pool) (source, error) {
	registered.Lock()
	defer registered.Unlock()
	registered.used = true
	if registered.build != nil {
		return fromTemplate(ctx, p, registered.label, registered.build)
	}
	return fromFiles(schemaFolder)
}

// fromFiles reads the folder's .sql files in the order of their names, which is the order of the lock rungs.
func fromFiles(folder string) (source, error) {
	if folder == "" {
		root, err := moduleRoot()
		if err != nil {
			return source{}, err
		}
		folder = filepath.Join(root, "sql", "schema")
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(names) == 0 {
		return source{}, fmt.Errorf("no .sql files in %s", folder)
	}
	sort.Strings(names)
	var all []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return source{}, err
		}
		all = append(all, string(text))
	}
	return source{digest: digest(all), scripts: all}, nil
}

// fromTemplate runs build in a database of this process and reads back what it made. MySQL has no template
// databases, and CREATE TABLE … LIKE renames CHECK constraints, which the error table knows by name: so the
// definitions are replayed as the server prints them.
func fromTemplate(ctx context.Context, p *pool, label string, build func(*sql.DB) error) (source, error) {
	lease, err := p.lockFree(ctx, "template_"+hex.EncodeToString([]byte(label))[:min(8, 2*len(label))])
	if err != nil {
		return source{}, err
	}
	// The lease is held until the process ends: other databases copy rows from this one.
	if err := p.recreate(ctx, lease.name); err != nil {
		return source{}, err
	}
	db := open(p.configOf(lease.name))
	defer db.Close()
	if err := build(db); err != nil {
		return source{}, fmt.Errorf("template %s: %w", label, err)
	}
	return readBack(ctx, db, lease.name)
}

func readBack(ctx context.Context, db *sql.DB, name string) (source, error) {
	s := source{template: name, scripts: []string{"SET foreign_key_checks = 0"}}
	tables, err := tablesOf(ctx, db, name)
	if err != nil {
		return source{}, err
	}
	if len(tables) == 0 {
		return source{}, errors.New("the template made no tables")
	}
	for _, table := range tables {
		var same, ddl string
		if err := db.QueryRowContext(ctx, "SHOW CREATE TABLE "+quote(table.name)).Scan(&same, &ddl); err != nil {
			return source{}, err
		}
		s.scripts = append(s.scripts, ddl)
	}
	s.digest = digest(s.scripts)
	rows, err := rowsPerTable(ctx, db, name, tables)
	if err != nil {
		return source{}, err
	}
	for _, table := range tables {
		if rows[table.name] > 0 {
			s.seeded = append(s.seeded, table)
		}
	}
	return s, nil
}

func digest(texts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:5])
}
