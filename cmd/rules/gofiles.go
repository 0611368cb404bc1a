package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const rootModule = "github.com/orbitrun/orbit"

// goFile is one parsed Go file of the checkout.
type goFile struct {
	file
	syntax  *ast.File
	set     *gotoken.FileSet
	imports []goImport
}

type goImport struct {
	path string
	line int
}

// checkGo parses every Go file once and holds it against the rules.
func checkGo(t *tree, r *report) error {
	for _, f := range t.files {
		if !strings.HasSuffix(f.path, ".go") {
			continue
		}
		g, err := parse(f)
		if err != nil {
			return err
		}
		r.seen["go_files"]++
		checkFunctions(g, r)
		for _, i := range g.imports {
			checkImport(g, i, r)
		}
		if f.module != "" || f.isGenerated() {
			continue
		}
		if !f.isTest() {
			checkBegin(g, r)
			checkSQLText(g, r)
		}
		if inside(f.path, "engine") && !f.isTest() {
			checkClock(g, r)
		}
	}
	return nil
}

func parse(f file) (*goFile, error) {
	set := gotoken.NewFileSet()
	syntax, err := parser.ParseFile(set, f.path, f.text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	g := &goFile{file: f, syntax: syntax, set: set}
	for _, i := range syntax.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", f.path, i.Path.Value, err)
		}
		g.imports = append(g.imports, goImport{path, g.line(i)})
	}
	return g, nil
}

func (g *goFile) line(n ast.Node) int { return g.set.Position(n.Pos()).Line }

func checkImport(g *goFile, i goImport, r *report) {
	sdk := rootModule + "/sdk"
	own := inside(i.path, rootModule)
	switch {
	case g.module == "sdk" && own && !inside(i.path, sdk):
		r.add(ruleModules, g.path, i.line, "the SDK imports %s: it is a module of its own and knows no server code (O2)", i.path)
	case g.module == "" && inside(i.path, sdk):
		r.add(ruleModules, g.path, i.line, "the server imports %s: the SDK is for callers (O2)", i.path)
	}
	if strings.HasPrefix(i.path, "github.com/labstack/echo") && g.module == "" && folderOf(g.path) != "api" && !g.isGenerated() {
		r.add(ruleEcho, g.path, i.line, "%s: only the shell in api knows the web framework", i.path)
	}
	if g.module != "" || g.isTest() {
		return
	}
	if inside(g.path, "engine") {
		checkEngineImport(g, i, r)
	}
	checkFloor(g, i, r)
}

// impure are the standard packages through which a clock, a network, a database
// or chance would reach a decision.
var impure = map[string]string{
	"context": "waits", "database/sql": "database", "database/sql/driver": "database",
	"math/rand": "chance", "math/rand/v2": "chance", "crypto/rand": "chance",
	"net": "network", "net/http": "network", "os": "outside world", "os/exec": "outside world", "io/fs": "outside world",
	"syscall": "outside world", "log": "outside world", "log/slog": "outside world", "sync": "threads", "sync/atomic": "threads",
}

// engineLibraries are what the engine may import beside the standard library and
// itself: one decimal library.
var engineLibraries = []string{"github.com/cockroachdb/apd/v3"}

func checkEngineImport(g *goFile, i goImport, r *report) {
	standard := !strings.Contains(strings.SplitN(i.path, "/", 2)[0], ".")
	switch {
	case standard && impure[i.path] != "":
		r.add(ruleEngine, g.path, i.line, "import %s (%s): the engine is pure, callers bring time, rows and chance", i.path, impure[i.path])
	case standard, slices.Contains(engineLibraries, i.path), inside(i.path, rootModule+"/engine"):
	default:
		r.add(ruleEngine, g.path, i.line, "import %s: the engine imports the standard library, apd and itself", i.path)
	}
}

// clocks are the names of package time that read a clock or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

func checkClock(g *goFile, r *report) {
	ast.Inspect(g.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, s.Sel.Name) {
				r.add(ruleEngine, g.path, g.line(s), "time.%s: the database clock decides (O14), callers pass it in", s.Sel.Name)
			}
		}
		return true
	})
}

// floors name, for a folder, the folders above it that it must not import.
var floors = []struct{ folder, forbidden string }{
	{"gen", "api cmd engine"},
	{"engine", "api cmd gen"},
	{"api/store", "api/lane api/runner cmd"}, {"api/tx", "api/lane api/runner api/store cmd"},
	{"api/auth", "api/lane api/runner cmd"}, {"api/audit", "api/lane api/runner cmd"}, {"api/problem", "api/lane api/runner cmd"},
	{"api/lane", "cmd"}, {"api/runner", "cmd"}, {"api", "cmd"}, {"sql", "api cmd engine"},
}

func checkFloor(g *goFile, i goImport, r *report) {
	path, own := strings.CutPrefix(i.path, rootModule+"/")
	if !own {
		return
	}
	for _, f := range floors {
		if !inside(g.path, f.folder) {
			continue
		}
		for _, above := range strings.Fields(f.forbidden) {
			if inside(path, above) && !inside(path, f.folder) {
				r.add(ruleFloor, g.path, i.line, "%s imports %s: floors are cmd, api, api/lane and runner, api/store and below, engine and gen", f.folder, path)
				return
			}
		}
	}
	// The shell itself is above everything in api.
	if inside(g.path, "api") && folderOf(g.path) != "api" && path == "api" {
		r.add(ruleFloor, g.path, i.line, "%s imports the shell", folderOf(g.path))
	}
}

// checkBegin keeps transactions inside api/tx: only its helper retries, orders
// locks and resolves unknown commits.
func checkBegin(g *goFile, r *report) {
	if excepted(g.path, beginExceptions) {
		return
	}
	ast.Inspect(g.syntax, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := c.Fun.(*ast.SelectorExpr)
		if ok && (s.Sel.Name == "BeginTx" || s.Sel.Name == "Begin") {
			r.add(ruleBegin, g.path, g.line(s.Sel), "%s outside api/tx: use tx.Run", s.Sel.Name)
		}
		return true
	})
}

// sqlText recognises a string that is SQL: statement words in capitals, as
// everybody writes them, and enough of them that no English sentence matches.
var sqlText = regexp.MustCompile(`^\s*(SELECT\s|INSERT\s+(INTO|IGNORE)\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|REPLACE\s+INTO\s|` +
	`(CREATE|ALTER|DROP|TRUNCATE)\s+(TABLE|DATABASE|INDEX|USER|SCHEMA|TRIGGER|VIEW)\b|SAVEPOINT\s|ROLLBACK\b|COMMIT\b|START\s+TRANSACTION\b|` +
	`LOCK\s+TABLES\s|SET\s+(SESSION|GLOBAL|@)|SHOW\s+(GLOBAL|FULL|TABLES|VARIABLES|STATUS|ENGINE)|EXPLAIN\s|WITH\s+\w+\s+AS\s*\(|KILL\s)`)

// checkSQLText keeps statements in sql/queries, where sqlc compiles them and the
// other rules read them.
func checkSQLText(g *goFile, r *report) {
	if excepted(g.path, sqlExceptions) {
		return
	}
	ast.Inspect(g.syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != gotoken.STRING {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && sqlText.MatchString(text) {
			r.add(ruleSQLInGo, g.path, g.line(lit), "SQL in Go: write a named query in sql/queries")
		}
		return true
	})
}
