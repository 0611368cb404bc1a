//go:build integration

package integration

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A process of the test binary that consumes a subscription until it is killed, when this is set: URLs, the key, the
// file of its journal, and its name.
const consumerRole = "ORBIT_IT_CONSUMER"

// pushedResult is what a consumer reads of a delivery.
type pushedResult struct {
	Seq          int64  `json:"seq"`
	PreviousSeq  int64  `json:"previous_seq"`
	Generation   int64  `json:"generation"`
	Proof        string `json:"proof"`
	PreviousHash string `json:"previous_hash"`
	Hash         string `json:"hash"`
}

// consumeUntilKilled writes down every result before it acknowledges it, over one socket after the other.
func consumeUntilKilled(role []string) {
	file, err := os.OpenFile(role[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	urls := strings.Split(role[0], ",")
	for i := 0; ; i++ {
		_ = consumeOnce(urls[i%len(urls)], role[1], role[3], file) // cut: another socket goes on
		time.Sleep(20 * time.Millisecond)
	}
}

func consumeOnce(url, key, name string, file *os.File) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dialing, stop := context.WithTimeout(ctx, 3*time.Second)
	defer stop()
	conn, _, err := websocket.Dial(dialing, url+"/v1/subscriptions/s/socket", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		return err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(32 << 20)
	if err := conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":1,"follow":{"consumer":%q,"credit":128}}`, name)); err != nil {
		return err
	}
	for id := 2; ; id++ {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var f struct {
			Deliveries *struct {
				Items []pushedResult `json:"items"`
			} `json:"deliveries"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return err
		}
		if f.Deliveries == nil {
			continue
		}
		var lines, acks []string
		for _, d := range f.Deliveries.Items {
			lines = append(lines, fmt.Sprintln(name, d.Seq, d.PreviousSeq, d.Generation, d.PreviousHash, d.Hash))
			acks = append(acks, fmt.Sprintf(`{"seq":%d,"generation":%d,"proof":%q}`, d.Seq, d.Generation, d.Proof))
		}
		if _, err := file.WriteString(strings.Join(lines, "")); err != nil {
			panic(err)
		}
		if err := conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"acks":{"items":[%s]}}`, id, strings.Join(acks, ","))); err != nil {
			return err
		}
	}
}

// cutter passes connections on to an address and cuts all of them when it is told to.
type cutter struct {
	listener net.Listener
	mu       sync.Mutex
	to       string
	open     map[net.Conn]bool
	cuts     int
}

func newCutter(t *testing.T, to string) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := &cutter{listener: l, to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close(); c.cut() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go c.pass(in)
		}
	}()
	return c
}

func (c *cutter) url() string { return "http://" + c.listener.Addr().String() }

func (c *cutter) pass(in net.Conn) {
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = in.Close()
		return
	}
	c.mu.Lock()
	c.open[in], c.open[out] = true, true
	c.mu.Unlock()
	go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
	_, _ = io.Copy(in, out)
	_ = in.Close()
}

// cut resets every connection; those that were open count.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	if len(c.open) > 0 {
		c.cuts++
	}
	c.open = map[net.Conn]bool{}
}

