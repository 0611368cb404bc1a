package devdb

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestMain plays the owner that gets killed when DEVDB_HELPER names a folder: it prints its DSN and lives until
// SIGTERM. It ignores SIGINT, so that a Ctrl-C to the group tests the server and not the helper.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DEVDB_HELPER"); dir != "" {
		signal.Ignore(os.Interrupt)
		terminated := make(chan os.Signal, 1)
		signal.Notify(terminated, syscall.SIGTERM)
		s, err := Start(context.Background(), Options{DataDir: dir, Durable: true})
		if err != nil {
			fmt.Println("ERROR", err)
			os.Exit(1)
		}
		fmt.Println("READY", s.DSN())
		<-terminated
		if err := s.Close(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = mysql.SetLogger(&mysql.NopLogger{}) // servers are killed here
	os.Unsetenv("ORBIT_DATABASE_URL")
	os.Exit(m.Run())
}

type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func start(t *testing.T, dir string) (*Server, *safeBuffer) {
	t.Helper()
	said := &safeBuffer{}
	s, err := Start(context.Background(), Options{DataDir: dir, Durable: true, Log: io.MultiWriter(said, t.Output())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, said
}

// helper is another process that owns the folder.
func helper(t *testing.T, dir string) (cmd *exec.Cmd, dsn string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DEVDB_HELPER="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	word, dsn, _ := strings.Cut(strings.TrimSpace(line), " ")
	if word != "READY" {
		t.Fatalf("helper said %q", line)
	}
	return cmd, dsn
}

func query(dsn, statement string) (string, error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var answer string
	return answer, db.QueryRow(statement).Scan(&answer)
}

func exec1(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func want(t *testing.T, dsn, statement, expected string) {
	t.Helper()
	if got, err := query(dsn, statement); err != nil || got != expected {
		t.Fatalf("%s: got %q, %v; want %q", statement, got, err, expected)
	}
}

func TestRestartOnTheSameData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder", strings.Repeat("deep", 25)) // longer than a socket path may be
	s, said := start(t, dir)
	exec1(t, s.DSN(), "CREATE TABLE kept (v INT)", "INSERT INTO kept VALUES (42)")
	want(t, s.DSN(), "SELECT @@innodb_flush_log_at_trx_commit", "1")
	if !strings.Contains(said.String(), " from ") {
		t.Fatalf("it does not say where the server comes from: %q", said)
	}
	pid := s.Pid()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if runs(pid, dir) {
		t.Fatal("the server outlived Close")
	}
	again, _ := start(t, dir)
	if again.DSN() != s.DSN() {
		t.Fatalf("the address changed from %s to %s", s.DSN(), again.DSN())
	}
	want(t, again.DSN(), "SELECT v FROM kept", "42")
}

func TestSecondOwnerIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	s, _ := start(t, dir)
	_, err := Start(context.Background(), Options{DataDir: dir})
	var owned *OwnedError
	if !errors.As(err, &owned) || owned.Pid != os.Getpid() || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Fatalf("second owner got %v, want a refusal that names process %d", err, os.Getpid())
	}
	want(t, s.DSN(), "SELECT 1", "1")
}

