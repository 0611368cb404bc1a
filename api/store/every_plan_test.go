package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/dbtest"
)

// everyRows is how many rows each table has; a tenth of them belong to the namespace that is asked about, so that no
// plan looks good because everything must be read anyway.
const everyRows = 10_000

// wholeTable are queries that look at all rows of a table on purpose, with the reason.
var wholeTable = map[string]string{
	"ListRetentions":       "one row a namespace, once a minute",
	"ListSubscriptionLags": "a node's metrics: subscriptions are few, and their windows bound the deliveries",
}

// audits are queries that read a whole namespace on purpose: the doctor and operators' sums.
func audits(name, file string) bool { return file == "12_doctor.sql" || wholeTable[name] != "" }

// C24: every query of sql/queries, whichever it is: the list is the generated code itself. No statement that locks scans
// a table, sorts or makes a temporary table; no other statement scans a table, but for those named above.
func TestC24EveryQueryHasAPlan(t *testing.T) {
	d := dbtest.New(t)
	d.Discard() // its tables are filled with nonsense
	ctx := context.Background()
	conn, err := d.Conn(ctx)
	must(t, err)
	defer conn.Close()
	build(t, conn, numbers(everyRows))
	for _, table := range tables(t, conn) {
		fillTable(t, conn, table)
	}
	seen, locking, statements := 0, 0, map[string]int{}
	for _, q := range everyQuery(t) {
		seen++
		verb := strings.ToUpper(strings.Fields(q.text)[0])
		statements[verb]++
		if verb == "INSERT" {
			continue // new rows have no plan
		}
		plan := planOf(t, conn, q.recorder)
		locks := verb != "SELECT" || strings.Contains(q.text, "FOR UPDATE") || strings.Contains(q.text, "IN SHARE MODE")
		scans := slices.ContainsFunc(plan, func(a accessed) bool { return a.scans() })
		sorts := slices.ContainsFunc(plan, func(a accessed) bool {
			return strings.Contains(a.extra, "filesort") || strings.Contains(a.extra, "temporary")
		})
		if locks {
			locking++
		}
		if locks && (scans || sorts) || scans && !audits(q.name, q.file) {
			t.Errorf("%s (%s): %+v", q.name, q.file, plan)
		}
	}
	t.Logf("C24: %d queries (%v), of which %d lock or change what they find: full scans and filesorts of these 0", seen, statements, locking)
	if locking < 60 {
		t.Errorf("only %d locking statements were looked at", locking)
	}
}

// accessed is one line of a plan.
type accessed struct{ table, access, key, extra string }

// scans reports whether a table is read from end to end. A derived table holds what the query itself has selected.
func (a accessed) scans() bool {
	return (a.access == "ALL" || a.access == "index") && !strings.HasPrefix(a.table, "<")
}

func planOf(t *testing.T, conn *sql.Conn, r *recorder) (plan []accessed) {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), "EXPLAIN FORMAT=TRADITIONAL "+strings.TrimSpace(r.statement[strings.Index(r.statement, "\n"):]), r.args...)
	must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		cells := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		must(t, rows.Scan(into...))
		line := map[string]string{}
		for i, name := range names {
			line[strings.ToLower(name)] = cells[i].String
		}
		plan = append(plan, accessed{line["table"], line["type"], line["key"], line["extra"]})
	}
	must(t, rows.Err())
	return plan
}

func tables(t *testing.T, conn *sql.Conn) (names []string) {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name <> 'n' AND table_name NOT LIKE '%revision%' ORDER BY table_name")
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		names = append(names, name)
	}
	must(t, rows.Err())
	return names
}

// fillTable writes rows by the types of the columns; keys differ by their last column of enough room.
func fillTable(t *testing.T, conn *sql.Conn, table string) {
	t.Helper()
	names, values := columnsOf(t, conn, table)
	statement := fmt.Sprintf("INSERT IGNORE INTO %s (%s) SELECT %s FROM n", table, strings.Join(names, ", "), strings.Join(values, ", "))
	if _, err := conn.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	_, err := conn.ExecContext(context.Background(), "ANALYZE TABLE "+table)
	must(t, err)
}

func columnsOf(t *testing.T, conn *sql.Conn, table string) (names, values []string) {
	t.Helper()
	rows, err := conn.QueryContext(context.Background(), `SELECT column_name, data_type, COALESCE(character_maximum_length, 0) FROM information_schema.columns
		WHERE table_schema = DATABASE() AND table_name = ? AND extra NOT LIKE '%GENERATED%' ORDER BY ordinal_position`, table)
	must(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, kind string
		var length int64
		must(t, rows.Scan(&name, &kind, &length))
		names, values = append(names, name), append(values, sample(name, kind, length))
	}
	must(t, rows.Err())
	return names, values
}

