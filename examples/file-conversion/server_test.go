package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// server is a node with a private database, for one test.
type server struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

const (
	readyTime = 3 * time.Minute // a first start may have to fetch the database
	stopTime  = time.Minute
)

// newServer starts `orbit dev` on an empty folder and stops it at the end of the test.
func newServer(t *testing.T) *server {
	t.Helper()
	// Not t.TempDir: the path of a unix socket is limited, and the name of a test is long.
	data, err := os.MkdirTemp("", "orbit-fc")
	must(t, err)
	cmd := exec.Command(orbitBinary(t), "dev", "--data", data, "--listen", "127.0.0.1:0", "--output", "json", "--log-level", "warn")
	cmd.Env = append(os.Environ(), "ORBIT_DATABASE_URL=") // one in the environment may be somebody's
	var log bytes.Buffer
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		stop(t, cmd)
		must(t, os.RemoveAll(data))
		if t.Failed() {
			t.Logf("the node said:\n%s", log.String())
		}
	})
	return ready(t, stdout)
}

func ready(t *testing.T, stdout io.Reader) *server {
	t.Helper()
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadString('\n') // an early end is an empty line, refused below
		line <- text
	}()
	var s server
	select {
	case text := <-line:
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatalf("the node is not ready: %q", text)
		}
	case <-time.After(readyTime):
		t.Fatalf("the node was not ready within %v", readyTime)
	}
	return &s
}

func stop(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-ended:
	case <-time.After(stopTime):
		t.Errorf("the node did not stop within %v", stopTime)
		_ = cmd.Process.Kill() // the failure is told already
		<-ended
	}
}

// orbitBinary is ORBIT_BINARY, or one built from this checkout.
func orbitBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("ORBIT_BINARY"); path != "" {
		return path
	}
	return build(t, "../..", "./cmd/orbit")
}

func build(t *testing.T, module, target string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "built")
	cmd := exec.Command("go", "build", "-o", binary, target)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", target, err, output)
	}
	return binary
}

func (s *server) client(t *testing.T) *orbit.Client {
	t.Helper()
	client, err := orbit.New(s.URL, s.Key)
	must(t, err)
	return client
}

// arguments of the command for a job on this server.
func (s *server) arguments(in, out string, more ...string) []string {
	return append([]string{"-url", s.URL, "-key", s.Key, "-in", in, "-out", out, "-timeout", "2m"}, more...)
}

// convert runs the command in this process.
func (s *server) convert(t *testing.T, in, out string, more ...string) (code int, line summary, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), s.arguments(in, out, more...), &stdout, &stderr)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatalf("exit %d, the last line is no summary: %v\n%s%s", code, err, stdout.String(), stderr.String())
	}
	return code, line, stdout.String() + stderr.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
