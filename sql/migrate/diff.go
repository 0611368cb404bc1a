package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/schema"
	"github.com/go-sql-driver/mysql"
)

// ErrNoChange says that the migrations already lead to the desired schema.
var ErrNoChange = errors.New("sql/migrations already leads to sql/schema: nothing to write")

var migrationName = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

// portable rewrites what Atlas plans for MySQL into what MariaDB reads as well:
// a nullability behind a generated column means nothing to MySQL and is an error
// there, and a CHECK is dropped as the constraint it is (MySQL since 8.0.19).
var portable = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\) STORED (?:NOT )?NULL`), ") STORED"},
	{regexp.MustCompile("DROP CHECK `"), "DROP CONSTRAINT `"},
}

// Planned is what Diff wrote.
type Planned struct {
	File       string   // name of the new file in sql/migrations
	Statements []string // its statements, in order
}

// Diff plans the way from the replayed migrations to sql/schema, writes it as
// VERSION_name.sql, re-seals atlas.sum and rewrites the inventory. It returns
// ErrNoChange, after refreshing a stale inventory, when both already agree.
func (s *Source) Diff(ctx context.Context, cfg *mysql.Config, name string) (*Planned, error) {
	if !migrationName.MatchString(name) {
		return nil, fmt.Errorf("migration name %q: use lower-case words joined by _", name)
	}
	if _, err := s.files(); err != nil {
		return nil, err
	}
	var planned *Planned
	err := withScratch(ctx, cfg, func(sc *scratch) error {
		want, inv, err := desired(ctx, cfg, s)
		if err != nil {
			return err
		}
		planned, err = s.plan(ctx, sc, want, name)
		if err != nil && !errors.Is(err, ErrNoChange) {
			return err
		}
		if inv.String() != s.inventory.String() {
			s.inventory = inv
			if werr := s.write(InventoryFile, []byte(inv.String())); werr != nil {
				return werr
			}
		}
		return err
	})
	return planned, err
}

// plan compares the replayed migrations with want and writes the difference.
// DiffNormalized makes Atlas see a changed CHECK.
func (s *Source) plan(ctx context.Context, sc *scratch, want *schema.Realm, name string) (*Planned, error) {
	planner := atlas.NewPlanner(sc.drv, s.migrations, atlas.PlanWithSchemaQualifier(""),
		atlas.PlanWithIndent("  "), atlas.PlanWithDiffOptions(schema.DiffNormalized()))
	plan, err := planner.PlanSchema(ctx, name, atlas.Realm(want))
	if errors.Is(err, atlas.ErrNoPlan) {
		return nil, ErrNoChange
	}
	if err != nil {
		return nil, fmt.Errorf("plan migration: %w", err)
	}
	plan.Version = s.nextVersion()
	for _, c := range plan.Changes {
		for _, p := range portable {
			c.Cmd = p.from.ReplaceAllString(c.Cmd, p.to)
		}
	}
	files, err := atlas.DefaultFormatter.Format(plan)
	if err != nil {
		return nil, err
	}
	out := &Planned{}
	for _, f := range files {
		out.File = f.Name()
		if err := s.write(f.Name(), f.Bytes()); err != nil {
			return nil, err
		}
	}
	for _, c := range plan.Changes {
		out.Statements = append(out.Statements, c.Cmd)
	}
	return out, s.Hash()
}

// nextVersion is the UTC second, moved past the newest file so that order by
// name stays order by age even when two files are written within one second.
func (s *Source) nextVersion() string {
	const layout = "20060102150405"
	at := time.Now().UTC()
	files, err := s.migrations.Files()
	if err != nil || len(files) == 0 {
		return at.Format(layout)
	}
	last, err := time.Parse(layout, files[len(files)-1].Version())
	if err == nil && !at.Truncate(time.Second).After(last) {
		at = last.Add(time.Second)
	}
	return at.Format(layout)
}

// Hash seals the migrations folder: it rewrites atlas.sum from the files as they are.
func (s *Source) Hash() error {
	sum, err := s.migrations.Checksum()
	if err != nil {
		return err
	}
	text, err := sum.MarshalText()
	if err != nil {
		return err
	}
	return s.write(atlas.HashFileName, text)
}

// desired replays sql/schema on a scratch database of its own and inspects it.
func desired(ctx context.Context, cfg *mysql.Config, s *Source) (realm *schema.Realm, inv Inventory, err error) {
	if len(s.schema) == 0 {
		return nil, nil, errors.New("sql/schema holds no .sql file")
	}
	err = withScratch(ctx, cfg, func(sc *scratch) error {
		realm, inv, err = sc.inspect(ctx, s.schema)
		return err
	})
	return realm, inv, err
}

// inspect replays files and returns the result in both representations.
func (s *scratch) inspect(ctx context.Context, files []atlas.File) (*schema.Realm, Inventory, error) {
	if err := s.replay(ctx, files, -1); err != nil {
		return nil, nil, err
	}
	realm, err := atlas.SchemaConn(s.drv, "", nil).ReadState(ctx)
	if err != nil {
		return nil, nil, err
	}
	inv, err := readInventory(ctx, s.db)
	return realm, inv, err
}
