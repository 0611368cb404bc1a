package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"
	_ "ariga.io/atlas/sql/mysql/mysqlcheck" // registers Atlas' own analyzers
	"ariga.io/atlas/sql/schema"
	"ariga.io/atlas/sql/sqlcheck"
	"ariga.io/atlas/sql/sqlclient"
	"github.com/go-sql-driver/mysql"
)

// Lint replays the migrations statement by statement and objects to what may
// lose data, lock for long or break a rule of the house: Atlas' analyzers plus
// houseRules. latest limits it to the newest files; 0 lints all of them.
//
// A deliberate exception is written into the migration as the stock CLI writes
// it, `-- atlas:nolint CODE`, above the statement or at the top of the file. The
// rules that are never waived are in neverWaived.
func (s *Source) Lint(ctx context.Context, dev *mysql.Config, latest int) (found []Finding, err error) {
	files, err := s.files()
	if err != nil {
		return findingOf(err)
	}
	first := 0
	if latest > 0 {
		first = max(0, len(files)-latest)
	}
	err = withScratch(ctx, dev, func(sc *scratch) error {
		if err := sc.replay(ctx, files[:first], -1); err != nil {
			return err
		}
		for _, f := range files[first:] {
			part, err := sc.lintFile(ctx, f)
			if err != nil {
				return err
			}
			found = append(found, part...)
		}
		return nil
	})
	return found, err
}

// step is one statement with the schema before and after it.
type step struct {
	stmt    *atlas.Stmt
	from    *schema.Schema
	to      *schema.Schema
	changes []schema.Change
}

func (s *scratch) lintFile(ctx context.Context, f atlas.File) ([]Finding, error) {
	steps, err := s.trace(ctx, f)
	if err != nil {
		return nil, err
	}
	waivers := newWaivers(f, steps)
	var found []Finding
	report := func(code string, pos int, text string) {
		if !waivers.cover(code, pos) {
			found = append(found, Finding{Code: code, File: f.Name(), Line: lineOf(f.Bytes(), pos), Text: text})
		}
	}
	for _, st := range steps {
		for _, rule := range houseRules {
			for _, text := range rule.check(st) {
				report(rule.code, st.stmt.Pos, text)
			}
		}
	}
	return found, s.atlasAnalyzers(ctx, f, steps, report)
}

// trace executes the statements of f and records what each one changed.
func (s *scratch) trace(ctx context.Context, f atlas.File) ([]step, error) {
	stmts, err := atlas.FileStmtDecls(s.drv, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	from, err := s.drv.InspectSchema(ctx, "", nil)
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, stmt := range stmts {
		if _, err := s.db.ExecContext(ctx, stmt.Text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", f.Name(), lineOf(f.Bytes(), stmt.Pos), err)
		}
		to, err := s.drv.InspectSchema(ctx, "", nil)
		if err != nil {
			return nil, err
		}
		changes, err := s.drv.SchemaDiff(from, to, schema.DiffNormalized())
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{stmt, from, to, changes})
		from = to
	}
	return steps, nil
}

// atlasAnalyzers runs the library's analyzers over the traced file.
func (s *scratch) atlasAnalyzers(ctx context.Context, f atlas.File, steps []step, report func(string, int, string)) error {
	if len(steps) == 0 {
		return nil
	}
	analyzers, err := sqlcheck.AnalyzerFor("mysql", nil)
	if err != nil {
		return err
	}
	file := &sqlcheck.File{File: f, From: realmOf(steps[0].from), To: realmOf(steps[len(steps)-1].to)}
	for _, st := range steps {
		file.Changes = append(file.Changes, &sqlcheck.Change{Changes: st.changes, Stmt: st.stmt})
	}
	if file.Sum, err = s.drv.SchemaDiff(steps[0].from, steps[len(steps)-1].to, schema.DiffNormalized()); err != nil {
		return err
	}
	pass := &sqlcheck.Pass{File: file,
		Dev: &sqlclient.Client{Name: "mysql", DB: s.db, Driver: s.drv, URL: &sqlclient.URL{Schema: s.name}},
		Reporter: sqlcheck.ReportWriterFunc(func(r sqlcheck.Report) {
			for _, d := range r.Diagnostics {
				report(d.Code, d.Pos, d.Text)
			}
		})}
	for _, a := range analyzers {
		// An analyzer returns an error to fail the command; what it found is reported already.
		_ = a.Analyze(ctx, pass)
	}
	return nil
}

func realmOf(s *schema.Schema) *schema.Realm { return schema.NewRealm(s) }

// neverWaived are the rules no migration may except itself from (O3, O4).
var neverWaived = []string{codeForeign, "cascade", "comment_missing"}

// waivers are the nolint directives of a file, by statement position; -1 is the file.
type waivers map[int][]string

func newWaivers(f atlas.File, steps []step) waivers {
	w := waivers{}
	if d, ok := f.(interface{ Directive(string) []string }); ok {
		w[-1] = codes(d.Directive("nolint"))
	}
	for _, st := range steps {
		w[st.stmt.Pos] = codes(st.stmt.Directive("nolint"))
	}
	return w
}

// codes splits directive arguments. A bare nolint names nothing and waives
// nothing: an exception says what it excepts.
func codes(directives []string) []string {
	var out []string
	for _, d := range directives {
		out = append(out, strings.Fields(d)...)
	}
	return out
}

func (w waivers) cover(code string, pos int) bool {
	if slices.Contains(neverWaived, code) {
		return false
	}
	return slices.Contains(w[-1], code) || slices.Contains(w[pos], code)
}
