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

const finalSignal = `{"signal":"s","signal_version":"1","content_contract":"state","correlation":"c",
	"classify":{"value":"${signal.state}","done":["DONE"],"failed":["FAILED"],"review":["STUCK"]},"output":"${signal}"}`

// pollNode asks every ten seconds, at most rounds times within a minute.
func pollNode(rounds int, final string) string {
	return fmt.Sprintf(`{"name":"a","kind":"POLL","task":{"queue":"work","handler":"h","handler_version":"1","input":{"n":"${input.n}"},"input_contract":null,
		"output_contract":"state","policy":"p","business_key":"about","resource_key":null},"interval_ms":10000,"max_rounds":%d,"deadline_ms":60000,
		"classify":{"value":"${result.state}","pending":["RUNNING"],"done":["DONE"],"failed":["FAILED"],"review":["STUCK"]},
		"output":"${result}","output_contract":null,"final_signal":%s}`, rounds, final)
}

// polled is what a poll and its rounds are.
func (f *flows) polled(id engine.ID) string {
	f.Helper()
	q := db.New(f.db)
	polls, err := q.ListPolls(f.Context(), db.ListPollsParams{NamespaceID: f.ns, InstanceID: id[:], ActivationID: []byte{}, Limit: 10})
	must(f, err)
	rounds, err := q.ListRounds(f.Context(), db.ListRoundsParams{NamespaceID: f.ns, InstanceID: id[:], Limit: 1000})
	must(f, err)
	var out []string
	for _, p := range polls {
		out = append(out, fmt.Sprintf("%s %d", weave.PollState(p.State), p.UsedRounds))
	}
	for i, r := range rounds {
		if int(r.RoundNo) != i+1 {
			f.Errorf("round %d at place %d", r.RoundNo, i+1)
		}
		out = append(out, weave.RoundState(r.State).String())
	}
	return strings.Join(out, ", ")
}

func (f *flows) round(id engine.ID, want string) {
	f.Helper()
	if got := f.polled(id); got != want {
		f.Errorf("the poll is %s, not %s", got, want)
	}
}

// old moves the times of a poll along with those of its instance.
func (f *flows) old(id engine.ID, d time.Duration) {
	f.Helper()
	f.sooner(id, d)
	us := d.Microseconds()
	f.set("UPDATE weave_poll SET started_at = started_at - INTERVAL ? MICROSECOND, deadline_at = deadline_at - INTERVAL ? MICROSECOND, next_poll_at = next_poll_at - INTERVAL ? MICROSECOND WHERE namespace_id = ? AND instance_id = ?", us, us, us, f.ns, id[:])
}

// Rounds and attempts are separate budgets: a failed request retries inside its round, an answer PENDING costs one.
// Every round repeats the input and keys of the first.
func TestPollRounds(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(3, "null"), thenTask))
	id := f.start(f.begin("k", "poll"))[0]
	f.round(id, "ASKING 1, ASKING")
	f.exact()
	f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	f.round(id, "WAITING 1, POLL_PENDING")
	var wait int
	must(t, f.db.QueryRow(`SELECT TIMESTAMPDIFF(MICROSECOND, b.occurred_at, q.next_poll_at) FROM weave_poll q JOIN weave_inbox b ON b.instance_id = q.instance_id`).Scan(&wait))
	if wait != 10_000_000 {
		t.Errorf("the next round comes %d µs after the answer", wait)
	}
	f.old(id, 9*time.Second)
	f.advance(id)
	f.round(id, "WAITING 1, POLL_PENDING")
	f.old(id, time.Second)
	f.advance(id)
	f.round(id, "ASKING 2, POLL_PENDING, ASKING")
	got := f.claimNow(1)
	if len(got) != 1 || string(got[0].Payload.Input) != `{"n":1.50}` || string(got[0].Payload.BusinessKey) != "about" {
		t.Fatalf("the second round asks %+v", got)
	}
	report := f.report(&got[0].Task, pulse.Succeeded)
	report.Output = []byte(`{"state":"DONE","n":7.0}`)
	_, _, _, err := f.Complete(t.Context(), f.ns, []pulse.Report{report}, nil)
	must(t, err)
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.round(id, "SETTLED 2, POLL_PENDING, DONE")
	if f.clocks() != "" {
		t.Errorf("clocks %s", f.clocks())
	}
	f.exact()
}

