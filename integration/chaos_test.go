//go:build integration

package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/orbitrun/orbit/chaos/proxy"
)

// A process of the test binary that works until it is killed, when this is set: URLs, then the key, the file of its
// journal, and the queue.
const workerRole = "ORBIT_IT_WORKER"

func TestMain(m *testing.M) {
	if role := os.Getenv(workerRole); role != "" {
		workUntilKilled(strings.Split(role, " "))
	}
	if role := os.Getenv(consumerRole); role != "" {
		consumeUntilKilled(strings.Split(role, " "))
	}
	os.Exit(m.Run())
}

func workUntilKilled(role []string) {
	file, err := os.OpenFile(role[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	w := newWorker(newAPI(role[1], strings.Split(role[0], ",")...), role[3], "h")
	w.api.http.Timeout = 5 * time.Second
	w.effects = file
	w.run(context.Background(), 4).Wait()
}

// chaos is a workload under murder: submitters that write down what they were promised, worker processes that write
// down what they do, nodes, and a database.
type chaos struct {
	t       *testing.T
	db      *database
	api     *api
	key     string
	folder  string
	mu      sync.Mutex
	nodes   []*node
	links   []*proxy.Proxy // of the nodes to the database; nil: they speak to it directly
	workers []*exec.Cmd
	effects []string
	clients *os.File
	acked   atomic.Int64
	lastAck atomic.Int64 // Unix microseconds
	stop    context.CancelFunc
	done    sync.WaitGroup
}

func newChaos(t *testing.T, linked bool) *chaos {
	c := &chaos{t: t, db: newDatabase(t), folder: t.TempDir()}
	c.key = c.db.key()
	for range 2 {
		dsn := c.db.DSN
		if linked {
			dsn = c.link()
		}
		c.nodes = append(c.nodes, serveOn(t, dsn, "127.0.0.1:0"))
	}
	c.api = newAPI(c.key, c.nodes[0].URL, c.nodes[1].URL)
	c.api.http.Timeout = 5 * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	must(t, c.api.call(ctx, "PUT", "/v1/queues/chaos", map[string]any{"open_tasks_max": 1000000, "running_attempts_max": 1000}, nil))
	var err error
	c.clients, err = os.OpenFile(filepath.Join(c.folder, "clients"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	c.workers = make([]*exec.Cmd, 2)
	for i := range c.workers {
		c.hire(i)
	}
	t.Cleanup(func() {
		cancel()
		for i := range c.workers {
			c.fire(i)
		}
		_ = c.clients.Close()
	})
	for i := range 4 {
		c.done.Go(func() { c.submit(ctx, i) })
	}
	return c
}

// link puts a proxy before the database, and returns the address through it.
func (c *chaos) link() string {
	config, err := mysql.ParseDSN(c.db.DSN)
	must(c.t, err)
	p, err := proxy.New(config.Addr)
	must(c.t, err)
	c.t.Cleanup(func() { _ = p.Close() })
	c.links = append(c.links, p)
	config.Addr = p.Addr()
	return config.FormatDSN()
}

// hire starts worker process i with a journal of its own.
func (c *chaos) hire(i int) {
	path := filepath.Join(c.folder, fmt.Sprintf("effects-%d", len(c.effects)))
	c.effects = append(c.effects, path)
	cmd := exec.Command(os.Args[0]) //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s,%s %s %s chaos", workerRole, c.nodes[0].URL, c.nodes[1].URL, c.key, path))
	must(c.t, cmd.Start())
	c.workers[i] = cmd
}

func (c *chaos) fire(i int) {
	_ = c.workers[i].Process.Kill()
	_ = c.workers[i].Wait()
}

func (c *chaos) write(l map[string]any) {
	text, err := json.Marshal(l)
	must(c.t, err)
	if _, err := c.clients.Write(append(text, '\n')); err != nil {
		c.t.Error(err)
	}
}

// submit sends one task after the other, each with its key until it is answered. Half of them are declared safe to
// repeat.
func (c *chaos) submit(ctx context.Context, caller int) {
	for i := 0; ctx.Err() == nil; i++ {
		key := fmt.Sprintf("%d-%d", caller, i)
		lost := []string{"REVIEW", "RETRY"}[i%2]
		c.write(map[string]any{"op": "sent", "key": key})
		var receipt struct {
			TaskID string `json:"task_id"`
		}
		err := c.api.call(ctx, "POST", "/v1/tasks", map[string]any{
			"submit_key": key, "queue": "chaos", "handler": "h", "handler_version": "1", "input": i, "deadline_ms": 3600000, "attempt_timeout_ms": 60000,
			"lost_policy": lost, "retry_policy": map[string]any{"kind": "FIXED", "max_attempts": 50, "delay_ms": 10},
		}, &receipt)
		if err != nil {
			if ctx.Err() == nil {
				c.t.Error(err)
			}
			return
		}
		c.write(map[string]any{"op": "accepted", "key": key, "task": receipt.TaskID})
		c.acked.Add(1)
		c.lastAck.Store(time.Now().UnixMicro())
		time.Sleep(2 * time.Millisecond)
	}
}

// recovered waits for the first promise made after a moment, and returns how long it took.
func (c *chaos) recovered(since time.Time) time.Duration {
	for c.lastAck.Load() <= since.UnixMicro() {
		if time.Since(since) > time.Minute {
			c.t.Fatal("no submission was accepted within a minute of a kill")
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(since)
}

// finish lets everything end, and hands the journals and the tables to the auditor.
func (c *chaos) finish(kills int, took []time.Duration) {
	c.t.Helper()
	c.stop()
	c.done.Wait()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	for c.open(ctx) > 0 {
		if time.Since(began) > time.Minute {
			c.t.Error("work is open a minute after the last kill")
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	settled := time.Since(began)
	for i := range c.workers {
		c.fire(i)
	}
	args := []string{"--database", c.db.DSN, "--expect-end", "--clients", c.clients.Name()}
	for _, path := range c.effects {
		if _, err := os.Stat(path); err == nil {
			args = append(args, "--effects", path)
		}
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(auditor(c.t), args...) //nolint:gosec // built here
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		c.t.Errorf("the auditor: %v\n%.6000s", err, errs.String())
	}
	slices.Sort(took)
	c.t.Logf("%d times, recovery p50 %d ms, p99 %d ms, everything ended %.1f s after the last: %s", kills, took[len(took)/2].Milliseconds(),
		took[len(took)*99/100].Milliseconds(), settled.Seconds(), strings.TrimSpace(out.String()))
	c.db.healthy()
}

// open counts what has neither ended nor waits for a person.
func (c *chaos) open(ctx context.Context) int {
	n := 0
	for _, state := range []string{"QUEUED", "RUNNING"} {
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		must(c.t, c.api.call(ctx, "GET", "/v1/tasks?queue=chaos&limit=1&state="+state, nil, &list))
		n += len(list.Items)
	}
	return n
}

// auditor builds the judge, which is a module of its own.
var auditorPath = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "orbit-auditor")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "auditor")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join("..", "chaos", "auditor")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func auditor(t *testing.T) string {
	path, err := auditorPath()
	must(t, err)
	return path
}

// victims are what a scenario kills, and how it comes back.
func (c *chaos) killNode() {
	i := rand.IntN(len(c.nodes))
	address := strings.TrimPrefix(c.nodes[i].URL, "http://")
	c.nodes[i].kill()
	c.nodes[i] = serve(c.t, c.db, address)
}

func (c *chaos) killWorker() {
	i := rand.IntN(len(c.workers))
	c.fire(i)
	c.hire(i)
}

func (c *chaos) killDatabase() {
	c.db.kill()
	c.db.up()
}

// killAll ends a node, a worker and the database within 50 ms.
func (c *chaos) killAll() {
	address := strings.TrimPrefix(c.nodes[0].URL, "http://")
	c.nodes[0].kill()
	c.fire(0)
	c.db.kill()
	c.db.up()
	c.nodes[0] = serve(c.t, c.db, address)
	c.hire(0)
}

// C1 to C4: nodes, workers, the database and all three are killed again and again under load. Nothing accepted is lost,
// nothing runs again that nobody declared safe, everything ends, and every counter and the stream are exact.
func TestKilledAgainAndAgain(t *testing.T) {
	for _, s := range []scenario{
		{"C1 nodes", 30, (*chaos).killNode},
		{"C2 workers", 30, (*chaos).killWorker},
		{"C3 database", 30, (*chaos).killDatabase},
		{"C4 all three", 8, (*chaos).killAll},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(newChaos(t, false)) })
	}
}

// scenario is one kind of misfortune, again and again.
type scenario struct {
	name  string
	times int
	hurt  func(*chaos)
}

func (s scenario) run(c *chaos) {
	var took []time.Duration
	times := s.times * factor(c.t)
	for range times {
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
		began := time.Now()
		s.hurt(c)
		took = append(took, c.recovered(began))
	}
	c.finish(times, took)
}

// factor multiplies every scenario: make integration runs them once, make chaos longer.
func factor(t *testing.T) int {
	text := os.Getenv("ORBIT_CHAOS_FACTOR")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}
