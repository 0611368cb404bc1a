package main

import "strings"

// checkPortable refuses SQL outside the subset that MySQL 8.0–9.7, MariaDB
// 10.11+ and a sharded engine run alike (database.md, Portable SQL).
func checkPortable(t *tree, r *report) {
	for _, folder := range []string{"sql/schema", "sql/queries", "sql/migrations"} {
		for _, f := range t.sqlIn(folder) {
			for _, st := range statementsOf(f.text) {
				for _, b := range banned {
					if at := b.at(st, folder == "sql/queries"); at >= 0 {
						r.add(ruleBannedSQL, f.path, st.tokens[at].line, "%s: %s", b.name, b.why)
					}
				}
			}
		}
	}
}

// ban is one construct with the reason why it is not used.
type ban struct {
	name string
	why  string
	at   func(st statement, isQuery bool) int // index of the token, or -1
}

func seq(pattern ...string) func(statement, bool) int {
	return func(st statement, _ bool) int { return st.find(pattern...) }
}

// first bans a statement by its first words.
func first(pattern ...string) func(statement, bool) int {
	return func(st statement, _ bool) int {
		if st.is(0, pattern...) {
			return 0
		}
		return -1
	}
}

// inTables limits a ban to schema and migrations.
func inTables(at func(statement, bool) int) func(statement, bool) int {
	return func(st statement, isQuery bool) int {
		if isQuery {
			return -1
		}
		return at(st, isQuery)
	}
}

// prefixed bans words by their beginning.
func prefixed(prefix string) func(statement, bool) int {
	return func(st statement, _ bool) int {
		for i, t := range st.tokens {
			if strings.HasPrefix(strings.ToUpper(t.text), prefix) && t.kind != literal {
				return i
			}
		}
		return -1
	}
}

var banned = []ban{
	{"FOR SHARE", "unknown to MariaDB, write LOCK IN SHARE MODE", seq("FOR", "SHARE")},
	{"FOR UPDATE OF", "unknown to MariaDB", seq("FOR", "UPDATE", "OF")},
	{"AS new", "unknown to MariaDB, write VALUES(column)", insertAlias},
	{"RETURNING", "unknown to MySQL", seq("RETURNING")},
	{"LATERAL", "unknown to MariaDB", seq("LATERAL")},
	{"->", "unknown to MariaDB, write JSON_EXTRACT", seq("->")},
	{"->>", "unknown to MariaDB, write JSON_UNQUOTE(JSON_EXTRACT())", seq("->>")},
	{"utf8mb4_0900", "collation unknown to MariaDB", prefixed("UTF8MB4_0900")},
	{"UUID_TO_BIN", "unknown to MariaDB, ids are made in Go", prefixed("UUID_TO_BIN")},
	{"BIN_TO_UUID", "unknown to MariaDB", prefixed("BIN_TO_UUID")},
	{"NOT ENFORCED", "a CHECK that checks nothing, unknown to MariaDB", seq("NOT", "ENFORCED")},
	{"JSON type", "MySQL reorders keys and rounds numbers (O13), store bytes", inTables(seq("JSON"))},
	{"AUTO_INCREMENT", "identities are made in Go", seq("AUTO_INCREMENT")},
	{"REPLACE", "deletes and inserts, write ON DUPLICATE KEY UPDATE", first("REPLACE")},
	{"EXCEPT", "not on MySQL before 8.0.31 and not on the sharded engine", seq("EXCEPT")},
	{"INTERSECT", "not on MySQL before 8.0.31 and not on the sharded engine", seq("INTERSECT")},
	{"VALUES ROW", "unknown to MariaDB", seq("VALUES", "ROW")},
	{"JSON_TABLE", "not on the sharded engine", seq("JSON_TABLE")},
	{"row-value comparison", "sqlc drops its parameters, write a > ? OR (a = ? AND b > ?)", rowValues},
	{"LIMIT inside IN", "refused by MySQL", limitInside("IN")},
	{"LIMIT inside UNION", "wrong rows on the sharded engine", limitInUnion},
	{"joined UPDATE", "locks in an order nobody wrote down", joinedUpdate},
	{"joined DELETE", "locks in an order nobody wrote down", joinedDelete},
	{"WITH before UPDATE or DELETE", "unknown to MariaDB", withChange},
	{"functional index", "unknown to MariaDB, index a stored generated column", inTables(functionalIndex)},
	{"INVISIBLE", "unknown to MariaDB", inTables(seq("INVISIBLE"))},
	{"NULL after STORED", "refused by MariaDB", inTables(nullAfterStored)},
	{"DROP CHECK", "unknown to MariaDB, write DROP CONSTRAINT", inTables(seq("DROP", "CHECK"))},
	{"GET_LOCK", "session state, only migrations hold one", prefixed("GET_LOCK")},
	{"user variable", "session state", prefixed("@")},
	{"SAVEPOINT", "sqlc drops it without an error, the transaction helper holds them", seq("SAVEPOINT")},
	{"SET", "sqlc drops it without an error, session state", first("SET")},
}

