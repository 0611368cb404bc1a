package migrate

import (
	"fmt"
	"regexp"
	"strings"

	"ariga.io/atlas/sql/schema"
)

// houseRules are the objections Atlas does not know. Each check returns one
// text per objection to one statement.
var houseRules = []struct {
	code  string
	check func(step) []string
}{
	{codeForeign, foreignKeys},
	{"cascade", cascades},
	{"comment_missing", comments},
	{"narrowed_type", onColumns(narrowedColumn)},
	{"dropped_column", droppedColumns},
	{"dropped_index", droppedIndexes},
	{"dropped_check", droppedChecks},
	{"data_change", dataChanges},
}

// foreignKeys objects to every foreign key the statement adds (O4).
func foreignKeys(st step) []string {
	return eachForeignKey(st, func(fk *schema.ForeignKey) string {
		return fmt.Sprintf("foreign key %s on table %s: relations are checked by the server in its transaction, no foreign keys", fk.Symbol, fk.Table.Name)
	})
}

// cascades objects to actions a foreign key would take on its own, and to triggers.
func cascades(st step) []string {
	found := eachForeignKey(st, func(fk *schema.ForeignKey) string {
		for _, action := range []schema.ReferenceOption{fk.OnDelete, fk.OnUpdate} {
			if action != "" && action != schema.NoAction && action != schema.Restrict {
				return fmt.Sprintf("foreign key %s on table %s cascades (%s): nothing changes rows behind the server's back", fk.Symbol, fk.Table.Name, action)
			}
		}
		return ""
	})
	if createsTrigger.MatchString(st.stmt.Text) {
		found = append(found, "triggers change rows behind the server's back")
	}
	return found
}

var createsTrigger = regexp.MustCompile(`(?i)^\s*CREATE\s+(?:DEFINER\s*=\s*\S+\s+)?TRIGGER\b`)

func eachForeignKey(st step, text func(*schema.ForeignKey) string) []string {
	var found []string
	add := func(fk *schema.ForeignKey) {
		if t := text(fk); t != "" {
			found = append(found, t)
		}
	}
	for _, c := range st.changes {
		switch c := c.(type) {
		case *schema.AddTable:
			for _, fk := range c.T.ForeignKeys {
				add(fk)
			}
		case *schema.ModifyTable:
			for _, inner := range c.Changes {
				switch inner := inner.(type) {
				case *schema.AddForeignKey:
					add(inner.F)
				case *schema.ModifyForeignKey:
					add(inner.To)
				}
			}
		}
	}
	return found
}

// comments checks the COMMENT of every table and column the statement touches (O3).
func comments(st step) []string {
	var found []string
	check := func(name string, attrs []schema.Attr) {
		if fault := CommentFault(name, commentOf(attrs)); fault != "" {
			found = append(found, name+" "+fault)
		}
	}
	for _, c := range st.changes {
		switch c := c.(type) {
		case *schema.AddTable:
			check(c.T.Name, c.T.Attrs)
			for _, col := range c.T.Columns {
				check(c.T.Name+"."+col.Name, col.Attrs)
			}
		case *schema.ModifyTable:
			check(c.T.Name, c.T.Attrs)
			for _, inner := range c.Changes {
				switch inner := inner.(type) {
				case *schema.AddColumn:
					check(c.T.Name+"."+inner.C.Name, inner.C.Attrs)
				case *schema.ModifyColumn:
					check(c.T.Name+"."+inner.To.Name, inner.To.Attrs)
				}
			}
		}
	}
	return found
}

func commentOf(attrs []schema.Attr) string {
	for _, a := range attrs {
		if c, ok := a.(*schema.Comment); ok {
			return c.Text
		}
	}
	return ""
}

// onColumns turns a check of one modified column into a rule.
func onColumns(check func(table string, c *schema.ModifyColumn) string) func(step) []string {
	return eachInner(func(table string, inner schema.Change) string {
		if c, ok := inner.(*schema.ModifyColumn); ok {
			return check(table, c)
		}
		return ""
	})
}

// eachInner turns a check of one change inside a table into a rule.
func eachInner(text func(table string, inner schema.Change) string) func(step) []string {
	return func(st step) []string {
		var found []string
		for _, c := range st.changes {
			m, ok := c.(*schema.ModifyTable)
			if !ok {
				continue
			}
			for _, inner := range m.Changes {
				if t := text(m.T.Name, inner); t != "" {
					found = append(found, t)
				}
			}
		}
		return found
	}
}

var droppedColumns = eachInner(func(table string, inner schema.Change) string {
	if c, ok := inner.(*schema.DropColumn); ok {
		return fmt.Sprintf("column %s.%s is dropped with its data", table, c.C.Name)
	}
	return ""
})

var droppedIndexes = eachInner(func(table string, inner schema.Change) string {
	switch c := inner.(type) {
	case *schema.DropIndex:
		return fmt.Sprintf("index %s of table %s is dropped: queries that name or need it turn into scans", c.I.Name, table)
	case *schema.ModifyIndex:
		return fmt.Sprintf("index %s of table %s is rebuilt with other parts", c.To.Name, table)
	case *schema.DropPrimaryKey, *schema.ModifyPrimaryKey:
		return fmt.Sprintf("the primary key of table %s is changed", table)
	}
	return ""
})

var droppedChecks = eachInner(func(table string, inner schema.Change) string {
	switch c := inner.(type) {
	case *schema.DropCheck:
		return fmt.Sprintf("CHECK %s of table %s is dropped", c.C.Name, table)
	case *schema.ModifyCheck:
		return fmt.Sprintf("CHECK %s of table %s changes from %s to %s", c.To.Name, table, c.From.Expr, c.To.Expr)
	}
	return ""
})

// dataChanges objects to statements that change rows. Rows belong to the server's
// transactions, and an interrupted apply cannot tell whether such a statement ran.
func dataChanges(st step) []string {
	word, _, _ := strings.Cut(strings.TrimSpace(st.stmt.Text), " ")
	switch strings.ToUpper(word) {
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "TRUNCATE", "LOAD", "WITH", "CALL":
		return []string{strings.ToUpper(word) + " changes data: write it so that running it twice is harmless, and waive this rule by name"}
	}
	return nil
}
