package main

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
)

// Hard limits of house.md; the aims are 150 and 10.
const (
	fileLinesMax     = 600
	functionLinesMax = 100
)

// sizedExt are the kinds of file people read as a whole.
var sizedExt = []string{".go", ".sql", ".sh", ".ts", ".tsx", ".js", ".css"}

// checkSizes counts the lines of every file people write, tests included.
// Migrations are written by the planner and never edited, so their length is
// nobody's choice.
func checkSizes(t *tree, r *report) {
	for _, f := range t.files {
		if !slices.Contains(sizedExt, filepath.Ext(f.path)) || f.isGenerated() || inside(f.path, "sql/migrations") {
			continue
		}
		lines := strings.Count(f.text, "\n")
		r.most("longest_file", lines)
		if lines > fileLinesMax {
			r.add(ruleLongFile, f.path, lines, "%d lines, at most %d", lines, fileLinesMax)
		}
	}
}

func checkFunctions(g *goFile, r *report) {
	if g.isGenerated() {
		return
	}
	for _, d := range g.syntax.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := g.set.Position(f.End()).Line - g.line(f) + 1
		r.most("longest_function", lines)
		if lines > functionLinesMax {
			r.add(ruleLongFunction, g.path, g.line(f), "%s has %d lines, at most %d", f.Name.Name, lines, functionLinesMax)
		}
	}
}

// checkModules reads the go.mod files: the two modules do not require each other.
func checkModules(t *tree, r *report) {
	for _, f := range t.files {
		if filepath.Base(f.path) != "go.mod" || f.module != "" && f.module != "sdk" {
			continue
		}
		number := 0
		for line := range strings.Lines(f.text) {
			number++
			fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
			if len(fields) == 0 || strings.HasPrefix(line, "module ") {
				continue
			}
			if f.module == "" && fields[0] == rootModule+"/sdk" || f.module == "sdk" && fields[0] == rootModule {
				r.add(ruleModules, f.path, number, "requires %s: sdk and server are built without each other (O2)", fields[0])
			}
		}
	}
}
