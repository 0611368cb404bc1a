package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Inventory is a schema in sorted lines, one fact each: tables, columns, index
// keys, CHECKs, and everything that must not exist (foreign keys, triggers,
// views). Spellings in which MySQL and MariaDB differ are folded, so one text
// serves every supported engine.
type Inventory []string

// ParseInventory reads the text Diff wrote; lines starting with # are remarks.
func ParseInventory(text string) Inventory {
	var inv Inventory
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line != "" && !strings.HasPrefix(line, "#") {
			inv = append(inv, line)
		}
	}
	return inv
}

// String is the text of the inventory file.
func (inv Inventory) String() string {
	return "# The schema as a node expects to find it; written by `orbit migrate diff`, compared at every start.\n" +
		strings.Join(inv, "\n") + "\n"
}

// Differences returns the facts only one side has: want is what the node was
// built for, have is what the database holds.
func (want Inventory) Differences(have Inventory) (missing, unexpected []string) {
	for _, line := range want {
		if _, found := slices.BinarySearch(have, line); !found {
			missing = append(missing, line)
		}
	}
	for _, line := range have {
		if _, found := slices.BinarySearch(want, line); !found {
			unexpected = append(unexpected, line)
		}
	}
	return missing, unexpected
}

// inventoryReads are the reads an inventory is made of. Each returns rows of
// text, and line turns one row into one fact. The revision table is left out,
// because the atlas CLI owns its shape.
var inventoryReads = []struct {
	query string
	line  func(row []string) string
}{
	{`SELECT TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, ''), COALESCE(TABLE_COLLATION, ''), TABLE_COMMENT
FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> '` + RevisionTable + `'`, tableLine},
	{`SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COALESCE(COLUMN_DEFAULT, 'NULL'), COALESCE(COLLATION_NAME, ''),
EXTRA, COALESCE(GENERATION_EXPRESSION, ''), COLUMN_COMMENT
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> '` + RevisionTable + `'`, columnLine},
	{`SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COALESCE(COLUMN_NAME, '(expression)'), COALESCE(COLLATION, ''), COALESCE(SUB_PART, '')
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> '` + RevisionTable + `'`, indexLine},
	{`SELECT t.TABLE_NAME, c.CONSTRAINT_NAME, c.CHECK_CLAUSE
FROM information_schema.CHECK_CONSTRAINTS c JOIN information_schema.TABLE_CONSTRAINTS t
ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME AND t.CONSTRAINT_TYPE = 'CHECK'
WHERE c.CONSTRAINT_SCHEMA = DATABASE() AND t.TABLE_NAME <> '` + RevisionTable + `'`, checkLine},
	{`SELECT TABLE_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_NAME
FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()`,
		func(r []string) string { return fmt.Sprintf("foreign key %s.%s to %s", r[0], r[1], r[2]) }},
	{`SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()`,
		func(r []string) string { return fmt.Sprintf("trigger %s.%s", r[0], r[1]) }},
}

// switchedOff are states of an index or a CHECK that only one kind of server
// knows. The read happens where information_schema has the column.
var switchedOff = []struct {
	table, column, query string
	line                 func(row []string) string
}{
	{"TABLE_CONSTRAINTS", "ENFORCED", `SELECT TABLE_NAME, CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS
WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'CHECK' AND ENFORCED = 'NO'`,
		func(r []string) string { return fmt.Sprintf("check %s.%s not enforced", r[0], r[1]) }},
	{"STATISTICS", "IS_VISIBLE", `SELECT DISTINCT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND IS_VISIBLE = 'NO'`, ignoredIndex},
	{"STATISTICS", "IGNORED", `SELECT DISTINCT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND IGNORED = 'YES'`, ignoredIndex},
}

func ignoredIndex(r []string) string { return fmt.Sprintf("index %s.%s invisible", r[0], r[1]) }

// readSwitchedOff returns the facts of switchedOff that this server can tell.
func readSwitchedOff(ctx context.Context, db *sql.DB) (Inventory, error) {
	var inv Inventory
	for _, read := range switchedOff {
		known, err := textRows(ctx, db, `SELECT 1 FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = ? AND COLUMN_NAME = ?`, read.table, read.column)
		if err != nil {
			return nil, err
		}
		if len(known) == 0 {
			continue
		}
		rows, err := textRows(ctx, db, read.query)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			inv = append(inv, read.line(row))
		}
	}
	return inv, nil
}

