package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/sql/migrate"
)

// project is a small sql folder of its own and an empty database on a real server.
type project struct {
	t      *testing.T
	dir    string
	config *mysql.Config
	db     *sql.DB
}

const jobTable = `-- What is to be done.
CREATE TABLE job (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  job_id BINARY(16) NOT NULL COMMENT '作业编号，由服务端生成',
  label VARCHAR(40) NOT NULL COMMENT '供人辨认的说明，至多40字符',
  level TINYINT UNSIGNED NOT NULL COMMENT '优先级0至9，受理时冻结',
  at DATETIME(6) NOT NULL COMMENT '受理时刻，数据库时钟UTC微秒',
  due_at DATETIME(6) GENERATED ALWAYS AS (at - INTERVAL 30 * level SECOND) STORED COMMENT '排序时刻，数据库生成',
  PRIMARY KEY (namespace_id, job_id),
  KEY job_due (namespace_id, due_at DESC, job_id),
  CONSTRAINT job_level CHECK (level <= 9)
) COMMENT='作业：等待执行的工作';
`

const ownerTable = `CREATE TABLE owner (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  owner_id BINARY(16) NOT NULL COMMENT '归属者编号，由服务端生成',
  PRIMARY KEY (namespace_id, owner_id)
) COMMENT='归属者：作业属于谁';
`

func newProject(t *testing.T) *project {
	t.Helper()
	t.Parallel()
	p := &project{t: t, dir: t.TempDir()}
	p.write("schema/1_job.sql", jobTable)
	p.write("schema/2_owner.sql", ownerTable)
	p.config, p.db = newDatabase(t)
	return p
}

// databases numbers the databases of this process.
var databases atomic.Int64

// newDatabase creates an empty database on the test server; dbtest knows where that is.
func newDatabase(t testing.TB) (*mysql.Config, *sql.DB) {
	t.Helper()
	server, err := migrate.ParseAddress(dbtest.New(t).DSN())
	must(t, err)
	name := fmt.Sprintf("orbit_migrate_%d_%d", os.Getpid(), databases.Add(1))
	admin := open(t, server)
	exec(t, admin, "DROP DATABASE IF EXISTS `"+name+"`")
	exec(t, admin, "CREATE DATABASE `"+name+"`") // the server's own default collation, as an operator would
	config := server.Clone()
	config.DBName = name
	db := open(t, config)
	t.Cleanup(func() {
		_ = db.Close()
		exec(t, admin, "DROP DATABASE `"+name+"`")
		_ = admin.Close()
	})
	return config, db
}

func open(t testing.TB, config *mysql.Config) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(config)
	must(t, err)
	return sql.OpenDB(connector)
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.t, os.WriteFile(path, []byte(text), 0o644))
}

// edit replaces old by new in one file of the project.
func (p *project) edit(name, old, new string) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	must(p.t, err)
	if !strings.Contains(string(text), old) {
		p.t.Fatalf("%s does not hold %q", name, old)
	}
	p.write(name, strings.Replace(string(text), old, new, 1))
}

// source reads the folder as it is now: what a binary built now would embed.
func (p *project) source() *migrate.Source {
	p.t.Helper()
	s, err := migrate.OnDisk(p.dir)
	must(p.t, err)
	return s
}

// diff plans a migration and returns the path of its file inside the project.
func (p *project) diff(name string) string {
	p.t.Helper()
	planned, err := p.source().Diff(context.Background(), p.config, name)
	must(p.t, err)
	return "migrations/" + planned.File
}

func (p *project) apply() int {
	p.t.Helper()
	n, err := p.source().Apply(context.Background(), p.config, migrate.ApplyOptions{})
	must(p.t, err)
	return n
}

func (p *project) verify() []migrate.Finding {
	p.t.Helper()
	found, err := p.source().Verify(context.Background(), p.config, p.config)
	must(p.t, err)
	return found
}

func (p *project) lint() []migrate.Finding {
	p.t.Helper()
	found, err := p.source().Lint(context.Background(), p.config, 0)
	must(p.t, err)
	return found
}

// refused demands a refusal with this code whose sentence holds every part.
func refused(t *testing.T, err error, code string, parts ...string) {
	t.Helper()
	var r *migrate.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want the refusal %s", err, code)
	}
	if r.Code != code {
		t.Fatalf("refused as %s (%s), want %s", r.Code, r.Detail, code)
	}
	for _, part := range parts {
		if !strings.Contains(r.Detail, part) {
			t.Errorf("the sentence does not say %q: %s", part, r.Detail)
		}
	}
}

// finds demands a finding with this code whose text holds the part, and returns it.
func finds(t *testing.T, found []migrate.Finding, code, part string) migrate.Finding {
	t.Helper()
	for _, f := range found {
		if f.Code == code && strings.Contains(f.Text, part) {
			return f
		}
	}
	t.Fatalf("no %s that says %q in %+v", code, part, found)
	return migrate.Finding{}
}

func exec(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