// sample is a value of row i, in SQL.
func sample(name, kind string, length int64) string {
	switch {
	case name == "namespace_id":
		return "IF(i % 10 = 0, 1, 2 + i % 7)"
	case name == "decision":
		return "2 + i % 2"
	case kind == "binary":
		return fmt.Sprintf("UNHEX(LPAD(HEX(i), %d, '0'))", 2*length)
	case kind == "varbinary" && length < 32:
		return "CONCAT('v', i)"
	case kind == "varbinary":
		return fmt.Sprintf("CONCAT('%s-', i)", name)
	case strings.HasSuffix(kind, "blob"):
		return "'{}'"
	case kind == "datetime":
		return "NOW(6) - INTERVAL i SECOND"
	case kind == "tinyint":
		return "1 + i % 3"
	case kind == "smallint":
		return "1 + i % 200"
	}
	return "i"
}

// generated is one query as the generated code sends it.
type generated struct {
	*recorder
	name, file, text string
}

// everyQuery calls every method of the generated code with samples by the names of its parameters.
func everyQuery(t *testing.T) (all []generated) {
	t.Helper()
	files := filesOf(t)
	queries := reflect.TypeFor[*db.Queries]()
	for i := range queries.NumMethod() {
		m := queries.Method(i)
		if m.Name == "WithTx" || m.Name == "Close" {
			continue
		}
		r := &recorder{}
		func() {
			defer func() { _ = recover() }() // the recorder answers nothing
			args := []reflect.Value{reflect.ValueOf(db.New(r)), reflect.ValueOf(context.Background())}
			for p := 2; p < m.Type.NumIn(); p++ {
				args = append(args, argument("", m.Type.In(p)))
			}
			m.Func.Call(args)
		}()
		_, text, ok := strings.Cut(r.statement, "\n")
		if !ok || files[m.Name] == "" {
			t.Fatalf("%s was not recorded", m.Name)
		}
		all = append(all, generated{r, m.Name, files[m.Name], strings.TrimSpace(text)})
	}
	return all
}

// argument is a plausible value of a parameter.
func argument(name string, kind reflect.Type) reflect.Value {
	switch v := reflect.New(kind).Elem(); {
	case kind == reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Now().UTC().Add(-time.Hour))
	case kind.Kind() == reflect.Struct:
		for i := range kind.NumField() {
			v.Field(i).Set(argument(kind.Field(i).Name, kind.Field(i).Type))
		}
		return v
	case kind.Kind() == reflect.Pointer:
		p := reflect.New(kind.Elem())
		p.Elem().Set(argument(name, kind.Elem()))
		return p
	case kind == reflect.TypeFor[[]byte]():
		if strings.HasSuffix(name, "ID") || strings.HasSuffix(name, "After") {
			return reflect.ValueOf(append(make([]byte, 14), 0, 70))
		}
		return reflect.ValueOf([]byte(strings.ToLower(name) + "-70"))
	case kind.Kind() == reflect.Slice:
		for i := range 3 {
			e := argument(strings.TrimSuffix(name, "s"), kind.Elem())
			if b, ok := e.Interface().([]byte); ok {
				b[len(b)-1] = byte('0' + i)
			}
			v = reflect.Append(v, e)
		}
		return v
	case name == "NamespaceID":
		v.SetUint(1)
		return v
	case name == "Limit":
		v.SetInt(50)
		return v
	case v.CanInt():
		v.SetInt(1)
		return v
	case v.CanUint():
		v.SetUint(uint64(min(70, 1<<min(kind.Bits()-1, 7)-1)))
		return v
	default:
		return v
	}
}

// filesOf says in which file of sql/queries each query stands.
func filesOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, file := range queryFiles(t) {
		for _, line := range strings.Split(file.text, "\n") {
			if rest, ok := strings.CutPrefix(line, "-- name: "); ok {
				out[strings.Fields(rest)[0]] = file.name
			}
		}
	}
	return out
}

type queryFile struct{ name, text string }

func queryFiles(t *testing.T) (files []queryFile) {
	t.Helper()
	entries, err := readQueries()
	must(t, err)
	slices.SortFunc(entries, func(a, b queryFile) int { return strings.Compare(a.name, b.name) })
	return entries
}

func readQueries() (files []queryFile, err error) {
	const folder = "../../sql/queries"
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sql") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, queryFile{e.Name(), string(text)})
	}
	return files, err
}
