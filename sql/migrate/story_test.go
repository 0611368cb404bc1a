package migrate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	orbitsql "github.com/orbitrun/orbit/sql"
	"github.com/orbitrun/orbit/sql/migrate"
)

var background = context.Background()

// One schema from its first day over a second version: what is planned, what is
// applied, and which node starts on which database (O15).
func TestASchemaGrowsForward(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	if _, err := p.source().Diff(background, p.config, "again"); !errors.Is(err, migrate.ErrNoChange) {
		t.Fatalf("a second diff of the same schema: %v", err)
	}
	first := p.source()
	refused(t, first.Check(background, p.db), "schema_older", "orbit migrate apply", "1 of 1 migrations")
	if n := p.apply(); n != 1 {
		t.Fatalf("%d migrations applied, want 1", n)
	}
	must(t, first.Check(background, p.db))
	if found := p.verify(); len(found) != 0 {
		t.Fatalf("a fresh database has findings: %+v", found)
	}

	p.edit("schema/1_job.sql", "level <= 9", "level <= 12")
	p.edit("schema/1_job.sql", "供人辨认的说明，至多40字符", "供人辨认的说明，可为空串")
	p.edit("schema/1_job.sql", "  PRIMARY KEY", "  note VARCHAR(80) NULL COMMENT '备注；空值表示没有',\n  PRIMARY KEY")
	finds(t, p.verify(), "schema_differs", "note")
	p.diff("second")
	second := p.source()
	refused(t, second.Check(background, p.db), "schema_older", "second.sql", "orbit migrate apply")
	if n := p.apply(); n != 1 {
		t.Fatalf("%d migrations applied, want 1", n)
	}
	must(t, second.Check(background, p.db))
	refused(t, first.Check(background, p.db), "schema_newer", "start the newer binary")
	if found := p.verify(); len(found) != 0 {
		t.Fatalf("after the second migration: %+v", found)
	}
	if _, err := first.Apply(background, p.config, migrate.ApplyOptions{}); err == nil {
		t.Fatal("an old binary applied its migrations to a newer database")
	}
	rows, err := second.Status(background, p.config)
	must(t, err)
	for _, r := range rows {
		if r.State != migrate.StateApplied || r.Applied != r.Total || r.ExecutedAt == nil {
			t.Errorf("status of %s: %+v", r.Version, r)
		}
	}
	if len(rows) != 2 {
		t.Errorf("%d migrations listed, want 2", len(rows))
	}
}

// Applied migrations are never edited (O4): an edit is found by the seal, and an
// edit that was sealed again is found by the revision.
func TestATamperedMigrationIsRefusedByName(t *testing.T) {
	p := newProject(t)
	file := p.diff("initial")
	p.apply()
	p.edit(file, "COMMENT", "comment")

	name := filepath.Base(file)
	refused(t, p.source().Check(background, p.db), "migration_tampered", name, "atlas.sum")
	_, err := p.source().Apply(background, p.config, migrate.ApplyOptions{})
	refused(t, err, "migration_tampered", name)
	finds(t, p.verify(), "migration_tampered", name)
	finds(t, p.lint(), "migration_tampered", name)

	must(t, p.source().Hash())
	refused(t, p.source().Check(background, p.db), "migration_edited", name, "new migration")
	_, err = p.source().Apply(background, p.config, migrate.ApplyOptions{})
	refused(t, err, "migration_edited", name)
	finds(t, p.verify(), "migration_edited", name)
	rows, err := p.source().Status(background, p.config)
	must(t, err)
	if rows[0].State != migrate.StateEdited {
		t.Errorf("status shows %s, want edited", rows[0].State)
	}
}

