package orbittest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// Server is an Orbit server that belongs to one test.
type Server struct {
	URL      string        // of the API
	Key      string        // with every scope
	Database string        // the driver's address of its database; its user may make other databases beside it
	Client   *orbit.Client // of the URL with the key

	t       testing.TB
	data    string
	admin   string
	pid     int // of its database
	listen  string
	process *exec.Cmd
	log     *lockedBuffer
}

const (
	readyTime = 3 * time.Minute // a first start may have to fetch the database
	stopTime  = time.Minute
)

// New starts a server and ends it, with its data, at the end of the test. A server that does not start ends the test.
func New(t testing.TB) *Server {
	t.Helper()
	// Not t.TempDir: the path of a unix socket is limited, and the name of a test is long.
	data, err := os.MkdirTemp("", "orbit-t")
	if err != nil {
		t.Fatal("orbittest: ", err)
	}
	s := &Server{t: t, data: data, listen: "127.0.0.1:0", log: &lockedBuffer{}}
	t.Cleanup(func() {
		s.Stop()
		_ = os.RemoveAll(data) // a leftover in the folder of temporary files is nobody's failure
		if t.Failed() {
			t.Logf("orbittest: the server said:\n%s", s.log.tail())
		}
	})
	s.Start()
	return s
}

// Start starts the server on its data and address, after Stop or Kill. The time goes on where it was.
func (s *Server) Start() {
	s.t.Helper()
	s.process = exec.Command(binary(s.t), "dev", "--data", s.data, "--listen", s.listen, "--movable-time", "--output", "json", "--log-level", "warn") //nolint:gosec // the binary is what the test runs
	s.process.Env = append(os.Environ(), "ORBIT_DATABASE_URL=")                                                                                       // one in the environment may be somebody's
	s.process.Stderr = s.log
	stdout, err := s.process.StdoutPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		s.t.Fatal("orbittest: ", err)
	}
	s.ready(stdout)
}

func (s *Server) ready(stdout io.Reader) {
	s.t.Helper()
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadString('\n') // an early end is an empty line, refused below
		line <- text
	}()
	var said struct {
		URL      string `json:"url"`
		Key      string `json:"key"`
		Admin    string `json:"admin_url"`
		Database string `json:"database"`
		Pid      int    `json:"database_pid"`
	}
	select {
	case text := <-line:
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			s.t.Fatalf("orbittest: the server is not ready: %q\n%s", text, s.log.tail())
		}
	case <-time.After(readyTime):
		s.t.Fatalf("orbittest: the server was not ready within %v\n%s", readyTime, s.log.tail())
	}
	s.URL, s.Key, s.admin, s.Database, s.pid = said.URL, said.Key, said.Admin, said.Database, said.Pid
	s.listen = strings.TrimPrefix(said.URL, "http://") // a server that starts again is found where it was
	var err error
	if s.Client, err = orbit.New(s.URL, s.Key); err != nil {
		s.t.Fatal("orbittest: ", err)
	}
}

// Stop ends the server as an operator does. It is safe to call twice.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the server with SIGKILL, as a power failure of its machine does. Its database lives on until Start.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(signal syscall.Signal) {
	if s.process == nil {
		return
	}
	ended := make(chan struct{})
	go func() { _ = s.process.Wait(); close(ended) }()
	_ = s.process.Process.Signal(signal)
	select {
	case <-ended:
	case <-time.After(stopTime):
		s.t.Errorf("orbittest: the server did not stop within %v", stopTime)
		_ = s.process.Process.Kill()
		<-ended
	}
	s.process = nil
}

// KillAll ends the server and its database with SIGKILL, as the power failure of everything does.
func (s *Server) KillAll() {
	s.t.Helper()
	if s.pid == 0 {
		s.t.Fatal("orbittest: the database is not this server's own")
	}
	pid := s.pid
	s.Kill() // first, or it would start its database again
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal("orbittest: the database cannot be killed: ", err)
	}
	for gone := time.Now().Add(stopTime); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(gone) {
			s.t.Fatal("orbittest: the database did not end")
		}
	}
}

// Now is the time by the server's database.
func (s *Server) Now() time.Time {
	s.t.Helper()
	return s.time("GET", "")
}

// Advance moves the time on. What becomes due by that is found at once.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.time("POST", fmt.Sprintf(`{"advance_ms":%d}`, d.Milliseconds()))
}

// AdvanceTo moves the time on to a moment that has not come yet.
func (s *Server) AdvanceTo(at time.Time) {
	s.t.Helper()
	if left := at.Sub(s.Now()); left > 0 {
		s.Advance(left + time.Millisecond)
	}
}

// AdvanceStopped moves the time on while the server does not run: Start finds that so much time has passed.
func (s *Server) AdvanceStopped(d time.Duration) {
	s.t.Helper()
	if s.process != nil {
		s.t.Fatal("orbittest: AdvanceStopped needs a server that was stopped or killed")
	}
	file := filepath.Join(s.data, "time_shift_ms")
	text, _ := os.ReadFile(file) // nothing was moved yet
	before, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err := os.WriteFile(file, strconv.AppendInt(nil, before+d.Milliseconds(), 10), 0o600); err != nil {
		s.t.Fatal("orbittest: ", err)
	}
}

func (s *Server) time(method, body string) time.Time {
	s.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, s.admin+"/time", bytes.NewReader([]byte(body)))
	if err != nil {
		s.t.Fatal("orbittest: ", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal("orbittest: ", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	var now struct {
		Now time.Time `json:"now"`
	}
	if err != nil || answer.StatusCode != http.StatusOK || json.Unmarshal(text, &now) != nil {
		s.t.Fatalf("orbittest: the time cannot be had: %s %s %v", answer.Status, text, err)
	}
	return now.Now
}

// Queue makes a queue with room for everything a test does.
func (s *Server) Queue(name string) {
	s.t.Helper()
	if _, err := s.Client.PutQueue(context.Background(), name, orbit.QueueSettings{OpenTasksMax: 1_000_000, RunningAttemptsMax: 10_000}); err != nil {
		s.t.Fatal("orbittest: ", err)
	}
}

// lockedBuffer keeps what the server says.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// tail is the end of it.
func (b *lockedBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text.Bytes()
	return string(text[max(0, len(text)-8000):])
}