// What ends a POLL: rounds used up, deadline while it waits, deadline while it asks, and every kind of answer.
func TestPollEnds(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(1, "null"), thenTask))
	f.publish(nodes("more", "FAIL_AFTER_SETTLED", time.Hour, pollNode(3, "null"), thenTask))
	for i, c := range []struct {
		outcome pulse.Outcome
		output  string
		state   weave.InstanceState
		reason  string
		steps   string
		rounds  string
	}{
		{pulse.Succeeded, `{"state":"RUNNING"}`, weave.InstanceReview, "poll_rounds_exhausted", "a NEEDS_REVIEW poll_rounds_exhausted, b WAITING", "SETTLED 1, POLL_PENDING"},
		{pulse.Succeeded, `{"state":"FAILED"}`, weave.InstanceReview, "step_failed", "a FAILED poll_value_failed, b WAITING", "SETTLED 1, FAILED"},
		{pulse.Succeeded, `{"state":"STUCK"}`, weave.InstanceReview, "poll_value_review", "a NEEDS_REVIEW poll_value_review, b WAITING", "SETTLED 1, NEEDS_REVIEW"},
		{pulse.Succeeded, `{"state":"OTHER"}`, weave.InstanceReview, "poll_value_unlisted", "a NEEDS_REVIEW poll_value_unlisted, b WAITING", "SETTLED 1, NEEDS_REVIEW"},
		{pulse.Succeeded, `{"status":1}`, weave.InstanceReview, "output_contract_broken", "a NEEDS_REVIEW output_contract_broken, b WAITING", "SETTLED 1, NEEDS_REVIEW"},
		{pulse.Permanent, "", weave.InstanceReview, "poll_round_failed", "a NEEDS_REVIEW poll_round_failed, b WAITING", "SETTLED 1, NEEDS_REVIEW"},
		{pulse.Unknown, "", weave.InstanceReview, "task_unknown", "a NEEDS_REVIEW task_unknown, b WAITING", "SETTLED 1, NEEDS_REVIEW"},
	} {
		id := f.start(f.begin(fmt.Sprint("k", i), "poll"))[0]
		f.work(c.outcome, c.output)
		f.advance(id)
		f.stands(id, c.state, c.reason, c.steps)
		f.round(id, c.rounds)
	}
	f.exact()
	id := f.start(f.begin("waits", "more"))[0]
	f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
	f.advance(id)
	f.old(id, 61*time.Second)
	f.advance(id)
	f.stands(id, weave.InstanceReview, "poll_deadline", "a NEEDS_REVIEW poll_deadline, b WAITING")
	f.exact()
}

// The deadline comes while a round is in flight: the gate closes, step, round, task and permit stay, and what Pulse
// says at last is collected. An answer that was accepted in time counts, however late anybody looks.
func TestPollDeadlineInFlight(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(3, "null"), thenTask))
	ids := f.start(f.begin("k", "poll"), f.begin("l", "poll"))
	got := f.claimNow(2)
	f.old(ids[0], 61*time.Second)
	f.advance(ids[0])
	f.stands(ids[0], weave.InstanceReview, "poll_deadline", "a ACTIVE, b WAITING")
	f.round(ids[0], "ASKING 1, ASKING")
	f.exact()
	if n := f.scalar("SELECT COUNT(*) FROM open_task WHERE state = 2 AND namespace_id = ?", f.ns); n != 2 {
		t.Errorf("%d tasks run", n)
	}
	f.advance(ids[0])
	if f.instance(ids[0]).Revision != 3 || f.clocks() == "" {
		t.Errorf("revision %d, clocks %q", f.instance(ids[0]).Revision, f.clocks())
	}
	reports := make([]pulse.Report, 2)
	for i := range got {
		reports[i] = f.report(&got[i].Task, pulse.Succeeded)
		reports[i].Output = []byte(`{"state":"DONE"}`)
	}
	_, _, _, err := f.Complete(t.Context(), f.ns, reports, nil)
	must(t, err)
	f.old(ids[1], 10*time.Minute)
	f.set("UPDATE weave_inbox SET occurred_at = occurred_at - INTERVAL 10 MINUTE WHERE instance_id = ?", ids[1][:])
	f.advance(ids...)
	f.stands(ids[0], weave.InstanceReview, "poll_deadline", "a NEEDS_REVIEW poll_deadline, b WAITING")
	f.round(ids[0], "SETTLED 1, DONE")
	f.stands(ids[1], weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.exact()
}