func TestAForeignKeyIsRefusedByName(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	p.apply()
	exec(t, p.db, "ALTER TABLE job ADD CONSTRAINT job_owner FOREIGN KEY (namespace_id, job_id) REFERENCES owner (namespace_id, owner_id)")
	refused(t, p.source().Check(background, p.db), "foreign_key", "job.job_owner", "drop it")
	finds(t, p.verify(), "foreign_key", "job.job_owner")

	p.write("migrations/20990101000000_key.sql", "ALTER TABLE `job` ADD CONSTRAINT `job_owner` FOREIGN KEY (`namespace_id`, `job_id`) REFERENCES `owner` (`namespace_id`, `owner_id`) ON DELETE CASCADE;\n")
	must(t, p.source().Hash())
	found := p.lint()
	if f := finds(t, found, "foreign_key", "job_owner"); f.Line != 1 || f.File != "20990101000000_key.sql" {
		t.Errorf("reported at %s:%d", f.File, f.Line)
	}
	finds(t, found, "cascade", "CASCADE")
	p.edit("migrations/20990101000000_key.sql", "ALTER", "-- atlas:nolint foreign_key cascade\nALTER")
	must(t, p.source().Hash())
	finds(t, p.lint(), "foreign_key", "job_owner") // no waiver reaches this rule
}

func TestAMissingCommentIsRefusedByName(t *testing.T) {
	p := newProject(t)
	p.edit("schema/1_job.sql", " COMMENT '供人辨认的说明，至多40字符'", "")
	p.edit("schema/1_job.sql", "优先级0至9，受理时冻结", "priority, 0 to 9")
	p.edit("schema/2_owner.sql", "归属者：作业属于谁", "")
	p.diff("initial")
	found := p.lint()
	finds(t, found, "comment_missing", "job.label has no COMMENT")
	finds(t, found, "comment_missing", "job.level has a COMMENT that is not Chinese")
	finds(t, found, "comment_missing", "owner has no COMMENT")
}

// Everything else lint knows, one dangerous migration at a time.
func TestDangerousMigrationsAreNamed(t *testing.T) {
	tests := []struct{ statement, code, part string }{
		{"ALTER TABLE `job` MODIFY `label` varchar(20) NOT NULL COMMENT '供人辨认的说明，至多20字符';", "narrowed_type", "varchar(40) to varchar(20)"},
		{"ALTER TABLE `job` MODIFY `at` datetime NOT NULL COMMENT '受理时刻，秒';", "narrowed_type", "job.at"},
		{"ALTER TABLE `job` DROP COLUMN `label`;", "dropped_column", "job.label"},
		{"ALTER TABLE `job` DROP COLUMN `label`;", "DS103", "label"},
		{"ALTER TABLE `job` DROP INDEX `job_due`;", "dropped_index", "job_due"},
		{"ALTER TABLE `job` DROP CONSTRAINT `job_level`;", "dropped_check", "job_level"},
		{"DROP TABLE `owner`;", "DS102", "owner"},
		{"UPDATE `job` SET `level` = 1;", "data_change", "UPDATE"},
		{"CREATE TRIGGER watch AFTER DELETE ON `job` FOR EACH ROW DELETE FROM `owner` WHERE `namespace_id` = 0;", "cascade", "triggers"},
	}
	p := newProject(t)
	p.diff("initial")
	const file = "migrations/20990101000000_danger.sql"
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			p.t = t
			p.write(file, "-- A change.\n"+tt.statement+"\n")
			must(t, p.source().Hash())
			if f := finds(t, p.lint(), tt.code, tt.part); f.Line != 2 {
				t.Errorf("reported at line %d, want 2", f.Line)
			}
			if tt.code == "cascade" {
				return
			}
			p.write(file, "-- atlas:nolint "+tt.code+"\n"+tt.statement+"\n")
			must(t, p.source().Hash())
			for _, f := range p.lint() {
				if f.Code == tt.code {
					t.Errorf("the waiver by name does not hold: %+v", f)
				}
			}
		})
	}
}

// drift is one change by hand, what undoes it, and what the refusal must say.
type drift struct{ name, change, undo, part string }

