package lane_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// flowOperation is one transaction of workflows. prepare brings an instance to where run meets the fault; done says
// whether it happened, and it must have happened wholly or not at all.
type flowOperation struct {
	name    string
	prepare func(f *flows, key string) (run func() error, done func() string)
	before  string // done before run
	after   string // and behind it
}

func (f *flows) running(key, definition string) engine.ID {
	f.Helper()
	return f.start(f.begin(key, definition))[0]
}

func (f *flows) pushed(id engine.ID) func() error {
	return func() error {
		f.failed = nil
		if _, err := f.weaver.Run(f.Context(), f.ns, nil, []engine.ID{id}); err != nil {
			return err
		}
		if len(f.failed) > 0 {
			return f.failed[0]
		}
		return nil
	}
}

// whole is everything about an instance that one transaction may change.
func (f *flows) whole(id engine.ID) string {
	f.Helper()
	i := f.instance(id)
	tasks := f.scalar("SELECT COUNT(*) FROM open_task WHERE namespace_id = ? AND gate_id = ?", f.ns, id[:])
	clocks := f.scalar("SELECT COUNT(*) FROM weave_pending_advance WHERE namespace_id = ? AND instance_id = ?", f.ns, id[:])
	history := f.scalar("SELECT COUNT(*) FROM instance_history WHERE namespace_id = ? AND instance_id = ?", f.ns, id[:])
	return fmt.Sprintf("r%d h%d %s | %s | %s | %s | tasks %d clocks %d", i.Revision, history, f.steps(id), f.waits(id), f.signals(id), f.polled(id), tasks, clocks)
}

var flowOperations = []flowOperation{
	{"timer", func(f *flows, key string) (func() error, func() string) {
		id := f.running(key, "timer")
		f.sooner(id, 2*time.Minute)
		return f.pushed(id), func() string { return f.whole(id) }
	}, "r2 h2 a ACTIVE, b WAITING | TIMER PENDING |  |  | tasks 0 clocks 1", "r3 h3 a SUCCEEDED, b ACTIVE | TIMER SATISFIED |  |  | tasks 1 clocks 0"},
	{"signal", func(f *flows, key string) (func() error, func() string) {
		id := f.running(key, "signal")
		r := f.signal(id, "s"+key, `{"state":"x"}`)
		return func() error {
			out, err := f.weaver.Run(f.Context(), f.ns, nil, nil, r)
			if err == nil && out.Answers[0].Refusal != nil {
				return out.Answers[0].Refusal
			}
			return err
		}, func() string { return f.whole(id) }
	}, "r2 h2 a ACTIVE, b WAITING | SIGNAL PENDING |  |  | tasks 0 clocks 1", "r3 h3 a SUCCEEDED, b ACTIVE | SIGNAL SATISFIED | APPLIED/APPLIED |  | tasks 1 clocks 0"},
	{"early signal", func(f *flows, key string) (func() error, func() string) {
		id := f.running(key, "early")
		f.send(f.signal(id, "s"+key, `{"state":"x"}`))
		f.sooner(id, 2*time.Minute)
		f.set("UPDATE weave_signal SET available_at = available_at WHERE instance_id = ?", id[:])
		return f.pushed(id), func() string { return f.whole(id) }
	}, "r3 h3 t ACTIVE, a WAITING, b WAITING | TIMER PENDING | PENDING |  | tasks 0 clocks 1",
		"r4 h4 t SUCCEEDED, a SUCCEEDED, b ACTIVE | TIMER SATISFIED, SIGNAL SATISFIED | APPLIED/APPLIED |  | tasks 1 clocks 0"},
	{"poll answer", func(f *flows, key string) (func() error, func() string) {
		id := f.running(key, "poll")
		f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
		return f.pushed(id), func() string { return f.whole(id) }
	}, "r2 h2 a ACTIVE, b WAITING | POLL PENDING |  | ASKING 1, ASKING | tasks 0 clocks 1", "r3 h3 a ACTIVE, b WAITING | POLL PENDING |  | WAITING 1, POLL_PENDING | tasks 0 clocks 1"},
	{"poll round", func(f *flows, key string) (func() error, func() string) {
		id := f.running(key, "poll")
		f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
		f.advance(id)
		f.old(id, 11*time.Second)
		return f.pushed(id), func() string { return f.whole(id) }
	}, "r3 h3 a ACTIVE, b WAITING | POLL PENDING |  | WAITING 1, POLL_PENDING | tasks 0 clocks 1", "r4 h4 a ACTIVE, b WAITING | POLL PENDING |  | ASKING 2, POLL_PENDING, ASKING | tasks 1 clocks 1"},
}

