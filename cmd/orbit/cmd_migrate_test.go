package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/api/dbtest"
)

// migrateSession runs `orbit migrate …` against one database of its own.
type migrateSession struct {
	t   *testing.T
	dir string
	url string
}

func newMigrateSession(t *testing.T) *migrateSession {
	t.Helper()
	db := dbtest.New(t)
	name := fmt.Sprintf("orbit_cli_%d", os.Getpid())
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP DATABASE " + name) })
	s := &migrateSession{t: t, dir: t.TempDir()}
	address, _, _ := strings.Cut(db.DSN(), "/")
	s.url = address + "/" + name
	s.write("schema/1_job.sql", `CREATE TABLE job (
  namespace_id BIGINT UNSIGNED NOT NULL COMMENT '所属命名空间编号',
  PRIMARY KEY (namespace_id)
) COMMENT='作业：等待执行的工作';`)
	return s
}

func (s *migrateSession) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// run returns the exit code and what was printed to standard output.
func (s *migrateSession) run(args ...string) (int, string) {
	s.t.Helper()
	var out, progress bytes.Buffer
	cmd := migrateCommand()
	cmd.SetArgs(append(args, "--database-url", s.url, "--dir", s.dir))
	cmd.SetOut(&out)
	cmd.SetErr(&progress)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return 0, out.String()
	case errors.As(err, &coded):
		return coded.ExitCode(), out.String()
	}
	return 2, err.Error()
}

// The exit codes are what a deployment script acts on: 0 fine, 1 found, 2 trouble.
func TestMigrateExitCodes(t *testing.T) {
	s := newMigrateSession(t)
	steps := []struct {
		args []string
		code int
		says string
	}{
		{[]string{"diff", "initial"}, 0, "_initial.sql: 1 statements"},
		{[]string{"diff", "again"}, 0, "nothing to write"},
		{[]string{"diff", "Not A Name"}, 2, "lower-case"},
		{[]string{"diff"}, 2, "accepts 1 arg"},
		{[]string{"status"}, 1, "pending"},
		{[]string{"verify"}, 1, "schema_older"},
		{[]string{"verify", "--files-only"}, 0, "0 findings"},
		{[]string{"apply"}, 0, "1 migrations applied"},
		{[]string{"apply"}, 0, "0 migrations applied"},
		{[]string{"status"}, 0, "applied"},
		{[]string{"verify"}, 0, "0 findings"},
		{[]string{"lint"}, 0, "0 findings"},
		{[]string{"hash"}, 0, "atlas.sum"},
		{[]string{"status", "--output", "yaml"}, 2, "table or json"},
		{[]string{"nonsense"}, 2, "unknown command"},
	}
	for _, step := range steps {
		code, out := s.run(step.args...)
		if code != step.code || !strings.Contains(out, step.says) {
			t.Errorf("migrate %s: exit code %d, want %d; said %q, want %q", strings.Join(step.args, " "), code, step.code, out, step.says)
		}
	}
	s.write("migrations/20990101000000_drop.sql", "DROP TABLE `job`;\n")
	if code, out := s.run("apply"); code != 2 || !strings.Contains(out, "atlas.sum") {
		t.Errorf("apply of an unsealed file: exit code %d, said %q", code, out)
	}
	s.run("hash")
	if code, out := s.run("lint", "--latest", "1"); code != 1 || !strings.Contains(out, "20990101000000_drop.sql:1: DS102") {
		t.Errorf("lint of a DROP TABLE: exit code %d, said %q", code, out)
	}
}

// Machines read the same facts as JSON.
func TestMigrateSpeaksJSON(t *testing.T) {
	s := newMigrateSession(t)
	for _, args := range [][]string{{"diff", "initial"}, {"status"}, {"apply"}, {"status"}, {"lint"}, {"verify"}, {"hash"}} {
		_, out := s.run(append(args, "--output", "json")...)
		var value any
		if err := json.Unmarshal([]byte(out), &value); err != nil || value == nil {
			t.Errorf("migrate %s --output json: %v in %q", args[0], err, out)
		}
	}
}
