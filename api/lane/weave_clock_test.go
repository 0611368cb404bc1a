package lane_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

// nodes is a definition of any nodes; TASK... stands for what every task needs.
func nodes(name, onFailure string, deadline time.Duration, nodes ...string) string {
	body := strings.ReplaceAll(strings.Join(nodes, ","), `"TASK..."`, `"kind":"TASK","queue":"work","handler":"h","handler_version":"1",`+
		`"input_contract":null,"output_contract":null,"policy":"p","business_key":null,"resource_key":null`)
	return fmt.Sprintf(`{"schema_version":1,"definition":%q,"version":1,"input_contract":null,"output_contract":null,"deadline_ms":%d,"on_failure":%q,`+
		`"contracts":{"state":{"type":"object","required":["state"],"properties":{"state":{"type":"string"},"n":{"type":"number"}}}},%s,"body":[%s],"output":null}`,
		name, deadline.Milliseconds(), onFailure, policy, body)
}

func timerNode(name string, delay time.Duration) string {
	return fmt.Sprintf(`{"name":%q,"kind":"TIMER","delay_ms":%d}`, name, delay.Milliseconds())
}

const thenTask = `{"name":"b","TASK...","input":1}`

// sooner moves the time of an instance: everything stored about it becomes older by d.
func (f *flows) sooner(id engine.ID, d time.Duration) {
	f.Helper()
	us := d.Microseconds()
	for _, statement := range []string{
		"UPDATE instance SET created_at = created_at - INTERVAL ? MICROSECOND, deadline_at = deadline_at - INTERVAL ? MICROSECOND WHERE namespace_id = ? AND instance_id = ?",
		"UPDATE activation SET created_at = created_at - INTERVAL ? MICROSECOND, deadline_at = deadline_at - INTERVAL ? MICROSECOND WHERE namespace_id = ? AND instance_id = ?",
		"UPDATE step_wait SET started_at = started_at - INTERVAL ? MICROSECOND, deadline_at = deadline_at - INTERVAL ? MICROSECOND WHERE namespace_id = ? AND instance_id = ?",
	} {
		f.set(statement, us, us, f.ns, id[:])
	}
	f.set("UPDATE weave_pending_advance SET due_at = due_at - INTERVAL ? MICROSECOND WHERE namespace_id = ? AND instance_id = ?", us, f.ns, id[:])
}

func (f *flows) waits(id engine.ID) string {
	f.Helper()
	rows, err := db.New(f.db).ListWaits(f.Context(), db.ListWaitsParams{NamespaceID: f.ns, InstanceID: id[:], ActivationID: []byte{}, Limit: 100})
	must(f, err)
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s %s", weave.CheckpointKind(r.Kind), weave.WaitState(r.State)))
	}
	return strings.Join(out, ", ")
}

// clocks prints the checkpoints that are due within an hour or were due.
func (f *flows) clocks() string {
	f.Helper()
	rows, err := f.db.QueryContext(f.Context(), "SELECT step_no, kind FROM weave_pending_advance WHERE namespace_id = ? ORDER BY instance_id, step_no", f.ns)
	must(f, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var step, kind int
		must(f, rows.Scan(&step, &kind))
		out = append(out, fmt.Sprintf("%d %s", step, weave.CheckpointKind(kind)))
	}
	must(f, rows.Err())
	return strings.Join(out, ", ")
}

// A timer waits its time and not less, needs no task and no permit, and its successor starts in the same transaction.
func TestTimerSatisfied(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	id := f.start(f.begin("k", "timer"))[0]
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	if f.waits(id) != "TIMER PENDING" || f.clocks() != "1 TIMER" {
		t.Errorf("waits %s, clocks %s", f.waits(id), f.clocks())
	}
	f.exact()
	if out := f.advance(id); out.DueAt.IsZero() {
		t.Error("the lane was not told when the timer rings")
	}
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	f.sooner(id, time.Minute-time.Second)
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	f.sooner(id, time.Second)
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	if f.waits(id) != "TIMER SATISFIED" || f.clocks() != "" {
		t.Errorf("waits %s, clocks %s", f.waits(id), f.clocks())
	}
	f.work(pulse.Succeeded, `1`)
	f.advance(id)
	f.stands(id, weave.InstanceSucceeded, "", "a SUCCEEDED, b SUCCEEDED")
	f.exact()
}

