package runner_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"

	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/runner"
	"github.com/orbitrun/orbit/api/store"
)

const oneTimer = `{"schema_version":1,"definition":"timer","version":1,"input_contract":null,"output_contract":null,"deadline_ms":3600000,"on_failure":"REVIEW",
"contracts":{},"policies":{},"body":[{"name":"t","kind":"TIMER","delay_ms":"${input}"}],"output":null}`

// flowNode is a node that runs workflows, with its own lanes and runner.
func (n *node) flowNode(name string, told bool) *lane.Set {
	n.Helper()
	weaver := lane.NewWorkflows(n.writer, name, func(_ uint64, id engine.ID, err error) { n.Errorf("%s: %v", id.Text("inst"), err) })
	var scan *runner.Runner
	set := lane.New(n.writer, n.reader, weaver, lane.Options{
		OnInternal: func(err error) { n.Error("internal:", err) },
		OnClock: func(ns uint64, at time.Time) {
			if told {
				scan.NoteClock(ns, at)
			}
		},
	})
	scan = runner.New(n.reader, n.writer, set, slog.New(slog.NewTextHandler(testWriter{n.T}, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { scan.Run(ctx) })
	n.Cleanup(func() { cancel(); all.Wait(); set.Close() })
	return set
}

// timers starts workflows of one timer each, through a weaver of no node, and returns them.
func (n *node) timers(set *lane.Set, delays []time.Duration) []engine.ID {
	n.Helper()
	ids := make([]engine.ID, 0, len(delays))
	for len(delays) > 0 {
		some := delays[:min(32, len(delays))]
		delays = delays[len(some):]
		var starts []*lane.Start
		for _, d := range some {
			n.seq++
			input := fmt.Append(nil, d.Milliseconds())
			starts = append(starts, &lane.Start{
				Credential: n.key.ID, Application: n.key.Application, InstanceID: store.NewID(), Key: fmt.Sprint("t", n.seq), Definition: "timer", Input: input, InputDigest: sha256.Sum256(input),
			})
		}
		out, err := set.Start(n.Context(), n.ns, starts)
		n.must(err)
		for _, o := range out {
			if o.Refusal != nil {
				n.Fatal(o.Refusal)
			}
			ids = append(ids, o.InstanceID)
		}
	}
	return ids
}

// late waits until all timers have rung and returns how late the worst was; none may be early (C37, T13).
func (n *node) late(ids []engine.ID) (worst time.Duration) {
	n.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var open int
		n.must(n.db.QueryRow("SELECT COUNT(*) FROM instance WHERE namespace_id = ? AND state = 1", n.ns).Scan(&open))
		if open == 0 {
			break
		}
		if time.Now().After(deadline) {
			n.Fatalf("%d timers have not rung", open)
		}
	}
	rows, err := n.db.Query("SELECT TIMESTAMPDIFF(MICROSECOND, w.deadline_at, i.ended_at) FROM instance i JOIN step_wait w ON w.instance_id = i.instance_id WHERE i.namespace_id = ?", n.ns)
	n.must(err)
	defer func() { _ = rows.Close() }()
	count := 0
	for rows.Next() {
		var us int64
		n.must(rows.Scan(&us))
		if us < 0 {
			n.Errorf("a timer rang %d µs early", -us)
		}
		worst, count = max(worst, time.Duration(us)*time.Microsecond), count+1
	}
	n.must(rows.Err())
	if count != len(ids) {
		n.Errorf("%d of %d timers rang", count, len(ids))
	}
	return worst
}

// A timer does not wait for a tick: neither on the node that began it, nor on one that only sees the rows, nor on two
// that see the same.
func TestTimersRingInTime(t *testing.T) {
	for name, nodes := range map[string][]bool{"the node that began them": {true}, "a node that was told nothing": {false}, "two nodes": {true, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			out, err := store.Publish(t.Context(), n.writer, store.Publisher{Namespace: n.ns, Application: n.key.Application, Credential: n.key.ID}, []byte(oneTimer), "")
			n.must(err)
			if out.Refusal != nil {
				t.Fatal(out.Refusal, out.Problems)
			}
			var sets []*lane.Set
			for i, told := range nodes {
				sets = append(sets, n.flowNode(fmt.Sprint("node-", i), told))
			}
			time.Sleep(200 * time.Millisecond) // the first ticks are over
			var delays []time.Duration
			for i := range 300 { // more than a page, some of them due together
				delays = append(delays, 1500*time.Millisecond+time.Duration(i/3)*10*time.Millisecond)
			}
			worst := n.late(n.timers(sets[0], delays))
			t.Logf("300 timers within 1 s: the worst was %v late", worst)
			if worst > 800*time.Millisecond {
				t.Errorf("a timer was %v late: it waited for a tick", worst)
			}
		})
	}
}
