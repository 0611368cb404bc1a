package migrate

import (
	"fmt"

	atlasmysql "ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/schema"
)

// narrowedColumn objects to a column that afterwards holds less than before.
func narrowedColumn(table string, c *schema.ModifyColumn) string {
	where := fmt.Sprintf("column %s.%s", table, c.To.Name)
	if c.From.Type.Null && !c.To.Type.Null {
		return where + " no longer accepts NULL: rows that hold one make the statement fail or change"
	}
	if !c.Change.Is(schema.ChangeType) || !narrowed(c.From.Type.Type, c.To.Type.Type) {
		return ""
	}
	return fmt.Sprintf("%s is narrowed from %s to %s", where, typeWord(c.From.Type.Type), typeWord(c.To.Type.Type))
}

func typeWord(t schema.Type) string {
	word, err := atlasmysql.FormatType(t)
	if err != nil {
		return fmt.Sprintf("%T", t)
	}
	return word
}

// narrowed reports whether some value of from has no place in to. A change of
// the kind of type counts as narrowing: whether it is harmless is for a person
// to say.
func narrowed(from, to schema.Type) bool {
	switch f := from.(type) {
	case *schema.IntegerType:
		t, ok := to.(*schema.IntegerType)
		return !ok || narrowedInteger(f, t)
	case *schema.StringType:
		t, ok := to.(*schema.StringType)
		return !ok || textSize(t.T, t.Size) < textSize(f.T, f.Size)
	case *schema.BinaryType:
		t, ok := to.(*schema.BinaryType)
		return !ok || textSize(t.T, deref(t.Size, 1)) < textSize(f.T, deref(f.Size, 1))
	case *schema.DecimalType:
		t, ok := to.(*schema.DecimalType)
		return !ok || t.Scale < f.Scale || t.Precision-t.Scale < f.Precision-f.Scale
	case *schema.TimeType:
		t, ok := to.(*schema.TimeType)
		return !ok || t.T != f.T || deref(t.Precision, 0) < deref(f.Precision, 0)
	}
	return typeWord(from) != typeWord(to)
}

// integerBytes is the width of each integer type in bytes.
var integerBytes = map[string]int{"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}

// narrowedInteger compares ranges: unsigned fits into signed only when that is wider.
func narrowedInteger(from, to *schema.IntegerType) bool {
	f, t := integerBytes[from.T], integerBytes[to.T]
	switch {
	case from.Unsigned == to.Unsigned:
		return t < f
	case from.Unsigned:
		return t <= f
	}
	return true
}

// textSize is the greatest length a text or binary type holds.
func textSize(name string, size int) int {
	switch name {
	case "tinytext", "tinyblob":
		return 1<<8 - 1
	case "text", "blob":
		return 1<<16 - 1
	case "mediumtext", "mediumblob":
		return 1<<24 - 1
	case "longtext", "longblob":
		return 1<<32 - 1
	}
	return size
}

func deref(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}
