package migrate

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"slices"

	atlas "ariga.io/atlas/sql/migrate"
	"github.com/go-sql-driver/mysql"
)

// settle decides what an interrupted statement left behind. It returns the
// version of the half-applied file, if there is one, and whether the statement
// turned out to have run and is now counted.
//
// DDL commits by itself, so the statement and the revision that counts it cannot
// share a transaction: a process that dies between the two leaves a statement
// that has run uncounted, and running it again fails ("table exists"). The two
// possible states are replayed on a scratch database and compared with the live
// one; the revision is moved to the state that is really there. A database that
// is neither is refused, never guessed at.
func (s *Source) settle(ctx context.Context, db *sql.DB, drv atlas.Driver, files []atlas.File, revs []*atlas.Revision, server *mysql.Config) (version string, counted bool, err error) {
	if len(revs) == 0 {
		return "", false, nil
	}
	rev := revs[len(revs)-1]
	if rev.Applied == rev.Total {
		return "", false, nil
	}
	at := slices.IndexFunc(files, func(f atlas.File) bool { return f.Version() == rev.Version })
	if at < 0 {
		return "", false, nil // compareRevisions has refused this already
	}
	live, err := readInventory(ctx, db)
	if err != nil {
		return "", false, err
	}
	before, err := replayedInventory(ctx, server, files[:at+1], rev.Applied)
	if err != nil {
		return "", false, err
	}
	after, err := replayedInventory(ctx, server, files[:at+1], rev.Applied+1)
	if err != nil {
		return "", false, err
	}
	where := fmt.Sprintf("statement %d of %s", rev.Applied+1, files[at].Name())
	isBefore, isAfter := live.String() == before.String(), live.String() == after.String()
	switch {
	case isBefore && isAfter:
		return "", false, &Refusal{Code: "migration_ambiguous", Detail: where +
			" changes data and was interrupted, so it cannot be told whether it has run; look, then set `applied` of that row in " + RevisionTable + " to the statements that have run"}
	case isBefore:
		return rev.Version, false, nil
	case isAfter:
		return rev.Version, true, countStatement(ctx, db, drv, files[at], rev)
	}
	return "", false, &Refusal{Code: "migration_interrupted", Detail: fmt.Sprintf(
		"the tables are neither as before nor as after %s (%s); somebody changed them by hand: undo that, then run `orbit migrate apply` again", where, differenceWords(before, live))}
}

func replayedInventory(ctx context.Context, server *mysql.Config, files []atlas.File, limit int) (inv Inventory, err error) {
	err = withScratch(ctx, server, func(sc *scratch) error {
		if err := sc.replay(ctx, files, limit); err != nil {
			return err
		}
		inv, err = readInventory(ctx, sc.db)
		return err
	})
	return inv, err
}

// countStatement records one more statement as applied, with the running hash
// the executor verifies when it resumes.
func countStatement(ctx context.Context, db *sql.DB, drv atlas.Driver, f atlas.File, rev *atlas.Revision) error {
	stmts, err := atlas.FileStmtDecls(drv, f)
	if err != nil {
		return err
	}
	running := sha256.New()
	for _, stmt := range stmts[:rev.Applied+1] {
		_, _ = running.Write([]byte(stmt.Text)) // a hash never fails
	}
	rev.PartialHashes = append(rev.PartialHashes, "h1:"+base64.StdEncoding.EncodeToString(running.Sum(nil)))
	rev.Applied++
	rev.Error, rev.ErrorStmt = "", ""
	return revisions{db}.WriteRevision(ctx, rev)
}