func TestKilledOwner(t *testing.T) {
	dir := t.TempDir()
	owner, dsn := helper(t, dir)
	exec1(t, dsn, "CREATE TABLE kept (v INT)", "INSERT INTO kept VALUES (7)")
	pid := serverPid(dir)

	t.Run("a second owner is refused while it lives", func(t *testing.T) {
		_, err := Start(context.Background(), Options{DataDir: dir})
		var owned *OwnedError
		if !errors.As(err, &owned) || owned.Pid != owner.Process.Pid {
			t.Fatalf("got %v, want a refusal that names process %d", err, owner.Process.Pid)
		}
	})
	_ = owner.Process.Kill()
	_ = owner.Wait()
	if !runs(pid, dir) {
		t.Fatal("the server died with its owner")
	}
	t.Run("its server is adopted", func(t *testing.T) {
		s, said := start(t, dir)
		if s.Pid() != pid || s.DSN() != dsn {
			t.Fatalf("adopted %d at %s, want %d at %s", s.Pid(), s.DSN(), pid, dsn)
		}
		if !strings.Contains(said.String(), fmt.Sprintf("server %d already runs", pid)) {
			t.Fatalf("it does not say so: %q", said)
		}
		want(t, s.DSN(), "SELECT v FROM kept", "7")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if runs(pid, dir) {
			t.Fatal("the adopted server outlived Close")
		}
	})
	t.Run("owner and server killed: recovered on the same data", func(t *testing.T) {
		second, dsn := helper(t, dir)
		exec1(t, dsn, "INSERT INTO kept VALUES (8)")
		_ = second.Process.Kill()
		_ = second.Wait()
		_ = syscall.Kill(serverPid(dir), syscall.SIGKILL)
		s, _ := start(t, dir)
		want(t, s.DSN(), "SELECT SUM(v) FROM kept", "15")
	})
}

func TestCtrlCDoesNotReachTheServer(t *testing.T) {
	dir := t.TempDir()
	owner, dsn := helper(t, dir)
	pid := serverPid(dir)
	if err := syscall.Kill(-owner.Process.Pid, syscall.SIGINT); err != nil { // what a terminal does
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	want(t, dsn, "SELECT 1", "1")
	if err := owner.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := owner.Wait(); err != nil {
		t.Fatalf("owner: %v", err)
	}
	if runs(pid, dir) {
		t.Fatal("the server outlived its owner's Close")
	}
}

func TestADeadServerComesBack(t *testing.T) {
	dir := t.TempDir()
	s, said := start(t, dir)
	exec1(t, s.DSN(), "CREATE TABLE kept (v INT)", "INSERT INTO kept VALUES (1)")
	dead := s.Pid()
	if err := syscall.Kill(dead, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if got, err := query(s.DSN(), "SELECT v FROM kept"); err == nil && got == "1" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not back after 30 s: %s", said)
		}
	}
	if s.Pid() == dead || !strings.Contains(said.String(), fmt.Sprintf("server %d died", dead)) {
		t.Fatalf("pid %d, said %q", s.Pid(), said)
	}
}

func TestCancelledStartLeavesNothingRunning(t *testing.T) {
	dir := t.TempDir()
	for _, after := range []time.Duration{0, 100 * time.Millisecond, 600 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		s, err := Start(ctx, Options{DataDir: dir})
		cancel()
		if err == nil {
			_ = s.Close()
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("after %v: %v", after, err)
		}
		if left := processesOf(t, dir); len(left) > 0 {
			t.Fatalf("after %v: left running: %q", after, left)
		}
	}
	s, _ := start(t, dir)
	want(t, s.DSN(), "SELECT 1", "1")
}

// processesOf lists every process that was started for the folder, whether or not it wrote its pid yet.
func processesOf(t *testing.T, dir string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatal("no /proc to look at")
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(dir)) {
			found = append(found, string(bytes.ReplaceAll(text, []byte{0}, []byte{' '})))
		}
	}
	return found
}

func TestGivenDatabaseStartsNothing(t *testing.T) {
	t.Setenv("ORBIT_DATABASE_URL", "someone:secret@tcp(db.example:3306)/theirs")
	dir := filepath.Join(t.TempDir(), "unused")
	said := &safeBuffer{}
	s, err := Start(context.Background(), Options{DataDir: dir, Log: said})
	if err != nil {
		t.Fatal(err)
	}
	if s.DSN() != os.Getenv("ORBIT_DATABASE_URL") || s.Pid() != 0 {
		t.Fatalf("DSN %s, pid %d", s.DSN(), s.Pid())
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatal("the folder was touched")
	}
	if !strings.Contains(said.String(), "ORBIT_DATABASE_URL") || strings.Contains(said.String(), "secret") {
		t.Fatalf("said %q", said)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
