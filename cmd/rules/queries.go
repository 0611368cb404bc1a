package main

import (
	"regexp"
	"strconv"
	"strings"
)

// query is one named query of sql/queries.
type query struct {
	statement
	file     file
	name     string
	command  string // one, many, exec, execrows
	lock     string // text behind "lock:", "" when there is no such line
	unscoped string // reason behind "unscoped:"
}

var nameLine = regexp.MustCompile(`^name:\s*(\w+)\s+:(\w+)`)

func queriesOf(t *tree) []query {
	var out []query
	for _, f := range t.sqlIn("sql/queries") {
		for _, st := range statementsOf(f.text) {
			q := query{statement: st, file: f}
			for _, c := range st.comments {
				if m := nameLine.FindStringSubmatch(c.text); m != nil {
					q.name, q.command = m[1], m[2]
				}
				if text, found := strings.CutPrefix(c.text, "lock:"); found {
					q.lock = strings.TrimSpace(text)
				}
				if text, found := strings.CutPrefix(c.text, "unscoped:"); found {
					q.unscoped = strings.TrimSpace(text)
				}
			}
			out = append(out, q)
		}
	}
	return out
}

// unscopedMax bounds the queries that name no namespace. Each states its reason
// beside it; the bound makes the next one a decision of this file too.
const unscopedMax = 6

func checkQueries(t *tree, r *report) {
	for _, q := range queriesOf(t) {
		r.seen["queries"]++
		checkLockLine(q, r)
		checkNamespace(q, r)
		if !q.locks() {
			continue
		}
		r.seen["locking"]++
		if q.command == "many" && q.find("ORDER", "BY") < 0 {
			r.add(ruleLockOrder, q.file.path, q.line, "%s locks several rows without ORDER BY: two transactions would take them in two orders", q.name)
		}
	}
	if r.seen["scoped_by_exception"] > unscopedMax {
		r.add(ruleTooManyExcept, "sql/queries", 0, "%d queries name no namespace_id, at most %d may", r.seen["scoped_by_exception"], unscopedMax)
	}
}

// locks reports whether the query is a locking read.
func (q query) locks() bool {
	return q.find("FOR", "UPDATE") >= 0 || q.find("FOR", "SHARE") >= 0 || q.find("LOCK", "IN", "SHARE", "MODE") >= 0
}

// rungFile is "05_queue.sql": the rung and its word.
var rungFile = regexp.MustCompile(`(\d+)_(\w+)\.sql$`)

// lockText is "5 queue X, how" or "none".
var lockText = regexp.MustCompile(`^(?:none\b|(\d+) (\w+) ([SX])\b)`)

// checkLockLine holds the line above the query against the query and its file.
func checkLockLine(q query, r *report) {
	m := lockText.FindStringSubmatch(q.lock)
	file := rungFile.FindStringSubmatch(q.file.path)
	switch {
	case m == nil:
		r.add(ruleLockLine, q.file.path, q.line, "%s has no line `-- lock: <rung> <row> <S|X>, <how>` or `-- lock: none`", q.name)
	case m[1] == "" && q.locks():
		r.add(ruleLockLine, q.file.path, q.line, "%s locks rows, and its lock line says none", q.name)
	case m[1] != "" && file != nil && (number(m[1]) != number(file[1]) || m[2] != file[2]):
		r.add(ruleLockLine, q.file.path, q.line, "%s says rung %s %s in the file of rung %s %s", q.name, m[1], m[2], file[1], file[2])
	}
	if q.locks() != strings.HasPrefix(q.name, "Lock") {
		r.add(ruleLockName, q.file.path, q.line, "%s: a locking read is named Lock…, and nothing else is", q.name)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// checkNamespace demands that every table a query touches is bound to a
// namespace: named in the column list of an INSERT, compared in all else.
func checkNamespace(q query, r *report) {
	bound := 0
	for i, t := range q.tokens {
		if (t.kind == word || t.kind == quoted) && strings.EqualFold(t.text, "namespace_id") {
			next := i + 1
			if q.is(next, "=") || q.is(next, ">") || q.is(i-1, "=") || q.is(i-2, "=", "*") {
				bound++
			}
		}
	}
	insert := q.is(0, "INSERT")
	if insert && q.insertsNamespace() {
		bound++
	}
	if q.unscoped != "" {
		r.seen["scoped_by_exception"]++
		return
	}
	if tables := q.tables(); bound < tables {
		r.add(ruleNamespace, q.file.path, q.line, "%s touches %d tables and binds namespace_id %d times; bind each, or write `-- unscoped: reason`", q.name, tables, bound)
	}
}

// insertsNamespace reports whether the column list of an INSERT holds namespace_id.
func (q query) insertsNamespace() bool {
	open := q.find("(")
	if open < 0 {
		return false
	}
	for _, part := range q.topLevel(open, q.closing(open)) {
		if len(part) == 1 && strings.EqualFold(part[0].text, "namespace_id") {
			return true
		}
	}
	return false
}

// tables counts the tables a query names.
func (q query) tables() int {
	n := 0
	for i := range q.tokens {
		switch {
		case q.is(i, "FROM", "*") && !q.is(i, "FROM", "("), q.is(i, "JOIN", "*") && !q.is(i, "JOIN", "("), q.is(i, "INTO"):
			n++
		case i == 0 && q.is(i, "UPDATE"):
			n++
		}
	}
	return n
}
