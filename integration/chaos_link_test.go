//go:build integration

package integration

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/orbitrun/orbit/chaos/proxy"
)

// C13 to C18, C20, C30: the link between nodes and database is slow, cut, silent, or of one way; one node loses sight of
// the database; the database turns read-only. What the auditor demands after kills, it demands here.
func TestTheLinkFails(t *testing.T) {
	for _, s := range []scenario{
		{"C13 delay", 4, wire(proxy.Link{Latency: 20 * time.Millisecond}, time.Second)},
		{"C14 reset", 100, (*chaos).reset},
		{"C15 half-open", 6, (*chaos).halfOpen},
		{"C16 link down", 3, (*chaos).down},
		{"C17 one-way cut", 3, (*chaos).oneWay},
		{"C18 slow link", 3, wire(proxy.Link{BytesPerSecond: 200_000}, time.Second)},
		{"C20 one node is blind", 3, (*chaos).blind},
		{"C30 read-only", 5, (*chaos).readOnly},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(newChaos(t, true)) })
	}
}

// wire sets both links for a while.
func wire(l proxy.Link, long time.Duration) func(*chaos) {
	return func(c *chaos) {
		for _, p := range c.links {
			p.SetLink(l)
		}
		time.Sleep(long)
		for _, p := range c.links {
			p.SetLink(proxy.Link{})
		}
	}
}

func (c *chaos) anyLink() *proxy.Proxy { return c.links[rand.IntN(len(c.links))] }

func (c *chaos) reset() { c.anyLink().CutAll() }

// halfOpen lets one statement, any, meet a connection that is gone on the server's side only.
func (c *chaos) halfOpen() {
	p := c.anyLink()
	p.ResetCounters()
	p.SetRule(proxy.Rule{Do: proxy.HalfOpen, When: proxy.Moment(rand.IntN(3)), After: rand.IntN(20), Times: 1})
}

func (c *chaos) down() {
	for _, p := range c.links {
		p.SetLink(proxy.Link{Refuse: true})
		p.CutAll()
	}
	time.Sleep(2 * time.Second)
	for _, p := range c.links {
		p.SetLink(proxy.Link{})
	}
}

// oneWay loses what one side says, for two seconds, and then the connections are found dead.
func (c *chaos) oneWay() {
	p := c.anyLink()
	p.SetLink(proxy.Link{DropToServer: rand.IntN(2) == 0, DropToClient: rand.IntN(2) == 0})
	time.Sleep(2 * time.Second)
	p.SetLink(proxy.Link{})
	p.CutAll()
}

// blind takes the database away from one node: it says that it is not ready within five seconds, the other goes on.
func (c *chaos) blind() {
	p := c.links[0]
	p.SetLink(proxy.Link{Refuse: true})
	p.CutAll()
	began := time.Now()
	for c.ready(0) {
		if time.Since(began) > 5*time.Second {
			c.t.Error("a node without its database calls itself ready for more than 5 s")
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for began = time.Now(); !c.ready(1); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			c.t.Fatal("the other node is not ready")
		}
	}
	p.SetLink(proxy.Link{})
	for began = time.Now(); !c.ready(0); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			c.t.Fatal("a node that has its database again is not ready within 5 s")
		}
	}
}

func (c *chaos) ready(i int) bool {
	answer, err := (&http.Client{Timeout: 2 * time.Second}).Get(c.nodes[i].URL + "/readyz") //nolint:noctx // a short look
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// readOnly is what a failover looks like from inside; submissions are accepted again within five seconds of its end,
// and a client's own patience with an answer that got lost (three more).
func (c *chaos) readOnly() {
	c.db.root("SET GLOBAL super_read_only = 1")
	time.Sleep(time.Second)
	c.db.root("SET GLOBAL super_read_only = 0, GLOBAL read_only = 0")
	if took := c.recovered(time.Now()); took > 8*time.Second {
		c.t.Errorf("submissions were accepted again after %s", took)
	}
}

// C22: 32 claimers that report, and 16 submitters, on two nodes: the server sees no deadlock, and no call fails.
func TestC22NoDeadlocks(t *testing.T) {
	d := newDatabase(t)
	nodes := []*node{serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0")}
	a := newAPI(d.key(), nodes[0].URL, nodes[1].URL)
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	must(t, a.call(ctx, "PUT", "/v1/queues/q", map[string]any{"open_tasks_max": 1000000, "running_attempts_max": 1000}, nil))
	db, err := sql.Open("mysql", d.DSN)
	must(t, err)
	defer func() { _ = db.Close() }()
	deadlocks := func() (n int) {
		must(t, db.QueryRow("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'").Scan(&n))
		return n
	}
	before := deadlocks()
	w := newWorker(a, "q", "h")
	w.work = 0
	working := w.run(ctx, 32)
	accepted, failed := hammer(ctx, a, 16)
	working.Wait()
	if n := deadlocks() - before; n != 0 || failed != 0 || w.count() == 0 || accepted == 0 {
		t.Errorf("%d deadlocks, %d failed calls, %d accepted, %d ran", n, failed, accepted, w.count())
	}
	t.Logf("C22: 32 claimers, 16 submitters, 2 nodes: %d accepted, %d ran, deadlocks 0, failed calls 0", accepted, w.count())
	d.healthy()
}