// A database that somebody changed by hand is refused, and the difference is named.
func TestDriftIsNamed(t *testing.T) {
	p := newProject(t)
	p.diff("initial")
	p.apply()
	tests := []drift{
		{"index dropped", "ALTER TABLE job DROP INDEX job_due", "ALTER TABLE job ADD INDEX job_due (namespace_id, due_at DESC, job_id)", "missing index job.job_due"},
		{"comment edited", "ALTER TABLE owner COMMENT '别的说明'", "ALTER TABLE owner COMMENT '归属者：作业属于谁'", "table owner"},
		{"check dropped", "ALTER TABLE job DROP CONSTRAINT job_level", "ALTER TABLE job ADD CONSTRAINT job_level CHECK (level <= 9)", "missing check job.job_level"},
		{"column widened", "ALTER TABLE job MODIFY label VARCHAR(80) NOT NULL COMMENT '供人辨认的说明，至多40字符'", "ALTER TABLE job MODIFY label VARCHAR(40) NOT NULL COMMENT '供人辨认的说明，至多40字符'", "column job.label"},
		{"trigger added", "CREATE TRIGGER watch AFTER DELETE ON job FOR EACH ROW SET @a = 1", "DROP TRIGGER watch", "unexpected trigger job.watch"},
		{"table added", "CREATE TABLE rogue (a INT)", "DROP TABLE rogue", "unexpected column rogue.a"},
	}
	engine, err := migrate.ReadEngine(background, p.db)
	must(t, err)
	off := tests[:0:0]
	if engine.MariaDB {
		off = append(off, drift{"index switched off", "ALTER TABLE job ALTER INDEX job_due IGNORED", "ALTER TABLE job ALTER INDEX job_due NOT IGNORED", "unexpected index job.job_due invisible"})
	} else {
		off = append(off,
			drift{"index switched off", "ALTER TABLE job ALTER INDEX job_due INVISIBLE", "ALTER TABLE job ALTER INDEX job_due VISIBLE", "unexpected index job.job_due invisible"},
			drift{"check switched off", "ALTER TABLE job ALTER CHECK job_level NOT ENFORCED", "ALTER TABLE job ALTER CHECK job_level ENFORCED", "unexpected check job.job_level not enforced"})
	}
	for _, tt := range append(tests, off...) {
		t.Run(tt.name, func(t *testing.T) {
			exec(t, p.db, tt.change)
			refused(t, p.source().Check(background, p.db), "schema_drift", tt.part, "orbit migrate verify")
			exec(t, p.db, tt.undo)
			must(t, p.source().Check(background, p.db))
		})
	}
	exec(t, p.db, "ALTER TABLE job DROP INDEX job_due")
	finds(t, p.verify(), "schema_drift", "INDEX `job_due`")
}

// The schema this binary was built for: sealed, lint-free, and without a single
// foreign key in a real database (O4).
func TestTheEmbeddedSchema(t *testing.T) {
	source, err := migrate.Embedded(orbitsql.Files)
	must(t, err)
	config, db := newDatabase(t)
	refused(t, migrate.Check(background, db), "schema_older", "orbit migrate apply")
	_, err = source.Apply(background, config, migrate.ApplyOptions{})
	must(t, err)
	must(t, migrate.Check(background, db))
	var keys int
	must(t, db.QueryRow("SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()").Scan(&keys))
	if keys != 0 {
		t.Errorf("%d foreign keys, want 0", keys)
	}
	found, err := source.Verify(background, config, config)
	must(t, err)
	more, err := source.Lint(background, config, 0)
	must(t, err)
	for _, f := range append(found, more...) {
		t.Errorf("%s:%d %s %s", f.File, f.Line, f.Code, f.Text)
	}
}

// A command that ends leaves no scratch database behind, whatever happened.
func TestScratchDatabasesAreDropped(t *testing.T) {
	p := newProject(t)
	p.write("schema/3_broken.sql", "CREATE TABLE broken (a NONSENSE);")
	if _, err := p.source().Diff(background, p.config, "x"); err == nil || !strings.Contains(err.Error(), "3_broken.sql:1") {
		t.Fatalf("a broken schema file must be named with its line: %v", err)
	}
	must(t, os.Remove(filepath.Join(p.dir, "schema/3_broken.sql")))
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := p.source().Diff(ctx, p.config, "x"); err == nil {
		t.Fatal("a cancelled diff succeeded")
	}
	p.diff("initial")
	created := p.config.Clone()
	created.DBName = ""
	server := open(t, created)
	defer func() { _ = server.Close() }()
	var left int
	must(t, server.QueryRow("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ?", "orbit_scratch_"+p.config.DBName+"_%").Scan(&left))
	if left != 0 {
		t.Errorf("%d scratch databases left", left)
	}
}