// Results (15,000; ORBIT_STREAM_RESULTS says how many) through one subscription in order, over sockets that are cut a hundred times, to consumer processes
// of which twenty are killed, from nodes of which four are killed: no gap, no disorder, every repetition marked by a
// generation of its own, and the counter equal to the rows throughout (T17, T18, C19).
func TestStreamUnderCutsAndKills(t *testing.T) {
	results := 15_000
	if asked, err := strconv.Atoi(os.Getenv("ORBIT_STREAM_RESULTS")); err == nil {
		results = asked
	}
	began := time.Now()
	d := newDatabase(t)
	nodes := []*node{serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0")}
	key := d.key()
	a := newAPI(key, nodes[0].URL, nodes[1].URL)
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	defer cancel()
	must(t, a.call(ctx, "PUT", "/v1/queues/q", map[string]any{"open_tasks_max": 1000000, "running_attempts_max": 100000}, nil))
	must(t, a.call(ctx, "PUT", "/v1/subscriptions/s", map[string]any{"window": 256, "ack_timeout_ms": 1000, "generations_max": 1000}, nil))
	wires := []*cutter{newCutter(t, nodes[0].URL[len("http://"):]), newCutter(t, nodes[1].URL[len("http://"):])}
	file := filepath.Join(t.TempDir(), "journal")
	hire := func(name string, wires ...*cutter) *exec.Cmd {
		cmd := exec.Command(os.Args[0]) //nolint:gosec // ourselves
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s,%s %s %s %s", consumerRole, wires[0].url(), wires[1].url(), key, file, name))
		must(t, cmd.Start())
		return cmd
	}
	consumers := []*exec.Cmd{hire("c0", wires[0], wires[1]), hire("c1", wires[1], wires[0])}
	defer func() {
		for _, c := range consumers {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}()
	producing := make(chan struct{})
	go func() { defer close(producing); produce(ctx, t, a, results) }()

	db, err := sql.Open("mysql", d.DSN)
	must(t, err)
	defer func() { _ = db.Close() }()
	state := func() (next, pending, rows int) {
		must(t, db.QueryRowContext(ctx, `SELECT CAST(s.next_seq AS SIGNED), s.pending_count, (SELECT COUNT(*) FROM subscription_delivery d WHERE d.subscription_id = s.subscription_id)
			FROM subscription s`).Scan(&next, &pending, &rows))
		return next, pending, rows
	}
	kills, nodeKills, drift, looks := 0, 0, 0, 0
	for {
		next, pending, rows := state()
		if looks++; pending != rows {
			drift++
		}
		if next > results && pending == 0 {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("stuck: read up to %d, %d pending\n%s", next, pending, nodes[0].log)
		}
		// every fault at its place in the stream, so that all of them happen whatever the speed
		for wires[0].cuts+wires[1].cuts < min(120*next/results, 100) {
			wires[rand.IntN(2)].cut()
			time.Sleep(30 * time.Millisecond)
		}
		if kills < min(24*next/results, 20) {
			i := kills % 2
			_ = consumers[i].Process.Kill()
			_ = consumers[i].Wait()
			kills++
			consumers[i] = hire(fmt.Sprintf("c%d.%d", i, kills), wires[0], wires[1])
		}
		if nodeKills < min(5*next/results, 4) {
			i := nodeKills % 2
			address := nodes[i].URL[len("http://"):]
			nodes[i].kill()
			nodes[i] = serve(t, d, address)
			nodeKills++
		}
		time.Sleep(20 * time.Millisecond)
	}
	<-producing
	j := readConsumed(t, file)
	if j.first != results || j.gaps+j.disorder+j.unmarked+j.broken+drift != 0 {
		t.Errorf("%d of %d results: gaps %d, order errors %d, unmarked duplicates %d, broken links %d, drift %d of %d looks", j.first, results, j.gaps, j.disorder, j.unmarked, j.broken, drift, looks)
	}
	if cuts := wires[0].cuts + wires[1].cuts; cuts < 100 || kills < 20 || nodeKills < 4 {
		t.Errorf("too quiet: %d cuts, %d consumers and %d nodes killed", cuts, kills, nodeKills)
	}
	t.Logf("C19: %d results in %s, %d socket cuts, %d consumers and %d nodes killed: gaps %d, order errors %d, duplicates %d of which unmarked %d, broken links %d; pending_count equal to the rows in %d of %d looks",
		j.first, time.Since(began).Round(time.Second), wires[0].cuts+wires[1].cuts, kills, nodeKills, j.gaps, j.disorder, j.duplicates, j.unmarked, j.broken, looks-drift, looks)
	d.healthy()
}

// produce makes results: submitted and completed in batches, repeated until they are answered.
func produce(ctx context.Context, t *testing.T, a *api, results int) {
	var all sync.WaitGroup
	for c := range 2 {
		all.Go(func() {
			for i := c; i < results; i += 64 {
				var items []map[string]any
				for k := i; k < results && len(items) < 32; k += 2 {
					items = append(items, map[string]any{"submit_key": fmt.Sprint(k), "queue": "q", "handler": "h", "handler_version": "1", "input": k, "deadline_ms": 3600000,
						"attempt_timeout_ms": 60000, "lost_policy": "RETRY", "retry_policy": map[string]any{"kind": "FIXED", "max_attempts": 100}})
				}
				if err := a.call(ctx, "POST", "/v1/task-batches", map[string]any{"items": items}, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working, done := context.WithCancel(ctx)
	defer done()
	for range 2 {
		go func() {
			for working.Err() == nil {
				var got struct {
					Tasks []claimed `json:"tasks"`
				}
				err := a.call(working, "POST", "/v1/claims", map[string]any{"worker": "w", "queues": []string{"q"}, "handlers": []any{map[string]any{"handler": "h", "handler_version": "1"}},
					"max_tasks": 64, "lease_ms": 5000, "wait_ms": 500}, &got)
				if err != nil || len(got.Tasks) == 0 {
					continue
				}
				var items []map[string]any
				for _, c := range got.Tasks {
					items = append(items, map[string]any{"task_id": c.TaskID, "attempt_no": c.AttemptNo, "token": c.Token, "outcome": "SUCCEEDED", "output": c.Input})
				}
				_ = a.call(working, "POST", "/v1/completions", map[string]any{"worker": "w", "items": items}, nil)
			}
		}()
	}
	all.Wait()
	for ctx.Err() == nil {
		var q struct {
			OpenTasks int `json:"open_tasks"`
		}
		if a.call(ctx, "GET", "/v1/queues/q", nil, &q) == nil && q.OpenTasks == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// consumed is what the journals of all consumers say together, in the order in which they were written.
type consumed struct{ first, gaps, disorder, duplicates, unmarked, broken int }

func readConsumed(t *testing.T, path string) (out consumed) {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer func() { _ = file.Close() }()
	type sight struct{ seq, generation int64 }
	seen, handed := map[int64]bool{}, map[sight]bool{}
	links := map[int64]string{0: strings.Repeat("0", 64)}
	last := int64(0)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var d pushedResult
		var name string
		if _, err := fmt.Sscan(lines.Text(), &name, &d.Seq, &d.PreviousSeq, &d.Generation, &d.PreviousHash, &d.Hash); err != nil {
			continue // the last line of a consumer that was killed while it wrote
		}
		switch {
		case seen[d.Seq]:
			out.duplicates++
			if handed[sight{d.Seq, d.Generation}] {
				out.unmarked++ // no generation is ever handed out twice, not even to the same consumer
			}
		default:
			out.first++
			if d.Seq != last+1 {
				out.disorder++
			}
			last = max(last, d.Seq)
		}
		seen[d.Seq], handed[sight{d.Seq, d.Generation}] = true, true
		if link := links[d.Seq-1]; d.PreviousSeq != d.Seq-1 || link != "" && link != d.PreviousHash {
			out.broken++
		}
		links[d.Seq] = d.Hash
	}
	out.gaps = int(last) - out.first
	return out
}
