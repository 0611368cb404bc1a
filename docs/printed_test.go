// Package docs_test keeps the documentation true: tables are printed from the code, links resolve, and every command
// the text names exists.
package docs_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the printed tables (make gen does it)")

// printed is a block of a document that a printer writes: everything between the two comments belongs to it.
var printed = regexp.MustCompile(`(?s)<!-- printed: ([a-z_]+) -->\n.*?<!-- /printed -->`)

// TestPrintedTables compares every printed block with what the code says now.
func TestPrintedTables(t *testing.T) {
	used := map[string]bool{}
	for _, path := range documents(t) {
		text := read(t, path)
		want := printed.ReplaceAllStringFunc(text, func(block string) string {
			name := printed.FindStringSubmatch(block)[1]
			print, ok := printers[name]
			if !ok {
				t.Fatalf("%s: there is no printer %q", path, name)
			}
			used[name] = true
			return fmt.Sprintf("<!-- printed: %s -->\n\n%s\n<!-- /printed -->", name, print(t))
		})
		if want == text {
			continue
		}
		if !*update {
			t.Errorf("%s: a printed table is not what the code says; run make gen", path)
			continue
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range printers {
		if !used[name] {
			t.Errorf("no document shows the table %q", name)
		}
	}
}

// table prints rows as Markdown; a bar inside a cell would end it.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for _, cell := range cells {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", "\\|") + " ")
		}
		b.WriteString("|\n")
	}
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}
