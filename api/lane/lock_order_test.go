package lane_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// C23, T1: the row locks that the server itself shows between any two statements of every operation of a lane, of tasks
// and of workflows: no transaction ever goes back up the ladder.
func TestC23RecordedLockOrder(t *testing.T) {
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			d, p, locks := watched(t)
			w := worldOn(t, d, d.DSNThrough(p.Addr())+"&readTimeout=5s", lane.Options{})
			for range 3 {
				run, applied := op.prepare(w)
				if err := run(); err != nil || applied() != 1 {
					t.Fatalf("%v, applied %d", err, applied())
				}
				w.idle()
			}
			judge(t, locks, 4)
		})
	}
	t.Run("workflows", func(t *testing.T) {
		d, p, locks := watched(t)
		f := disturbedFlows(t, d, p)
		for _, op := range flowOperations {
			for i := range 3 {
				run, done := op.prepare(f, fmt.Sprint(op.name, i))
				if err := run(); err != nil || done() != op.after {
					t.Fatalf("%s: %v, %s", op.name, err, done())
				}
			}
		}
		judge(t, locks, 20)
	})
}

// watched is a database whose locks are looked at between any two statements that pass the proxy.
func watched(t *testing.T) (*dbtest.DB, *proxy.Proxy, *dbtest.Locks) {
	d := dbtest.New(t)
	locks := dbtest.WatchLocks(t, d)
	if locks == nil {
		t.Skip("this server does not tell which locks are held")
	}
	p, err := proxy.New(d.Address())
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	p.Observe(func(proxy.Statement) { locks.Look() })
	return d, p, locks
}

func judge(t *testing.T, locks *dbtest.Locks, least int) {
	t.Helper()
	paths, transactions, climbs := locks.Paths()
	if len(climbs) > 0 {
		t.Errorf("climbs:\n%s", strings.Join(climbs, "\n"))
	}
	if transactions < least {
		t.Errorf("only %d transactions on %d paths were recorded", transactions, len(paths))
	}
	t.Logf("C23: %d transactions on %d paths, climbs %d\n%s", transactions, len(paths), len(climbs), strings.Join(paths, "\n"))
}
