package main

import (
	"strings"

	"github.com/orbitrun/orbit/sql/migrate"
)

// checkSchema looks at the desired state and at the migrations: no foreign key,
// no cascade, and a Chinese COMMENT that explains on every table and column.
func checkSchema(t *tree, r *report) {
	for _, folder := range []string{"sql/schema", "sql/migrations"} {
		for _, f := range t.sqlIn(folder) {
			for _, st := range statementsOf(f.text) {
				checkRelations(f, st, r)
				if open := createTable(st); open >= 0 {
					checkComments(f, st, open, folder == "sql/schema", r)
				}
			}
		}
	}
}

func checkRelations(f file, st statement, r *report) {
	for i, t := range st.tokens {
		switch {
		case st.is(i, "FOREIGN", "KEY"), t.up == "REFERENCES" && !st.is(i-1, "KEY") && st.find("FOREIGN", "KEY") < 0:
			r.add(ruleForeignKey, f.path, t.line, "foreign key: relations are checked by the server in its own transaction")
		case st.is(i, "ON", "DELETE"), st.is(i, "ON", "UPDATE") && !st.is(i, "ON", "UPDATE", "CURRENT_TIMESTAMP"):
			r.add(ruleCascade, f.path, t.line, "%s %s: nothing changes rows behind the server's back", t.up, st.tokens[i+1].up)
		case st.is(i, "CREATE", "TRIGGER"), st.is(i, "CREATE", "EVENT"), st.is(i, "CREATE", "PROCEDURE"):
			r.add(ruleCascade, f.path, t.line, "%s: nothing changes rows behind the server's back", strings.ToLower(st.tokens[i+1].up))
		}
	}
}

// createTable returns the parenthesis that opens the definition of a CREATE TABLE, or -1.
func createTable(st statement) int {
	if !st.is(0, "CREATE", "TABLE") {
		return -1
	}
	return st.find("(")
}

// notColumns start the entries of a table that are not columns.
var notColumns = map[string]bool{"PRIMARY": true, "UNIQUE": true, "KEY": true, "INDEX": true, "CONSTRAINT": true,
	"CHECK": true, "FOREIGN": true, "FULLTEXT": true, "SPATIAL": true}

func checkComments(f file, st statement, open int, count bool, r *report) {
	end := st.closing(open)
	table := st.tokens[open-1].text
	check := func(name string, line int, tokens []token) {
		switch fault := migrate.CommentFault(name, commentIn(tokens)); {
		case fault == "":
		case strings.Contains(fault, "repeats"):
			r.add(ruleCommentName, f.path, line, "%s %s", name, fault)
		default:
			r.add(ruleComment, f.path, line, "%s %s", name, fault)
		}
	}
	for _, entry := range st.topLevel(open, end) {
		if len(entry) == 0 || entry[0].kind == word && notColumns[entry[0].up] {
			continue
		}
		check(table+"."+entry[0].text, entry[0].line, entry)
		if count {
			r.seen["columns"]++
		}
	}
	check(table, st.line, st.tokens[min(end+1, len(st.tokens)):])
	if count {
		r.seen["tables"]++
	}
}

// commentIn returns the text behind COMMENT or COMMENT=.
func commentIn(tokens []token) string {
	for i, t := range tokens {
		if t.kind != word || t.up != "COMMENT" {
			continue
		}
		for _, next := range tokens[i+1 : min(i+3, len(tokens))] {
			if next.kind == literal {
				return next.text
			}
		}
	}
	return ""
}
