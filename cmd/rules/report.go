package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The rules, in the order of the printed line, each with the text it comes from.
const (
	ruleForeignKey    = "foreign_keys"        // O4: relations are checked by the server
	ruleCascade       = "cascades"            // O4: nothing changes rows behind the server's back
	ruleComment       = "comments_missing"    // O3: a Chinese COMMENT on every table and column
	ruleCommentName   = "comments_name_only"  // O3: a COMMENT that only repeats the name
	ruleLockLine      = "lock_lines_missing"  // house.md SQL: the rung stands above the query
	ruleLockOrder     = "locks_unordered"     // transactions.md: several rows in key order
	ruleLockName      = "locks_misnamed"      // house.md SQL: Lock… locks, nothing else does
	ruleNamespace     = "queries_unscoped"    // O12: namespace_id in every query
	ruleBannedSQL     = "sql_banned"          // database.md: the portable subset
	ruleEngine        = "engine_impure"       // house.md: engine is pure
	ruleFloor         = "floors_crossed"      // house.md: cmd → api → … → engine, gen
	ruleModules       = "modules_mixed"       // O2: sdk and root never import each other
	ruleEcho          = "echo_outside_shell"  // house.md: Echo is imported by the shell only
	ruleBegin         = "begins_outside_tx"   // house.md: api/tx holds the only BeginTx
	ruleSQLInGo       = "sql_in_go"           // mission.md: every statement is a named query
	ruleLongFile      = "files_over_600"      // house.md: hard limit
	ruleLongFunction  = "functions_over_100"  // house.md: hard limit
	ruleTooManyExcept = "exceptions_too_many" // an exception list that grows is a rule that shrinks
)

var rules = []string{ruleForeignKey, ruleCascade, ruleComment, ruleCommentName, ruleLockLine, ruleLockOrder,
	ruleLockName, ruleNamespace, ruleBannedSQL, ruleEngine, ruleFloor, ruleModules, ruleEcho, ruleBegin, ruleSQLInGo,
	ruleLongFile, ruleLongFunction, ruleTooManyExcept}

// breach is one place where a rule does not hold.
type breach struct {
	file string
	line int
	rule string
	text string
}

func (b breach) String() string { return fmt.Sprintf("%s:%d: %s: %s", b.file, b.line, b.rule, b.text) }

// report collects breaches and what was looked at, so that a zero means something.
type report struct {
	breaches []breach
	counts   map[string]int
	seen     map[string]int
}

func newReport() *report {
	return &report{counts: map[string]int{}, seen: map[string]int{}}
}

func (r *report) add(rule, file string, line int, format string, args ...any) {
	r.counts[rule]++
	r.breaches = append(r.breaches, breach{file, line, rule, fmt.Sprintf(format, args...)})
}

// most remembers the greatest value of a figure.
func (r *report) most(figure string, value int) { r.seen[figure] = max(r.seen[figure], value) }

// figures are printed behind the rules: the extent of what was read.
var figures = []string{"tables", "columns", "queries", "locking", "scoped_by_exception", "go_files", "longest_file", "longest_function"}

// line is the one line `make rules` prints.
func (r *report) line() string {
	var b strings.Builder
	b.WriteString("rules:")
	for _, rule := range rules {
		fmt.Fprintf(&b, " %s=%d", rule, r.counts[rule])
	}
	b.WriteString(" |")
	for _, f := range figures {
		fmt.Fprintf(&b, " %s=%d", f, r.seen[f])
	}
	return b.String()
}

func (r *report) sort() {
	slices.SortFunc(r.breaches, func(a, b breach) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.rule, b.rule))
	})
}
