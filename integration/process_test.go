//go:build integration

package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orbitrun/orbit/scripts"
)

// binary is the orbit under test, built by make integration.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("ORBIT_BINARY")
	if path == "" {
		t.Fatal("ORBIT_BINARY must name the built binary: run make integration")
	}
	absolute, err := filepath.Abs(path)
	must(t, err)
	return absolute
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// database is a private durable MySQL of one test.
type database struct {
	t    *testing.T
	name string
	DSN  string
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{t: t, name: fmt.Sprintf("it-%d-%d", os.Getpid(), time.Now().UnixNano()%1e6)}
	t.Cleanup(func() { d.script("wipe") })
	d.up()
	run(t, binary(t), "migrate", "apply", "--database-url", d.DSN)
	return d
}

func (d *database) script(args ...string) string {
	out, err := scripts.Run(context.Background(), nil, io.Discard, append(args, d.name)...)
	if err != nil {
		d.t.Fatalf("db.sh %v: %v", args, err)
	}
	return strings.TrimSpace(out)
}

// root runs a statement as the server's administrator.
func (d *database) root(statement string) {
	if _, err := scripts.Run(context.Background(), nil, io.Discard, "exec", d.name, "--", "-e", statement); err != nil {
		d.t.Fatalf("%s: %v", statement, err)
	}
}

func (d *database) up() { d.DSN = d.script("up", "--profile=durable") }

// kill ends the server with SIGKILL; up starts it again on the same data.
func (d *database) kill() { d.script("kill") }

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", filepath.Base(name), args, err, out.String(), errs.String())
	}
	return out.String()
}

// node is one orbit process.
type node struct {
	t   *testing.T
	cmd *exec.Cmd
	URL string
	log *bytes.Buffer
}

// serve starts a node and waits until it answers. listen fixes the port, so that a restarted node is found again.
func serve(t *testing.T, d *database, listen string) *node { return serveOn(t, d.DSN, listen) }

func serveOn(t *testing.T, dsn, listen string) *node {
	t.Helper()
	n := &node{t: t, log: &bytes.Buffer{}}
	n.cmd = exec.Command(binary(t), "serve", "--database-url", dsn, "--listen", listen, "--admin", "")
	n.cmd.Stderr = n.log
	out, err := n.cmd.StdoutPipe()
	must(t, err)
	must(t, n.cmd.Start())
	t.Cleanup(func() { n.kill(); n.report() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("node did not start: %v\n%s", err, n.log)
	}
	n.URL = strings.TrimSpace(line)
	return n
}

func (n *node) report() {
	if n.t.Failed() {
		n.t.Logf("log of %s:\n%.6000s", n.URL, n.log)
	}
}

func (n *node) kill() {
	if n.cmd.ProcessState == nil {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
	}
}

// stop drains the node and demands a clean end.
func (n *node) stop() {
	n.t.Helper()
	must(n.t, n.cmd.Process.Signal(syscall.SIGTERM))
	if err := n.cmd.Wait(); err != nil {
		n.t.Errorf("drained node ended with %v\n%s", err, n.log)
	}
}

// key makes a key with every scope.
func (d *database) key() string {
	out := run(d.t, binary(d.t), "admin", "bootstrap", "--database-url", d.DSN, "--namespace", "it", "--application", "it", "--output", "json")
	return jsonField(d.t, out, "key")
}

// healthy runs the doctor on the database and demands no finding. Rows may be on the move for a moment.
func (d *database) healthy() {
	d.t.Helper()
	var out []byte
	for range 20 {
		var err error
		out, err = exec.Command(binary(d.t), "doctor", "--deep", "--database-url", d.DSN, "--output", "json").Output()
		if err == nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	d.t.Errorf("the doctor finds: %s", out)
}
