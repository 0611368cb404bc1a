package dbtest

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	orbitsql "github.com/orbitrun/orbit/sql"
)

// Locks records in which order the transactions of a database really take their row locks, as the server itself tells
// (C23). Look is to be called between any two statements; what is new since the last look was taken by the statement
// in between. MySQL only: MariaDB shows nothing but waits.
type Locks struct {
	t    testing.TB
	db   *DB
	rung map[string]int // of a table
	mu   sync.Mutex
	open map[uint64]*held
	seen map[string]int // paths down the ladder, and how often
	bad  []string
}

// held is what one transaction has.
type held struct {
	locks map[string]bool
	path  []string // tables, in the order in which they were first locked
	last  int
}

// WatchLocks starts a recording. It is nil where the server does not tell; say so and do not count it as proof.
func WatchLocks(t testing.TB, d *DB) *Locks {
	t.Helper()
	var told int
	if err := d.QueryRowContext(context.Background(), "SELECT @@performance_schema").Scan(&told); err != nil || told == 0 || !d.tellsLocks() {
		return nil
	}
	return &Locks{t: t, db: d, rung: rungs(t), open: map[uint64]*held{}, seen: map[string]int{}}
}

func (d *DB) tellsLocks() bool {
	var n int
	return d.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM performance_schema.data_locks WHERE OBJECT_SCHEMA = '-'").Scan(&n) == nil
}

var tableLine = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// rungs reads from the numbers of the schema's files where each table stands.
func rungs(t testing.TB) map[string]int {
	t.Helper()
	out := map[string]int{}
	files, err := fs.Glob(orbitsql.Files, "schema/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no schema: ", err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(orbitsql.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.Atoi(strings.TrimPrefix(file, "schema/")[:2])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range tableLine.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = number
		}
	}
	return out
}

// Look asks the server what every transaction holds now.
func (l *Locks) Look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows, err := l.db.QueryContext(context.Background(), `SELECT ENGINE_TRANSACTION_ID, OBJECT_NAME, COALESCE(INDEX_NAME, ''), COALESCE(LOCK_DATA, ''), LOCK_MODE
		FROM performance_schema.data_locks WHERE OBJECT_SCHEMA = ? AND LOCK_STATUS = 'GRANTED' AND LOCK_TYPE = 'RECORD'`, l.db.Name)
	if err != nil {
		l.t.Error(err)
		return
	}
	defer func() { _ = rows.Close() }()
	alive, fresh := map[uint64]bool{}, map[uint64][]string{}
	for rows.Next() {
		var id uint64
		var table, index, data, mode string
		if err := rows.Scan(&id, &table, &index, &data, &mode); err != nil {
			l.t.Error(err)
			return
		}
		alive[id] = true
		h := l.open[id]
		if h == nil {
			h = &held{locks: map[string]bool{}}
			l.open[id] = h
		}
		if key := table + "\x00" + index + "\x00" + data; !h.locks[key] {
			h.locks[key] = true
			fresh[id] = append(fresh[id], table)
		}
	}
	if err := rows.Err(); err != nil {
		l.t.Error(err)
	}
	for id, tables := range fresh {
		l.step(l.open[id], tables)
	}
	for id, h := range l.open {
		if !alive[id] {
			l.seen[strings.Join(h.path, " → ")]++
			delete(l.open, id)
		}
	}
}

// step judges what one statement has locked.
func (l *Locks) step(h *held, tables []string) {
	slices.SortFunc(tables, func(a, b string) int { return l.rung[a] - l.rung[b] })
	for _, table := range slices.Compact(tables) {
		purging := len(h.path) > 0 && h.path[0] == "retention" // a ladder of its own, sql/queries/README.md
		if l.rung[table] < h.last && !purging {
			l.bad = append(l.bad, fmt.Sprintf("%s (%d) after %s", table, l.rung[table], strings.Join(h.path, " → ")))
		}
		h.last = max(h.last, l.rung[table])
		if !slices.Contains(h.path, table) {
			h.path = append(h.path, table)
		}
	}
}

// Paths are the ways transactions went, the most frequent first, and the climbs among them.
func (l *Locks) Paths() (paths []string, transactions int, climbs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, n := range l.seen {
		paths, transactions = append(paths, fmt.Sprintf("%d × %s", n, path)), transactions+n
	}
	slices.Sort(paths)
	return paths, transactions, slices.Compact(slices.Sorted(slices.Values(l.bad)))
}
