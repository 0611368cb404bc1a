package migrate

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	atlasmysql "ariga.io/atlas/sql/mysql"
	"ariga.io/atlas/sql/schema"
	"github.com/go-sql-driver/mysql"
)

// applyLock names the server lock that keeps two `migrate apply` on one database
// apart. Lock names are shared by the whole server and at most 64 bytes long,
// therefore the digest of the database's name.
func applyLock(database string) string {
	digest := sha256.Sum256([]byte(database))
	return "orbit_migrate_" + hex.EncodeToString(digest[:8])
}

// Progress is one event of a running apply.
type Progress struct {
	File      string // migration being applied
	Statement string // statement about to run; empty when the file starts
	Number    int    // of the statement in the file, from 1
	Total     int    // statements in the file
	Resumed   bool   // the file was left half-applied by an earlier run
}

// ApplyOptions tunes Apply; the zero value is what an operator wants.
type ApplyOptions struct {
	LockWait time.Duration // how long to wait for another apply; 0 means 10 s
	Operator string        // recorded in the revision, e.g. "orbit v1.2.0"
	Scratch  *mysql.Config // server for the scratch databases of a resume; nil means the target's own
	Progress func(Progress)
}

// Apply brings the database of cfg to the newest migration and returns how many
// files it applied. Every statement is recorded as soon as it has run, so a
// killed apply is continued by the next one: see settle for the statement that
// was under way. Forward only (O4): it refuses a database that is newer, edited
// or holds foreign tables.
func (s *Source) Apply(ctx context.Context, cfg *mysql.Config, opt ApplyOptions) (int, error) {
	if cfg.DBName == "" {
		return 0, ErrNoDatabase
	}
	files, err := s.files()
	if err != nil {
		return 0, err
	}
	db, err := openDatabase(cfg, cfg.DBName)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	drv, unlock, err := lock(ctx, db, cfg.DBName, opt)
	if err != nil {
		return 0, err
	}
	applied, err := s.applyLocked(ctx, db, drv, files, cfg, opt)
	return applied, errors.Join(err, unlock())
}

// lock checks the engine and takes the apply lock of this database.
func lock(ctx context.Context, db *sql.DB, database string, opt ApplyOptions) (atlas.Driver, schema.UnlockFunc, error) {
	engine, err := ReadEngine(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	if err := engine.Refuse(); err != nil {
		return nil, nil, err
	}
	drv, err := atlasmysql.Open(db)
	if err != nil {
		return nil, nil, err
	}
	wait := opt.LockWait
	if wait == 0 {
		wait = 10 * time.Second
	}
	locker, ok := drv.(schema.Locker)
	if !ok {
		return nil, nil, errors.New("the database driver offers no named lock")
	}
	unlock, err := locker.Lock(ctx, applyLock(database), wait)
	if errors.Is(err, schema.ErrLocked) {
		return nil, nil, &Refusal{Code: "migration_locked", Detail: fmt.Sprintf(
			"another `orbit migrate apply` is at work on this database; waited %s, try again when it has ended", wait)}
	}
	return drv, unlock, err
}

func (s *Source) applyLocked(ctx context.Context, db *sql.DB, drv atlas.Driver, files []atlas.File, cfg *mysql.Config, opt ApplyOptions) (int, error) {
	store := revisions{db}
	if err := store.create(ctx); err != nil {
		return 0, err
	}
	revs, err := store.ReadRevisions(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.compareRevisions(files, revs); err != nil && refusalCode(err) != codeOlder && refusalCode(err) != codePartial {
		return 0, err
	}
	if err := refuseForeign(ctx, db, revs); err != nil {
		return 0, err
	}
	applied := 0
	for {
		resumed, _, err := s.settle(ctx, db, drv, files, revs, scratchServer(cfg, opt))
		if err != nil {
			return applied, err
		}
		n, err := s.execute(ctx, drv, store, resumed, opt)
		applied += n
		if err == nil || !errors.As(err, new(*atlas.StmtExecError)) {
			return applied, err
		}
		// The failed statement may have run after all: the server goes on with the
		// statement of a client that died, and its apply lock is gone by then.
		if revs, err = store.ReadRevisions(ctx); err != nil {
			return applied, err
		}
		if _, counted, serr := s.settle(ctx, db, drv, files, revs, scratchServer(cfg, opt)); serr != nil || !counted {
			return applied, explainFailure(revs)
		}
	}
}

// execute applies the pending files and returns how many of them it completed.
func (s *Source) execute(ctx context.Context, drv atlas.Driver, store revisions, resumed string, opt ApplyOptions) (int, error) {
	exec, err := atlas.NewExecutor(drv, s.migrations, store, atlas.WithOperatorVersion(operator(opt)),
		atlas.WithExecOrder(atlas.ExecOrderLinear), atlas.WithLogger(&progressLogger{report: opt.Progress, resumed: resumed, drv: drv}))
	if err != nil {
		return 0, err
	}
	pending, err := exec.Pending(ctx)
	if errors.Is(err, atlas.ErrNoPendingFiles) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for i, f := range pending {
		if err := exec.Execute(ctx, f); err != nil {
			return i, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
	}
	return len(pending), nil
}

// explainFailure says which statement of the last revision failed and why. The
// statement is shortened: the whole of it is in the file and in the revision.
func explainFailure(revs []*atlas.Revision) error {
	rev := revs[len(revs)-1]
	first, _, _ := strings.Cut(rev.ErrorStmt, "\n")
	return &Refusal{Code: "migration_failed", Detail: fmt.Sprintf(
		"migration %s_%s stopped at statement %d of %d (%s): %s; fix the cause and run `orbit migrate apply` again, it continues at this statement",
		rev.Version, rev.Description, rev.Applied+1, rev.Total, first, rev.Error)}
}

func scratchServer(cfg *mysql.Config, opt ApplyOptions) *mysql.Config {
	if opt.Scratch != nil {
		return opt.Scratch
	}
	return cfg
}

func operator(opt ApplyOptions) string {
	if opt.Operator == "" {
		return "orbit"
	}
	return opt.Operator
}

// refuseForeign refuses a database that holds tables but no history: they are
// somebody else's, or were created without migrations.
func refuseForeign(ctx context.Context, db *sql.DB, revs []*atlas.Revision) error {
	if len(revs) > 0 {
		return nil
	}
	tables, err := textRows(ctx, db, `SELECT TABLE_NAME FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> '`+RevisionTable+`' ORDER BY TABLE_NAME`)
	if err != nil || len(tables) == 0 {
		return err
	}
	return &Refusal{Code: "database_not_empty", Detail: fmt.Sprintf(
		"the database holds %d tables but no migration history (the first is %s); give Orbit an empty database of its own", len(tables), tables[0][0])}
}

// progressLogger turns Atlas' log entries into Progress events.
type progressLogger struct {
	report  func(Progress)
	resumed string // version of the half-applied file, if any
	drv     atlas.Driver
	now     Progress
}

func (l *progressLogger) Log(entry atlas.LogEntry) {
	if l.report == nil {
		return
	}
	switch e := entry.(type) {
	case atlas.LogFile:
		l.now = Progress{File: e.File.Name(), Number: e.Skip, Resumed: e.Version == l.resumed}
		if stmts, err := atlas.FileStmtDecls(l.drv, e.File); err == nil {
			l.now.Total = len(stmts)
		}
		l.report(l.now)
	case atlas.LogStmt:
		l.now.Number++
		l.now.Statement = e.SQL
		l.report(l.now)
	}
}