// insertAlias finds VALUES (…) AS new ON DUPLICATE KEY UPDATE.
func insertAlias(st statement, _ bool) int {
	if at := st.find(")", "AS", "*", "ON", "DUPLICATE"); at >= 0 {
		return at + 1
	}
	return -1
}

// rowValues finds (a, b) > (…): a parenthesis with commas of its own that is
// compared and is neither a call nor a list behind IN.
func rowValues(st statement, _ bool) int {
	for i := range st.tokens {
		if !st.is(i, ")") || i+1 >= len(st.tokens) || !isComparison(st, i+1) {
			continue
		}
		open := st.opening(i)
		if open < 0 || len(st.topLevel(open, i)) < 2 {
			continue
		}
		if open == 0 || st.tokens[open-1].kind == sign || rowBefore[st.tokens[open-1].up] {
			return open
		}
	}
	return -1
}

// rowBefore are the keywords a row value may stand behind; any other word makes it a call.
var rowBefore = map[string]bool{"WHERE": true, "AND": true, "OR": true, "ON": true, "NOT": true, "HAVING": true, "WHEN": true}

func isComparison(st statement, i int) bool {
	for _, op := range []string{"=", "<", ">", "<=", ">=", "<>", "!=", "<=>", "IN"} {
		if st.is(i, op) {
			return true
		}
	}
	return st.is(i, "NOT", "IN")
}

// limitInside finds LIMIT in a subquery behind the keyword.
func limitInside(keyword string) func(statement, bool) int {
	return func(st statement, _ bool) int {
		for i := range st.tokens {
			if !st.is(i, keyword, "(", "SELECT") {
				continue
			}
			for k := i; k < st.closing(i+1); k++ {
				if st.is(k, "LIMIT") {
					return k
				}
			}
		}
		return -1
	}
}

// limitInUnion finds LIMIT in a parenthesised branch of a UNION.
func limitInUnion(st statement, _ bool) int {
	if st.find("UNION") < 0 {
		return -1
	}
	depth := 0
	for i := range st.tokens {
		switch {
		case st.is(i, "("):
			depth++
		case st.is(i, ")"):
			depth--
		case depth > 0 && st.is(i, "LIMIT"):
			return i
		}
	}
	return -1
}

// joinedUpdate finds an UPDATE of more than one table.
func joinedUpdate(st statement, _ bool) int {
	if !st.is(0, "UPDATE") {
		return -1
	}
	for i := range st.tokens {
		if st.is(i, "SET") {
			return -1
		}
		if st.is(i, ",") || st.is(i, "JOIN") {
			return i
		}
	}
	return -1
}

// joinedDelete finds DELETE a FROM, DELETE … USING and DELETE … JOIN.
func joinedDelete(st statement, _ bool) int {
	if !st.is(0, "DELETE") {
		return -1
	}
	if !st.is(1, "FROM") {
		return 0
	}
	for i := range st.tokens {
		if st.is(i, "WHERE") {
			return -1
		}
		if st.is(i, ",") || st.is(i, "JOIN") || st.is(i, "USING") {
			return i
		}
	}
	return -1
}

func withChange(st statement, _ bool) int {
	if !st.is(0, "WITH") {
		return -1
	}
	for i := range st.tokens {
		if st.is(i, ")", "UPDATE") || st.is(i, ")", "DELETE") {
			return i + 1
		}
	}
	return -1
}

// functionalIndex finds an index over an expression: a parenthesis right behind
// the one that opens the parts.
func functionalIndex(st statement, _ bool) int {
	for i := range st.tokens {
		if (st.is(i, "KEY") || st.is(i, "INDEX")) && (st.is(i+1, "*", "(", "(") || st.is(i+1, "(", "(")) {
			return i
		}
	}
	return -1
}

func nullAfterStored(st statement, _ bool) int {
	if at := st.find("STORED", "NULL"); at >= 0 {
		return at
	}
	return st.find("STORED", "NOT", "NULL")
}