// C5, C21: every fault at every statement of the transactions of clocks and signals. Each happens once and wholly, or it
// says so and has changed nothing, and then happens when it is asked again.
func TestEveryFaultAtEveryStatementOfClocks(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	t.Run("operations", func(t *testing.T) {
		for _, op := range flowOperations {
			t.Run(op.name, func(t *testing.T) {
				t.Parallel()
				line := injectFlow(t, &op)
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, line)
			})
		}
	})
	if !t.Failed() {
		t.Logf("sites × faults, violations 0: %s", strings.Join(lines, "; "))
	}
	clockSites.Keep(t, "clocks")
}

// disturbedFlows have every definition the operations need, and write through the proxy.
func disturbedFlows(t *testing.T, d *dbtest.DB, p *proxy.Proxy) *flows {
	f := flowsOn(t, d, d.DSNThrough(p.Addr())+"&readTimeout=5s", false)
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	f.publish(nodes("early", "REVIEW", time.Hour, timerNode("t", time.Minute), signalNode, thenTask))
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(3, finalSignal), thenTask))
	f.weaver = lane.NewWorkflows(f.writer, "node-1", func(_ uint64, _ engine.ID, err error) { f.failed = append(f.failed, err) })
	return f
}

func injectFlow(t *testing.T, op *flowOperation) string {
	d := dbtest.New(t)
	p, err := proxy.New(d.Address())
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	f := disturbedFlows(t, d, p)
	site, n := 0, 0
	attempt := func(rule *proxy.Rule, what string) (sites int) {
		n++
		run, done := op.prepare(f, fmt.Sprint("k", n))
		if got := done(); got != op.before {
			t.Fatalf("prepared as\n%s, not\n%s", got, op.before)
		}
		p.ResetCounters()
		fired := func() int { return 1 }
		if rule != nil {
			fired = p.SetRule(*rule).Fired
		}
		err := run()
		if fired() != 1 {
			t.Fatalf("%s: fired %d", what, fired())
		}
		p.ClearRules()
		sites = len(p.Statements())
		if rule == nil {
			seen(&clockSites, p)
		}
		if got := done(); err == nil && got != op.after || err != nil && got != op.before {
			t.Errorf("%s: answered %v, the instance is\n%s", what, err, got)
		}
		if err != nil {
			if err := run(); err != nil || done() != op.after {
				t.Errorf("%s: asked again it answers %v, the instance is\n%s", what, err, done())
			}
		}
		f.work(pulse.Succeeded, `{"state":"DONE"}`) // what was begun does not disturb the next
		return sites
	}
	attempt(nil, "the first") // opens the connections
	sites := attempt(nil, "without a fault")
	if sites < 10 {
		t.Fatalf("only %d statements", sites)
	}
	count := 0
	for _, fault := range faults() {
		for site = range sites {
			rule := fault.rule
			rule.After = site
			attempt(&rule, fmt.Sprintf("%s at site %d", fault.name, site))
			count++
			if t.Failed() {
				return ""
			}
		}
	}
	f.exact()
	return fmt.Sprintf("%s %d × %d = %d", op.name, sites, len(faults()), count)
}
