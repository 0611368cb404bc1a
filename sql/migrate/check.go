package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	atlas "ariga.io/atlas/sql/migrate"

	orbitsql "github.com/orbitrun/orbit/sql"
)

// Codes of the refusals that Check and Verify return.
const (
	codeOlder   = "schema_older"
	codeNewer   = "schema_newer"
	codePartial = "schema_partial"
	codeEdited  = "migration_edited"
	codeDrift   = "schema_drift"
	codeForeign = "foreign_key"
)

// Check decides whether a node built from this source may start on db (O15). It
// refuses an unsupported engine, a schema that is older, newer, half-applied or
// applied from other files, and tables that were changed by hand, each with one
// sentence that says what to do. It only reads, and needs no scratch database.
func Check(ctx context.Context, db *sql.DB) error {
	source, err := Embedded(orbitsql.Files)
	if err != nil {
		return err
	}
	return source.Check(ctx, db)
}

// Check is the check of a node built from s.
func (s *Source) Check(ctx context.Context, db *sql.DB) error {
	engine, err := ReadEngine(ctx, db)
	if err != nil {
		return err
	}
	if err := engine.Refuse(); err != nil {
		return err
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	revs, err := revisions{db}.ReadRevisions(ctx)
	if err != nil {
		return fmt.Errorf("read %s: %w", RevisionTable, err)
	}
	if err := s.compareRevisions(files, revs); err != nil {
		return err
	}
	live, err := readInventory(ctx, db)
	if err != nil {
		return err
	}
	return s.compareInventory(live)
}

// compareRevisions compares what the database says was applied with the files.
// The hash of a file in atlas.sum covers all files before it, so an applied file
// that was edited and sealed again is found by its revision.
func (s *Source) compareRevisions(files []atlas.File, revs []*atlas.Revision) error {
	sum, err := s.migrations.Checksum()
	if err != nil {
		return err
	}
	for i, rev := range revs {
		if i >= len(files) {
			return &Refusal{codeNewer, fmt.Sprintf("the database is newer than this binary: it holds migration %s, which this binary does not know; start the newer binary", rev.Version)}
		}
		f := files[i]
		if rev.Version != f.Version() {
			return &Refusal{codeEdited, fmt.Sprintf("the database applied migration %s where this binary has %s; it belongs to another line of history, use the binary it was migrated with", rev.Version, f.Version())}
		}
		hash, err := sum.SumByName(f.Name())
		if err != nil {
			return err
		}
		if rev.Hash != hash {
			return &Refusal{codeEdited, fmt.Sprintf("migration %s was edited after it was applied to this database; restore the file and put the change into a new migration", f.Name())}
		}
		if rev.Applied != rev.Total {
			return &Refusal{codePartial, fmt.Sprintf("migration %s stopped after %d of %d statements; run `orbit migrate apply` to continue it", f.Name(), rev.Applied, rev.Total)}
		}
	}
	if missing := len(files) - len(revs); missing > 0 {
		return &Refusal{codeOlder, fmt.Sprintf("the database is older than this binary: %d of %d migrations are missing, the next is %s; run `orbit migrate apply`", missing, len(files), files[len(revs)].Name())}
	}
	return nil
}

// compareInventory compares the live tables with the inventory. Foreign keys are
// refused by name before anything else (O4).
func (s *Source) compareInventory(live Inventory) error {
	for _, line := range live {
		if name, found := strings.CutPrefix(line, "foreign key "); found {
			return &Refusal{codeForeign, fmt.Sprintf("the database holds the foreign key %s; Orbit checks relations itself and runs without any: drop it", name)}
		}
	}
	if words := differenceWords(s.inventory, live); words != "" {
		return &Refusal{codeDrift, "the tables were changed outside the migrations: " + words + "; undo that by hand, `orbit migrate verify` lists every difference and the statements that undo it"}
	}
	return nil
}

// differenceWordsMax is how many facts a sentence names before it counts the rest.
const differenceWordsMax = 3

// differenceWords names the first differences, or returns "" when there is none.
func differenceWords(want, have Inventory) string {
	missing, unexpected := want.Differences(have)
	var words []string
	for _, line := range missing {
		words = append(words, "missing "+line)
	}
	for _, line := range unexpected {
		words = append(words, "unexpected "+line)
	}
	if len(words) > differenceWordsMax {
		rest := len(words) - differenceWordsMax
		words = append(words[:differenceWordsMax], fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(words, "; ")
}

// refusalCode is the code of a Refusal anywhere in err, or "".
func refusalCode(err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}