// readInventory inspects the database db is connected to.
func readInventory(ctx context.Context, db *sql.DB) (Inventory, error) {
	var inv Inventory
	for _, read := range inventoryReads {
		rows, err := textRows(ctx, db, read.query)
		if err != nil {
			return nil, fmt.Errorf("read information_schema: %w", err)
		}
		for _, row := range rows {
			inv = append(inv, read.line(row))
		}
	}
	off, err := readSwitchedOff(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("read information_schema: %w", err)
	}
	inv = append(inv, off...)
	slices.Sort(inv)
	return inv, nil
}

// textRows runs a query and returns every value as text; NULL becomes empty.
func textRows(ctx context.Context, db *sql.DB, query string, args ...any) ([][]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for rows.Next() {
		cells := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range cells {
			targets[i] = &cells[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, c := range cells {
			row[i] = c.String
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

func tableLine(r []string) string {
	if r[1] != "BASE TABLE" {
		return fmt.Sprintf("%s %s", strings.ToLower(r[1]), r[0])
	}
	return fmt.Sprintf("table %s engine %s collation %s comment %q", r[0], r[2], r[3], r[4])
}

// displayWidth is the "(20)" MariaDB and old MySQL still print behind integers.
var displayWidth = regexp.MustCompile(`^((?:tiny|small|medium|big)?int)\(\d+\)`)

func columnLine(r []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "column %s.%s %s", r[0], r[1], displayWidth.ReplaceAllString(r[2], "$1"))
	if r[5] != "" {
		fmt.Fprintf(&b, " collation %s", r[5])
	}
	extra := strings.ToLower(r[6])
	stored := strings.Contains(extra, "stored generated") || strings.Contains(extra, "persistent")
	switch {
	case stored:
		fmt.Fprintf(&b, " stored as %s", foldExpression(r[7]))
	case strings.Contains(extra, "generated") && r[7] != "":
		fmt.Fprintf(&b, " virtual as %s", foldExpression(r[7]))
	default:
		fmt.Fprintf(&b, " null %s default %s", strings.ToLower(r[3]), foldDefault(r[4]))
	}
	for _, word := range []string{"auto_increment", "on update", "invisible"} {
		if strings.Contains(extra, word) {
			b.WriteString(" " + word)
		}
	}
	fmt.Fprintf(&b, " comment %q", r[8])
	return b.String()
}

func indexLine(r []string) string {
	kind := "index"
	if r[2] == "0" {
		kind = "unique"
	}
	order := ""
	if r[5] == "D" {
		order = " desc"
	}
	prefix := ""
	if r[6] != "" {
		prefix = "(" + r[6] + ")"
	}
	return fmt.Sprintf("%s %s.%s %s %s%s%s", kind, r[0], r[1], r[3], r[4], prefix, order)
}

func checkLine(r []string) string {
	return fmt.Sprintf("check %s.%s %s", r[0], r[1], foldExpression(r[2]))
}

// foldDefault folds the spellings of a default: MariaDB quotes text and writes
// functions in lower case.
func foldDefault(text string) string {
	if len(text) >= 2 && text[0] == '\'' && text[len(text)-1] == '\'' {
		return text[1 : len(text)-1]
	}
	if lower := strings.ToLower(text); strings.HasPrefix(lower, "current_timestamp") {
		return lower
	}
	return text
}

// expressionToken splits an expression as a server prints it: literals, numbers,
// names, operators. Parentheses, back quotes and character set introducers
// are decoration that each server sets differently, so they are no tokens.
var expressionToken = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|[0-9]+(?:\.[0-9]+)?|[\p{L}_][\p{L}\p{N}_]*|<=|>=|<>|!=|\|\||&&|[-+*/%<>=,!&|]`)

// foldExpression prints an expression so that MySQL and MariaDB agree on it.
// It forgets grouping: two clauses that differ only in parentheses fold alike,
// which Verify's full comparison still tells apart.
func foldExpression(text string) string {
	text = strings.ReplaceAll(text, `\'`, `'`)
	var out []string
	for _, token := range expressionToken.FindAllString(text, -1) {
		if strings.HasPrefix(token, "'") {
			out = append(out, token)
			continue
		}
		token = strings.ToLower(token)
		switch token {
		case "_utf8mb4", "_latin1", "_utf8mb3", "_binary":
			continue
		case "!=":
			token = "<>"
		}
		out = append(out, token)
	}
	return strings.Join(out, " ")
}