// A wait that the instance's deadline cut short is no success, however late it is looked at.
func TestTimerCutShort(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("timer", "FAIL_AFTER_SETTLED", time.Minute, timerNode("a", time.Second), `{"name":"b","kind":"TIMER","delay_ms":"${input.n * 40000}"}`))
	id := f.start(f.begin("k", "timer"))[0]
	f.sooner(id, 2*time.Second)
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.sooner(id, 48*time.Hour)
	f.advance(id)
	f.stands(id, weave.InstanceReview, "timer_cut_short", "a SUCCEEDED, b NEEDS_REVIEW timer_cut_short")
	if f.waits(id) != "TIMER SATISFIED, TIMER EXPIRED" || f.clocks() != "" {
		t.Errorf("waits %s, clocks %s", f.waits(id), f.clocks())
	}
	f.exact()
}

// After a full outage the original time counts: a whole instance is completed, but nothing new starts.
func TestTimerAfterOutage(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("last", "REVIEW", time.Minute, timerNode("a", time.Second)))
	f.publish(nodes("more", "REVIEW", time.Minute, timerNode("a", time.Second), thenTask))
	ids := f.start(f.begin("k", "last"), f.begin("l", "more"))
	for _, id := range ids {
		f.sooner(id, 24*time.Hour)
	}
	f.advance(ids...)
	f.stands(ids[0], weave.InstanceSucceeded, "", "a SUCCEEDED")
	f.stands(ids[1], weave.InstanceReview, "instance_deadline", "a SUCCEEDED, b WAITING")
	f.exact()
}

// A timer that is due while nothing may start is collected; its successor waits behind a ROOT checkpoint.
func TestTimerHeldBack(t *testing.T) {
	for _, name := range []string{"paused", "gate closed", "application", "queue full"} {
		hold := holds[name]
		t.Run(name, func(t *testing.T) {
			f := newFlows(t, false)
			f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
			id := f.start(f.begin("k", "timer"))[0]
			f.set(hold[0], f.ns)
			f.sooner(id, 2*time.Minute)
			f.advance(id)
			f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b WAITING")
			if f.clocks() != "0 ROOT" {
				t.Errorf("clocks %s", f.clocks())
			}
			f.exact()
			f.set(hold[1], f.ns)
			f.advance(id)
			f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
			if f.clocks() != "" {
				t.Errorf("clocks %s", f.clocks())
			}
			f.exact()
		})
	}
}

