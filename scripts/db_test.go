package scripts

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// machine is a private folder of instances; the cache of binaries is the user's.
type machine struct {
	t   *testing.T
	env []string
	run string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, run: t.TempDir()}
	m.env = append(os.Environ(), "ORBIT_DB_RUN="+m.run, "ORBIT_DATABASE_URL=")
	t.Cleanup(func() {
		instances, _ := filepath.Glob(filepath.Join(m.run, "*", "instance"))
		for _, file := range instances {
			_, _, _ = m.try("down", filepath.Base(filepath.Dir(file)))
		}
	})
	return m
}

func (m *machine) try(args ...string) (out, said string, err error) {
	var stdout, stderr strings.Builder
	command := exec.Command("bash", append([]string{"db.sh"}, args...)...)
	command.Env, command.Stdout, command.Stderr = m.env, &stdout, &stderr
	err = command.Run()
	return strings.TrimSpace(stdout.String()), stderr.String(), err
}

func (m *machine) do(args ...string) (out string) {
	m.t.Helper()
	out, said, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("db.sh %v: %v\n%s", args, err, said)
	}
	return out
}

func (m *machine) pid(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.run, name, "server.pid"))
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func (m *machine) sql(name, statement string) string {
	m.t.Helper()
	return m.do("exec", name, "--", "-N", "-B", "-e", statement)
}

func TestOneInstanceThroughItsLife(t *testing.T) {
	m := newMachine(t)
	dsn := m.do("up", "a")
	first := m.pid("a")
	if again := m.do("up", "a"); again != dsn || m.pid("a") != first || m.do("dsn", "a") != dsn {
		t.Fatalf("a second up changed something: %s → %s", dsn, again)
	}
	m.sql("a", "CREATE TABLE orbit.kept (v INT); INSERT INTO orbit.kept VALUES (1)")

	m.do("up", "a", "--profile=durable")
	settings := "SELECT CONCAT_WS(' ', @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite, @@log_bin, @@sync_binlog)"
	if got := m.sql("a", settings); got != "1 ON 1 1" && got != "1 1 1 1" {
		t.Fatalf("durable profile: %q", got)
	}
	m.sql("a", "INSERT INTO orbit.kept VALUES (2)")
	m.do("kill", "a")
	if status := m.do("status", "a"); !strings.Contains(status, "stopped") {
		t.Fatalf("after kill: %q", status)
	}
	if m.do("up", "a") != dsn {
		t.Fatal("the address changed over a crash")
	}
	if got := m.sql("a", "SELECT SUM(v) FROM orbit.kept"); got != "3" {
		t.Fatalf("after recovery the sum is %s", got)
	}
	if status := m.do("status"); !strings.Contains(status, "running pid "+m.pid("a")) || !strings.Contains(status, "durable") {
		t.Fatalf("status %q", status)
	}
	m.do("wipe", "a")
	if _, err := os.Stat(filepath.Join(m.run, "a")); !os.IsNotExist(err) {
		t.Fatal("wipe left the folder")
	}
}

func TestConcurrentStartsMakeOneServerPerName(t *testing.T) {
	m := newMachine(t)
	names := []string{"x", "y", "x", "y", "x"}
	dsns := make([]string, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { dsns[i], _, _ = m.try("up", name) })
	}
	group.Wait()
	if dsns[0] == "" || dsns[0] != dsns[2] || dsns[0] != dsns[4] || dsns[1] != dsns[3] || dsns[0] == dsns[1] {
		t.Fatalf("got %q", dsns)
	}
}

// A pid file can name a process that has nothing to do with us.
func TestAStrangerIsNeverStopped(t *testing.T) {
	m := newMachine(t)
	m.do("up", "a")
	m.do("down", "a")
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()
	pid := strconv.Itoa(stranger.Process.Pid)
	if err := os.WriteFile(filepath.Join(m.run, "a", "server.pid"), []byte(pid), 0o600); err != nil {
		t.Fatal(err)
	}
	m.do("down", "a")
	if _, _, err := m.try("kill", "a"); err == nil {
		t.Fatal("kill found something to kill")
	}
	if _, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")); err != nil {
		t.Fatal("the stranger is gone")
	}
	m.do("up", "a")
}

func TestRefusals(t *testing.T) {
	m := newMachine(t)
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.MkdirAll(precious, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		said string
	}{
		{[]string{"wipe", "--dir=" + precious}, "does not look like an instance"},
		{[]string{"up", "../escape"}, "instance name"},
		{[]string{"up", "a", "--profile=quick"}, "fast or durable"},
		{[]string{"up", "a", "--frobnicate"}, "unknown option"},
		{[]string{"dsn", "nothing"}, "no instance"},
	} {
		if _, said, err := m.try(c.args...); err == nil || !strings.Contains(said, c.said) {
			t.Errorf("db.sh %v: %v, said %q", c.args, err, said)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Fatal("wipe deleted a folder that was not an instance")
	}
}

func TestAGivenDatabaseIsOnlyReported(t *testing.T) {
	m := newMachine(t)
	const given = "someone:secret@tcp(db.example:3306)/theirs"
	m.env = append(m.env, "ORBIT_DATABASE_URL="+given)
	out, said, err := m.try("up", "a")
	if err != nil || out != given || strings.Contains(said, "secret") {
		t.Fatalf("%q, said %q, %v", out, said, err)
	}
	if _, err := os.Stat(filepath.Join(m.run, "a")); !os.IsNotExist(err) {
		t.Fatal("something was started")
	}
}

// The binary carries the script and runs it from standard input, in any folder.
func TestEmbeddedScript(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	var said strings.Builder
	env := []string{"ORBIT_DATABASE_URL="}
	dsn, err := Run(context.Background(), env, &said, "up", "--dir="+dir)
	if err != nil || !strings.HasPrefix(dsn, "orbit:orbit@tcp(127.0.0.1:") {
		t.Fatalf("%q, %v\n%s", dsn, err, said.String())
	}
	if _, err := Run(context.Background(), env, nil, "wipe", "--dir="+dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(context.Background(), env, nil, "dance"); err == nil || !strings.Contains(err.Error(), "usage: up|down") {
		t.Fatalf("an unknown command: %v", err)
	}
}
