package devdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orbitrun/orbit/scripts"
)

// Options of Start.
type Options struct {
	DataDir string    // made when missing; everything of the server is inside
	Durable bool      // every commit on disk; without it a crash of the machine may lose the last second
	Log     io.Writer // what was found and why; nil is silent
}

// Server is a running database server that belongs to this process.
type Server struct {
	options Options
	dsn     string
	owner   *owner // nil: the server is somebody else's, see Start
	stop    context.CancelFunc
	watch   sync.WaitGroup
	once    sync.Once
	closed  error
}

const (
	stopSecondsMax = 90
	// watchEvery is how soon a server that died is noticed. Clients reconnect by themselves.
	watchEvery = 500 * time.Millisecond
	// Small enough for a laptop beside everything else; a database server's defaults are not.
	bufferMiB, redoMiB = 256, 256
)

// Start returns the server of a folder: the one that already runs there, or a new one on the folder's data, or on an
// empty database orbit. It is restarted when it dies. With ORBIT_DATABASE_URL set nothing is started and that
// address is returned. A folder owned by another living process gives an *OwnedError. When ctx ends before the
// server is ready, nothing is left running.
func Start(ctx context.Context, options Options) (*Server, error) {
	if options.Log == nil {
		options.Log = io.Discard
	}
	if address := os.Getenv("ORBIT_DATABASE_URL"); address != "" {
		fmt.Fprintln(options.Log, "db: using the database of ORBIT_DATABASE_URL, nothing is started")
		return &Server{options: options, dsn: address}, nil
	}
	dir, err := filepath.Abs(options.DataDir)
	if err != nil {
		return nil, err
	}
	options.DataDir = dir
	owner, err := own(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{options: options, owner: owner}
	if err := s.up(ctx); err != nil {
		return nil, errors.Join(err, s.down(), owner.release())
	}
	watching, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.watch.Go(func() { s.keepUp(watching) })
	return s, nil
}

// DSN is the driver's address of the database orbit, without session parameters.
func (s *Server) DSN() string { return s.dsn }

// Pid is the server's process now, 0 when it is not ours or just down.
func (s *Server) Pid() int {
	if s.owner == nil {
		return 0
	}
	return serverPid(s.options.DataDir)
}

// Close stops the server cleanly and gives the folder free. The data stays.
func (s *Server) Close() error {
	s.once.Do(func() {
		if s.owner == nil {
			return
		}
		s.stop()
		s.watch.Wait()
		s.closed = errors.Join(s.down(), s.owner.release())
	})
	return s.closed
}

// up is idempotent: it adopts a server that runs.
func (s *Server) up(ctx context.Context) error {
	profile := "fast"
	if s.options.Durable {
		profile = "durable"
	}
	env := []string{
		fmt.Sprintf("ORBIT_DB_BUFFER_MIB=%d", bufferMiB), fmt.Sprintf("ORBIT_DB_REDO_MIB=%d", redoMiB),
		"ORBIT_MYSQL_BINLOG=0", "ORBIT_DATABASE_URL=",
	}
	dsn, err := scripts.Run(ctx, env, s.options.Log, "up", "dev", "--dir="+s.options.DataDir, "--profile="+profile)
	if err != nil {
		return err
	}
	s.dsn = dsn
	return nil
}

func (s *Server) down() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopSecondsMax*time.Second)
	defer cancel()
	_, err := scripts.Run(ctx, []string{"ORBIT_DATABASE_URL="}, s.options.Log, "down", "dev", "--dir="+s.options.DataDir)
	return err
}

// keepUp restarts a server that died under us. The script keeps its port when it can; if a stranger took the port,
// the DSN would no longer be true, and that is said and not hidden.
func (s *Server) keepUp(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	pid, dsn := serverPid(s.options.DataDir), s.dsn
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if runs(pid, s.options.DataDir) {
			continue
		}
		fmt.Fprintf(s.options.Log, "db: server %d died, starting it again on the same data\n", pid)
		restarted := &Server{options: s.options}
		if err := restarted.up(ctx); err != nil {
			fmt.Fprintf(s.options.Log, "db: %v\n", err)
			continue
		}
		if restarted.dsn != dsn {
			fmt.Fprintf(s.options.Log, "db: its port was taken, it is now at %s: restart orbit dev\n", restarted.dsn)
		}
		pid = serverPid(s.options.DataDir)
	}
}

// serverPid reads the file the server wrote; 0 when there is none.
func serverPid(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "server.pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}
