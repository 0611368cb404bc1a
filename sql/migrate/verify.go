package migrate

import (
	"context"
	"errors"
	"fmt"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
	"github.com/go-sql-driver/mysql"
)

// Finding is one thing Verify or Lint objects to.
type Finding struct {
	Code string `json:"code"`           // stable: snake_case of ours, or an Atlas code such as DS103
	File string `json:"file,omitempty"` // migration file, when the finding has a place
	Line int    `json:"line,omitempty"` // from 1; 0 when the finding is about no line
	Text string `json:"text"`
}

// Verify returns everything that breaks the chain files → replay → database: a
// seal that does not match, migrations that do not lead to sql/schema, a stale
// inventory, and (when target names a database) revisions that are not the
// files' and tables that are not the replay's. dev is the server for scratch
// databases. An empty result means that all of it agrees.
func (s *Source) Verify(ctx context.Context, dev, target *mysql.Config) ([]Finding, error) {
	if err := s.checkSum(); err != nil {
		return findingOf(err)
	}
	var found []Finding
	err := withScratch(ctx, dev, func(sc *scratch) error {
		files, err := s.files()
		if err != nil {
			return err
		}
		replayed, inv, err := sc.inspect(ctx, files)
		if err != nil {
			return err
		}
		if found, err = s.verifyFolders(ctx, sc, dev, replayed, inv); err != nil {
			return err
		}
		if target == nil {
			return nil
		}
		drift, err := s.verifyTarget(ctx, sc, target, replayed)
		found = append(found, drift...)
		return err
	})
	return found, err
}

// verifyFolders compares the replay of the migrations with sql/schema and with the inventory.
func (s *Source) verifyFolders(ctx context.Context, sc *scratch, dev *mysql.Config, replayed *schema.Realm, inv Inventory) ([]Finding, error) {
	want, wantInv, err := desired(ctx, dev, s)
	if err != nil {
		return nil, err
	}
	found, err := sc.difference(ctx, replayed.Schemas[0], want.Schemas[0], "schema_differs", "sql/migrations does not lead to sql/schema, `orbit migrate diff NAME` would write: ")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && inv.String() != wantInv.String() {
		found = append(found, Finding{Code: "schema_differs", Text: "sql/migrations does not lead to sql/schema: " + differenceWords(wantInv, inv)})
	}
	if inv.String() != s.inventory.String() {
		found = append(found, Finding{Code: "inventory_stale", File: InventoryFile,
			Text: "the inventory is not that of the migrations, run `orbit migrate diff`: " + differenceWords(inv, s.inventory)})
	}
	return found, nil
}

// verifyTarget compares a database with the files (revisions) and with the replay (tables).
func (s *Source) verifyTarget(ctx context.Context, sc *scratch, target *mysql.Config, replayed *schema.Realm) ([]Finding, error) {
	db, err := openDatabase(target, target.DBName)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	var found []Finding
	if err := s.Check(ctx, db); err != nil {
		if found, err = findingOf(err); err != nil {
			return nil, err
		}
	}
	live, err := inspectLive(ctx, db)
	if err != nil {
		return nil, err
	}
	drift, err := sc.difference(ctx, live, replayed.Schemas[0], codeDrift, "the database differs from the migrations, this would undo it: ")
	return append(found, drift...), err
}

// difference plans the statements that lead from one schema to the other and
// reports each as a finding.
func (sc *scratch) difference(ctx context.Context, from, to *schema.Schema, code, prefix string) ([]Finding, error) {
	renamed := *to
	renamed.Name = from.Name
	renamed.Attrs = from.Attrs // the database's own default collation: every table states its own
	changes, err := sc.drv.SchemaDiff(from, &renamed, schema.DiffNormalized())
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	plan, err := sc.drv.PlanChanges(ctx, "difference", changes, func(o *atlas.PlanOptions) { o.SchemaQualifier = new(string) })
	if err != nil {
		return nil, fmt.Errorf("plan the difference: %w", err)
	}
	var found []Finding
	for _, c := range plan.Changes {
		found = append(found, Finding{Code: code, Text: prefix + c.Cmd})
	}
	return found, nil
}

// findingOf turns a refusal into a finding and passes trouble on.
func findingOf(err error) ([]Finding, error) {
	var r *Refusal
	if errors.As(err, &r) {
		return []Finding{{Code: r.Code, Text: r.Detail}}, nil
	}
	return nil, err
}