// Full, paused, closed, disabled: the next round waits and costs nothing.
func TestPollHeldBack(t *testing.T) {
	for _, name := range []string{"paused", "gate closed", "application", "queue full", "quota full"} {
		hold := holds[name]
		t.Run(name, func(t *testing.T) {
			f := newFlows(t, false)
			f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(3, "null"), thenTask))
			id := f.start(f.begin("k", "poll"))[0]
			f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
			f.advance(id)
			f.set(hold[0], f.ns)
			f.old(id, 11*time.Second)
			audits := f.audits(id)
			for range 3 {
				f.advance(id)
				f.set("UPDATE weave_pending_advance SET due_at = NOW(6) WHERE namespace_id = ?", f.ns)
			}
			f.round(id, "WAITING 1, POLL_PENDING")
			if n := f.audits(id); n != audits {
				t.Errorf("%d audit records more", n-audits)
			}
			f.exact()
			f.set(hold[1], f.ns)
			f.advance(id)
			f.round(id, "ASKING 2, POLL_PENDING, ASKING")
			f.exact()
		})
	}
}

// Many nodes at the next round's time: one round. Its audit fails: task, round and counters go back.
func TestPollNextRoundOnce(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, "null"), thenTask))
	id := f.start(f.begin("k", "poll"))[0]
	f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
	f.advance(id)
	f.old(id, 11*time.Second)
	f.db.Discard()
	f.set("ALTER TABLE audit ADD CONSTRAINT no_round CHECK (action <> 'workflow.poll_round_started')")
	f.advance(id)
	f.round(id, "WAITING 1, POLL_PENDING")
	if len(f.failed) != 1 {
		t.Errorf("failures %v", f.failed)
	}
	f.exact()
	f.set("ALTER TABLE audit DROP CONSTRAINT no_round")
	others := lane.NewWorkflows(f.writer, "node-2", nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			weaver := f.weaver
			if i%2 == 1 {
				weaver = others
			}
			if _, err := weaver.Run(t.Context(), f.ns, nil, []engine.ID{id}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.round(id, "ASKING 2, POLL_PENDING, ASKING")
	f.exact()
}

// Rows that cannot have been written: no further round is begun on them, and a person decides.
func TestPollBroken(t *testing.T) {
	for name, change := range map[string]string{
		"a gap":            "UPDATE weave_poll_round SET round_no = 2 WHERE instance_id = ?",
		"a round is lost":  "DELETE FROM weave_poll_round WHERE instance_id = ?",
		"not PENDING":      "UPDATE weave_poll_round SET state = 3 WHERE instance_id = ?",
		"other activation": "UPDATE weave_poll_round SET activation_id = REPEAT('x', 16) WHERE instance_id = ?",
		"deadline":         "UPDATE weave_poll SET deadline_at = deadline_at + INTERVAL 1 HOUR WHERE instance_id = ?",
		"rounds":           "UPDATE weave_poll SET used_rounds = 0 WHERE instance_id = ?",
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlows(t, false)
			f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, "null"), thenTask))
			id := f.start(f.begin("k", "poll"))[0]
			f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
			f.advance(id)
			f.old(id, 11*time.Second)
			f.set(change, id[:])
			f.advance(id)
			f.stands(id, weave.InstanceReview, "poll_contradiction", "a ACTIVE, b WAITING")
			if len(f.failed) != 0 {
				t.Errorf("failures %v", f.failed)
			}
			f.exact()
		})
	}
}