// Many nodes wake one timer: one of them advances. An altered wait is a contradiction and moves nothing.
func TestTimerWakers(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	ids := f.start(f.begin("k", "timer"), f.begin("l", "timer"))
	for _, id := range ids {
		f.sooner(id, 2*time.Minute)
	}
	f.set("UPDATE step_wait SET deadline_at = deadline_at - INTERVAL 1 SECOND WHERE instance_id = ?", ids[1][:])
	others := lane.NewWorkflows(f.writer, "node-2", nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			weaver := f.weaver
			if i%2 == 1 {
				weaver = others
			}
			if _, err := weaver.Run(t.Context(), f.ns, nil, ids); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.stands(ids[0], weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.stands(ids[1], weave.InstanceReview, "wait_contradiction", "a ACTIVE, b WAITING")
	if n := f.audits(ids[0]); n != 2 {
		t.Errorf("%d audit records, not one for the start and one for the timer", n)
	}
	if f.clocks() != "" {
		t.Errorf("clocks %s", f.clocks())
	}
	f.exact()
}

// An audit that cannot be written takes back the wait, the step and the successor; the checkpoint is pushed 30 s.
func TestTimerRollsBack(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	id := f.start(f.begin("k", "timer"))[0]
	f.sooner(id, 2*time.Minute)
	f.db.Discard()
	f.set("ALTER TABLE audit ADD CONSTRAINT no_wait CHECK (action <> 'workflow.wait_settled')")
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	if f.waits(id) != "TIMER PENDING" || len(f.failed) != 1 {
		t.Errorf("waits %s, failures %v", f.waits(id), f.failed)
	}
	rows := f.due()
	if len(rows) != 1 || time.Until(rows[0].DueAt) < 25*time.Second {
		t.Errorf("checkpoints %+v", rows)
	}
	f.exact()
	f.set("ALTER TABLE audit DROP CONSTRAINT no_wait")
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.exact()
}

// How many instances take part changes no number of statements, for timers, signals and polls alike.
func TestClockStatementsDoNotGrow(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, finalSignal), thenTask))
	begin := func(key, definition string, n int) []engine.ID {
		var starts []*lane.Start
		for i := range n {
			starts = append(starts, f.begin(fmt.Sprint(key, n, "-", i), definition))
		}
		return f.start(starts...)
	}
	last := func() int { return f.counts[len(f.counts)-1] }
	measure := func(key string, n int) map[string]int {
		out := map[string]int{}
		ids := begin("t"+key, "timer", n)
		out["timer begins"] = last()
		for _, id := range ids {
			f.sooner(id, 2*time.Minute)
		}
		f.advance(ids...)
		out["timer rings"] = last()
		ids = begin("s"+key, "signal", n)
		var requests []weave.Request
		for i, id := range ids {
			requests = append(requests, f.signal(id, fmt.Sprint(key, n, "-", i), `{"state":"x"}`))
		}
		f.ask(requests...)
		out["signal"] = last()
		for f.work(pulse.Succeeded, `1`) > 0 {
		}
		ids = begin("p"+key, "poll", n)
		out["poll begins"] = last()
		f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
		f.advance(ids...)
		out["poll answered"] = last()
		for _, id := range ids {
			f.old(id, 11*time.Second)
		}
		f.advance(ids...)
		out["poll asks again"] = last()
		for f.work(pulse.Succeeded, `{"state":"DONE"}`) > 0 {
		}
		return out
	}
	measure("warm", 1) // reads the versions once
	one, many := measure("one", 1), measure("many", 32)
	t.Logf("statements: %v", one)
	for name, got := range one {
		if many[name] != got {
			t.Errorf("%s takes %d statements, with 32 instances %d", name, got, many[name])
		}
	}
	for name, most := range map[string]int{"timer begins": 20, "timer rings": 24, "signal": 30, "poll begins": 24, "poll answered": 24, "poll asks again": 28} {
		if one[name] > most {
			t.Errorf("%s takes %d statements, at most %d", name, one[name], most)
		}
	}
	f.exact()
}

// A checkpoint of an earlier activation wakes nobody: it leads to a look and is replaced. One that cannot have been
// written for the graph is a contradiction, and the stored wait still rings once a person has looked.
func TestStaleCheckpoint(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	ids := f.start(f.begin("k", "timer"), f.begin("l", "timer"), f.begin("m", "timer"))
	old := store.NewID()
	f.set("INSERT INTO activation (namespace_id, instance_id, activation_id, step_no, activation_no, deadline_at, created_at) VALUES (?, ?, ?, 1, 0, NOW(6), NOW(6))", f.ns, ids[0][:], old[:])
	f.set("UPDATE weave_pending_advance SET activation_id = ?, due_at = NOW(6) WHERE instance_id = ?", old[:], ids[0][:])
	unknown := store.NewID()
	f.set("UPDATE weave_pending_advance SET activation_id = ? WHERE instance_id = ?", unknown[:], ids[1][:])
	f.set("UPDATE weave_pending_advance SET step_version = 9 WHERE instance_id = ?", ids[2][:])
	f.advance(ids...)
	f.stands(ids[0], weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	if f.instance(ids[0]).Revision != 2 {
		t.Error("a stale checkpoint moved the instance")
	}
	for _, id := range ids[1:] {
		f.stands(id, weave.InstanceReview, "checkpoint_contradiction", "a ACTIVE, b WAITING")
	}
	for _, id := range ids {
		current := f.set1("SELECT activation_id FROM step WHERE instance_id = ? AND step_no = 1", id[:])
		var version int
		must(t, f.db.QueryRow("SELECT step_version FROM weave_pending_advance WHERE instance_id = ? AND activation_id = ?", id[:], current).Scan(&version))
		if version != 2 {
			t.Errorf("the checkpoint is of version %d", version)
		}
		f.sooner(id, 2*time.Minute)
	}
	f.advance(ids...)
	f.stands(ids[0], weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.stands(ids[1], weave.InstanceReview, "checkpoint_contradiction", "a SUCCEEDED, b WAITING")
	f.exact()
}