// A final signal ends what waits at once, and what asks as soon as its outcome is known; PENDING does not compete.
func TestFinalSignal(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, finalSignal), thenTask))
	waits := f.start(f.begin("k", "poll"))[0]
	f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
	f.advance(waits)
	f.send(f.signal(waits, "1", `{"state":"DONE","n":1}`))
	f.stands(waits, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.round(waits, "SETTLED 1, POLL_PENDING")
	f.work(pulse.Succeeded, `1`)
	f.advance(waits)
	for i, c := range []struct {
		outcome pulse.Outcome
		output  string
		state   weave.InstanceState
		reason  string
		steps   string
	}{
		{pulse.Succeeded, `{"state":"RUNNING"}`, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE"},
		{pulse.Succeeded, `{"state":"DONE"}`, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE"},
		{pulse.Permanent, "", weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE"},
		{pulse.Succeeded, `{"state":"FAILED"}`, weave.InstanceReview, "poll_outcomes_contradict", "a NEEDS_REVIEW poll_outcomes_contradict, b WAITING"},
		{pulse.Unknown, "", weave.InstanceReview, "task_unknown", "a NEEDS_REVIEW task_unknown, b WAITING"},
	} {
		id := f.start(f.begin(fmt.Sprint("k", i), "poll"))[0]
		got := f.claimNow(1)
		f.send(f.signal(id, fmt.Sprint("s", i), `{"state":"DONE","n":1}`))
		f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
		f.send(f.signal(id, fmt.Sprint("t", i), `{"state":"FAILED"}`))
		if s := f.signals(id); s != "APPLIED/APPLIED, REJECTED/DUPLICATE" {
			t.Errorf("signals %s", s)
		}
		f.exact()
		report := f.report(&got[0].Task, c.outcome)
		if c.outcome == pulse.Succeeded {
			report.Output = []byte(c.output)
		} else {
			report.FailureCode = "broken"
		}
		_, _, _, err := f.Complete(t.Context(), f.ns, []pulse.Report{report}, nil)
		must(t, err)
		f.advance(id)
		f.stands(id, c.state, c.reason, c.steps)
		f.work(pulse.Succeeded, `1`)
		f.advance(id)
	}
	f.exact()
}

// The overtaken query is cancelled by Pulse: a waiting one ends at once, a running one is asked and keeps its permit
// until its worker says what became of it.
func TestFinalSignalCancelsTheQuery(t *testing.T) {
	f := newFlows(t, true)
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, finalSignal), thenTask))
	send := func(id engine.ID) {
		out, err := f.Ask(t.Context(), f.ns, f.signal(id, id.Text("s"), `{"state":"DONE","n":1}`))
		if err != nil || out[0].Refusal != nil {
			t.Fatal(err, out)
		}
	}
	begun := func(key string) engine.ID {
		out, err := f.Start(t.Context(), f.ns, []*lane.Start{f.begin(key, "poll")})
		must(t, err)
		return out[0].InstanceID
	}
	queued := begun("queued")
	send(queued)
	within(t, func() bool { return f.steps(queued) == "a SUCCEEDED, b ACTIVE" })
	f.round(queued, "SETTLED 1, CANCELLED")
	f.work(pulse.Succeeded, `1`)
	running := begun("running")
	got := f.claimNow(1)
	send(running)
	asked := func() bool {
		return f.scalar("SELECT COUNT(*) FROM open_task WHERE task_id = ? AND state = 2 AND cancel_requested_at IS NOT NULL", got[0].Task.ID[:]) == 1
	}
	within(t, asked)
	f.stands(running, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	f.Advance(f.ns, []engine.ID{running}) // asks again and changes nothing
	f.exact()
	report := f.report(&got[0].Task, pulse.Cancelled)
	_, _, _, err := f.Complete(t.Context(), f.ns, []pulse.Report{report}, nil)
	must(t, err)
	within(t, func() bool { return f.steps(running) == "a SUCCEEDED, b ACTIVE" })
	if n := f.scalar("SELECT COUNT(*) FROM audit WHERE subject = ? AND action = 'task.cancel_requested'", []byte(got[0].Task.ID.Text("task"))); n != 1 {
		t.Errorf("%d records of the request", n)
	}
	f.exact()
}

// Two tasks can never be the same round: the second row is an error, whoever writes it.
func TestARoundHasOneTask(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, "null"), thenTask))
	id := f.start(f.begin("k", "poll"))[0]
	rows, err := db.New(f.db).ListRounds(t.Context(), db.ListRoundsParams{NamespaceID: f.ns, InstanceID: id[:], Limit: 10})
	must(t, err)
	r := rows[0]
	other := store.NewID()
	same := db.UpsertRoundParams{
		NamespaceID: f.ns, TaskID: r.TaskID, InstanceID: id[:], ActivationID: r.ActivationID, RoundNo: 1, State: 1, CreatedAt: r.CreatedAt, DeadlineAt: r.DeadlineAt,
	}
	must(t, db.New(f.db).UpsertRound(t.Context(), same))
	same.TaskID = other[:]
	if err := db.New(f.db).UpsertRound(t.Context(), same); err == nil {
		t.Error("a second task became round 1")
	}
	f.round(id, "ASKING 1, ASKING")
	f.exact()
}
