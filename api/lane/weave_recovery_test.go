package lane_test

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

// set changes rows behind the product's back.
func (f *flows) set(statement string, args ...any) {
	f.Helper()
	_, err := f.db.ExecContext(f.Context(), statement, args...)
	must(f, err)
}

func (f *flows) inbox(id engine.ID) []db.ListInboxRow {
	f.Helper()
	rows, err := db.New(f.db).ListInbox(f.Context(), db.ListInboxParams{NamespaceID: f.ns, InstanceID: id[:], Limit: 100})
	must(f, err)
	return rows
}

func (f *flows) due() []db.ListDueAdvancesRow {
	f.Helper()
	rows, err := db.New(f.db).ListDueAdvances(f.Context(), db.ListDueAdvancesParams{NamespaceID: f.ns, AfterAt: time.Unix(0, 0), AfterID: []byte{}, UntilAt: time.Now().Add(time.Hour), Limit: 100})
	must(f, err)
	return rows
}

// audits counts the records about an instance, and that no two share an operation.
func (f *flows) audits(id engine.ID) int {
	f.Helper()
	rows, err := db.New(f.db).ListAuditBySubject(f.Context(), db.ListAuditBySubjectParams{NamespaceID: f.ns, Subject: []byte(id.Text("inst")), AuditID: []byte{}, Limit: 200})
	must(f, err)
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[string(r.OperationID)] {
			f.Error("two audit records share an operation")
		}
		seen[string(r.OperationID)] = true
	}
	return len(rows)
}

// Many consumers of one result: one of them advances, the others change nothing.
func TestDuplicateConsumption(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	id := f.start(f.begin("k", "two"))[0]
	f.work(pulse.Succeeded, `{"n":1}`)
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
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	if rows := f.inbox(id); len(rows) != 1 || rows[0].State != 2 || string(rows[0].Classification) != "CONSUMED" {
		t.Errorf("inbox %+v", rows)
	}
	if n := f.audits(id); n != 2 {
		t.Errorf("%d audit records, not one for the start and one for the result", n)
	}
	if n := f.work(pulse.Succeeded, `{"n":1}`); n != 1 {
		t.Errorf("%d successors", n)
	}
	f.exact()
}

// The queue is full: the result stays accepted, the successor waits without a trace per try, and comes when there is room.
func TestFullQueueThenRoom(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	id := f.start(f.begin("k", "two"))[0]
	f.work(pulse.Succeeded, `{"n":1}`)
	f.set("UPDATE queue SET open_tasks_max = 0 WHERE namespace_id = ?", f.ns)
	for range 3 {
		f.set("UPDATE weave_pending_advance SET due_at = NOW(6) WHERE namespace_id = ?", f.ns)
		f.advance(id)
	}
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b WAITING")
	if n := f.audits(id); n != 2 {
		t.Errorf("%d audit records", n)
	}
	if len(f.due()) != 1 {
		t.Fatalf("checkpoints %+v", f.due())
	}
	f.exact()
	f.set("UPDATE queue SET open_tasks_max = 10 WHERE namespace_id = ?", f.ns)
	f.advance(id)
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	if len(f.due()) != 0 {
		t.Errorf("checkpoints %+v", f.due())
	}
	f.exact()
}

// An audit that cannot be written takes everything back: result, step, successor, counters. The candidate is pushed.
func TestAuditRollsBack(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	ids := f.start(f.begin("k", "two"), f.begin("l", "two"))
	f.work(pulse.Succeeded, `{"n":1}`)
	f.db.Discard()
	f.set(fmt.Sprintf("ALTER TABLE audit ADD CONSTRAINT no_advance CHECK (action <> 'workflow.result_consumed' OR subject <> '%s')", ids[0].Text("inst")))
	f.advance(ids...)
	f.stands(ids[0], weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	f.stands(ids[1], weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE") // the other one of the same batch
	if rows := f.inbox(ids[0]); rows[0].State != 1 {
		t.Errorf("inbox %+v", rows)
	}
	if len(f.failed) != 1 {
		t.Errorf("failures %v", f.failed)
	}
	due, err := db.New(f.db).ListDueInbox(t.Context(), db.ListDueInboxParams{NamespaceID: f.ns, PendingAt: ptr(time.Now().Add(25 * time.Second)), Limit: 10})
	must(t, err)
	if len(due) != 0 {
		t.Errorf("the failed candidate is due within 25 s: %+v", due)
	}
	f.exact()
	f.set("ALTER TABLE audit DROP CONSTRAINT no_advance")
	f.advance(ids[0])
	f.stands(ids[0], weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.exact()
}

func ptr[T any](v T) *T { return &v }

// A stored result that is not what was written is quarantined; it is never rebuilt from the task's row.
func TestBrokenSnapshot(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	id := f.start(f.begin("k", "two"))[0]
	f.work(pulse.Succeeded, `{"n":1}`)
	f.set(`UPDATE weave_inbox SET output = '{"n":2}' WHERE namespace_id = ?`, f.ns)
	f.advance(id)
	f.stands(id, weave.InstanceReview, "result_quarantined", "a ACTIVE, b WAITING")
	if rows := f.inbox(id); rows[0].State != 3 || string(rows[0].Classification) != "SNAPSHOT_BROKEN" {
		t.Errorf("inbox %+v", rows)
	}
	f.advance(id)
	if f.instance(id).Revision != 3 {
		t.Error("a quarantined row was looked at again")
	}
	f.exact()
}

// holds are what keeps anything new from starting, and what lets it start again.
var holds = map[string][2]string{
	"paused":      {"UPDATE instance SET paused = 1 WHERE namespace_id = ?", "UPDATE instance SET paused = 0 WHERE namespace_id = ?"},
	"gate closed": {"UPDATE execution_gate SET state = 2 WHERE namespace_id = ?", "UPDATE execution_gate SET state = 1 WHERE namespace_id = ?"},
	"application": {"UPDATE application SET status = 2 WHERE namespace_id = ?", "UPDATE application SET status = 1 WHERE namespace_id = ?"},
	"namespace":   {"UPDATE namespace SET status = 2 WHERE namespace_id = ?", "UPDATE namespace SET status = 1 WHERE namespace_id = ?"},
	"queue full":  {"UPDATE queue SET open_tasks_max = 0 WHERE namespace_id = ?", "UPDATE queue SET open_tasks_max = 9 WHERE namespace_id = ?"},
	"quota full":  {"UPDATE quota SET open_tasks_max = 0 WHERE namespace_id = ?", "UPDATE quota SET open_tasks_max = 9 WHERE namespace_id = ?"},
}

// A paused instance, a closed gate, a disabled application: results are collected, nothing starts, the rest is kept.
func TestHeldBack(t *testing.T) {
	for _, name := range []string{"paused", "gate closed", "application", "namespace"} {
		hold := holds[name]
		t.Run(name, func(t *testing.T) {
			f := newFlows(t, false)
			f.publish(chain("two", 1, "REVIEW", "a", "b"))
			id := f.start(f.begin("k", "two"))[0]
			f.work(pulse.Succeeded, `{"n":1}`)
			f.set(hold[0], f.ns)
			f.advance(id)
			f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b WAITING")
			if len(f.due()) != 1 {
				t.Errorf("checkpoints %+v", f.due())
			}
			f.set(hold[1], f.ns)
			f.advance(id)
			f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
			if len(f.due()) != 0 {
				t.Errorf("checkpoints %+v", f.due())
			}
			f.exact()
		})
	}
}

// Past the instance's deadline nothing new starts; what was accepted before it still counts.
func TestDeadline(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	f.publish(chain("one", 1, "REVIEW", "a"))
	two, one := f.start(f.begin("k", "two"))[0], f.start(f.begin("l", "one"))[0]
	f.work(pulse.Succeeded, `{"n":1}`)
	f.set("UPDATE instance SET deadline_at = (SELECT MAX(occurred_at) FROM weave_inbox) WHERE namespace_id = ?", f.ns)
	f.advance(two, one)
	f.stands(two, weave.InstanceReview, "instance_deadline", "a SUCCEEDED, b WAITING")
	f.stands(one, weave.InstanceSucceeded, "", "a SUCCEEDED")
	f.exact()
}

// Failed, cancelled and unknown tasks against both strategies.
func TestOutcomesOfTasks(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("review", 1, "REVIEW", "a", "b"))
	f.publish(chain("fail", 1, "FAIL_AFTER_SETTLED", "a", "b"))
	for _, c := range []struct {
		definition string
		outcome    pulse.Outcome
		output     string
		state      weave.InstanceState
		reason     string
		steps      string
	}{
		{"review", pulse.Permanent, "", weave.InstanceReview, "step_failed", "a FAILED task_failed, b WAITING"},
		{"fail", pulse.Permanent, "", weave.InstanceFailed, "step_failed", "a FAILED task_failed, b SKIPPED"},
		{"review", pulse.Unknown, "", weave.InstanceReview, "task_unknown", "a NEEDS_REVIEW task_unknown, b WAITING"},
		{"fail", pulse.Unknown, "", weave.InstanceReview, "task_unknown", "a NEEDS_REVIEW task_unknown, b WAITING"},
		{"fail", pulse.Succeeded, `{"n":"x"}`, weave.InstanceReview, "output_contract_broken", "a NEEDS_REVIEW output_contract_broken, b WAITING"},
	} {
		id := f.start(f.begin(fmt.Sprint(c.definition, c.outcome, c.output), c.definition))[0]
		f.work(c.outcome, c.output)
		f.advance(id)
		f.stands(id, c.state, c.reason, c.steps)
	}
	id := f.start(f.begin("cancelled", "fail"))[0]
	task := f.set1(`SELECT task_id FROM activation WHERE namespace_id = ? AND instance_id = ?`, f.ns, id[:])
	out, err := f.Cancel(t.Context(), f.ns, pulse.Cancel{Credential: f.key.ID, Application: f.key.Application, Queue: f.queue, Task: store.ID(task)})
	must(t, err)
	if out.Refusal != nil {
		t.Fatal(out.Refusal)
	}
	f.advance(id)
	f.stands(id, weave.InstanceReview, "step_cancelled", "a CANCELLED task_cancelled, b WAITING")
	f.exact()
}

func (f *flows) set1(query string, args ...any) (out []byte) {
	f.Helper()
	must(f, f.db.QueryRowContext(f.Context(), query, args...).Scan(&out))
	return out
}

// 64 callers start with one key at once, through two nodes: one instance, 64 equal receipts.
func TestOneKeyManyStarts(t *testing.T) {
	f := newFlows(t, true)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	other := lane.NewWorkflows(f.writer, "node-2", nil)
	receipts := make([]string, 64)
	var wg sync.WaitGroup
	for i := range receipts {
		wg.Go(func() {
			s := []*lane.Start{f.begin("same", "two")}
			var out []lane.StartOutcome
			var err error
			if i%4 == 0 {
				var r lane.WeaveResult
				r, err = other.Run(t.Context(), f.ns, s, nil)
				out = r.Starts
			} else {
				out, err = f.Start(t.Context(), f.ns, s)
			}
			if err != nil || out[0].Refusal != nil {
				t.Error(err, out)
				return
			}
			receipts[i] = string(out[0].Receipt)
		})
	}
	wg.Wait()
	allEqual(t, receipts)
	var instances int
	must(t, f.db.QueryRow("SELECT COUNT(*) FROM instance WHERE namespace_id = ?", f.ns).Scan(&instances))
	if instances != 1 {
		t.Errorf("%d instances", instances)
	}
	f.exact()
}

// Replays: same content gives the frozen receipt although a newer version exists; other content is named; a key that
// may no longer start reads no receipt.
func TestReplayedStart(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	first, err := f.weaver.Run(t.Context(), f.ns, []*lane.Start{f.begin("k", "two")}, nil)
	must(t, err)
	f.publish(chain("two", 2, "REVIEW", "a", "b", "c"))
	f.work(pulse.Succeeded, `{"n":1}`)
	f.advance(first.Starts[0].InstanceID)
	again, err := f.weaver.Run(t.Context(), f.ns, []*lane.Start{f.begin("k", "two"), f.begin("new", "two")}, nil)
	must(t, err)
	if string(again.Starts[0].Receipt) != string(first.Starts[0].Receipt) || !again.Starts[0].Replayed {
		t.Errorf("replayed %s", again.Starts[0].Receipt)
	}
	f.stands(again.Starts[1].InstanceID, weave.InstanceRunning, "", "a ACTIVE, b WAITING, c WAITING")
	other := func(s *lane.Start) { s.Input = []byte(`{"n":7}`); s.InputDigest = sha256.Sum256(s.Input) }
	unknown := func(s *lane.Start) { s.Definition = "three" }
	version := func(s *lane.Start) { s.Version = 9 }
	broken := func(s *lane.Start) { s.Input = []byte(`{"n":"x"}`) }
	out, err := f.weaver.Run(t.Context(), f.ns, []*lane.Start{
		f.begin("k", "two", other), f.begin("u", "two", unknown), f.begin("v", "two", version), f.begin("b", "two", broken), f.begin("fine", "two"),
	}, nil)
	must(t, err)
	for i, want := range []string{"start_conflict", "workflow_not_found", "version_not_found", "input_contract_broken", ""} {
		if got := out.Starts[i].Refusal; want == "" && got != nil || want != "" && (got == nil || got.Code != want) {
			t.Errorf("start %d answered %v, not %q", i, got, want)
		}
	}
	f.set("UPDATE credential SET scopes = 'tasks:submit' WHERE namespace_id = ?", f.ns)
	refused, err := f.weaver.Run(t.Context(), f.ns, []*lane.Start{f.begin("k", "two")}, nil)
	must(t, err)
	if r := refused.Starts[0].Refusal; r == nil || r.Code != "scope_missing" {
		t.Errorf("a key without the scope was answered %+v", refused.Starts[0])
	}
	f.exact()
}

// A start that meets a limit writes nothing and costs the others of its batch nothing.
func TestStartsMeetLimits(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	f.set("UPDATE queue SET open_tasks_max = 2 WHERE namespace_id = ?", f.ns)
	out, err := f.weaver.Run(t.Context(), f.ns, []*lane.Start{f.begin("1", "two"), f.begin("2", "two"), f.begin("3", "two")}, nil)
	must(t, err)
	if out.Starts[1].Refusal != nil || out.Starts[2].Refusal == nil || out.Starts[2].Refusal.Code != "queue_full" {
		t.Errorf("answered %+v", out.Starts)
	}
	f.set("UPDATE queue SET open_tasks_max = 99 WHERE namespace_id = ?", f.ns)
	f.set("UPDATE quota SET open_instances_max = 2 WHERE namespace_id = ?", f.ns)
	out, err = f.weaver.Run(t.Context(), f.ns, []*lane.Start{f.begin("3", "two")}, nil)
	must(t, err)
	if r := out.Starts[0].Refusal; r == nil || r.Code != "quota_open_instances" || r.Limit != 2 {
		t.Errorf("answered %+v", out.Starts[0])
	}
	f.exact()
}

// A definition whose stored text was altered runs nothing: its instances are pushed, the others go on.
func TestAlteredDefinition(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("two", 1, "REVIEW", "a", "b"))
	f.publish(chain("other", 1, "REVIEW", "a", "b"))
	ids := f.start(f.begin("k", "two"), f.begin("l", "other"))
	f.work(pulse.Succeeded, `{"n":1}`)
	f.set("UPDATE workflow_version SET document = REPLACE(document, 'REVIEW', 'REVIEw') WHERE namespace_id = ? AND name = 'two'", f.ns)
	var failed []error
	fresh := lane.NewWorkflows(f.writer, "node-2", func(_ uint64, _ engine.ID, err error) { failed = append(failed, err) })
	_, err := fresh.Run(t.Context(), f.ns, nil, ids)
	must(t, err)
	f.stands(ids[0], weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	f.stands(ids[1], weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	if len(failed) != 1 {
		t.Errorf("failures %v", failed)
	}
}

func TestPublish(t *testing.T) {
	f := newFlows(t, false)
	who := store.Publisher{Namespace: f.ns, Application: f.key.Application, Credential: f.key.ID}
	publish := func(document, key string) store.Publication {
		t.Helper()
		out, err := store.Publish(t.Context(), f.writer, who, []byte(document), key)
		must(t, err)
		return out
	}
	refused := func(name string, out store.Publication, code string) {
		t.Helper()
		if out.Refusal == nil || out.Refusal.Code != code || out.Receipt != nil {
			t.Errorf("%s: answered %+v, not %s", name, out, code)
		}
	}
	text := "  " + chain("two", 3, "REVIEW", "a", "b")
	first := publish(text, "op-1")
	if first.Refusal != nil || first.Replayed {
		t.Fatalf("answered %+v", first)
	}
	for name, again := range map[string]store.Publication{"same key": publish(text, "op-1"), "no key": publish(text[1:], ""), "other key": publish(text, "op-2")} {
		if !again.Replayed || string(again.Receipt) != string(first.Receipt) {
			t.Errorf("%s: %s, not %s", name, again.Receipt, first.Receipt)
		}
	}
	refused("other content", publish(chain("two", 3, "REVIEW", "a"), ""), "version_conflict")
	refused("used key", publish(chain("two", 4, "REVIEW", "a"), "op-1"), "idempotency_conflict")
	broken := publish(`{"schema_version":1}`, "")
	refused("broken", broken, "definition_invalid")
	if len(broken.Problems) == 0 {
		t.Error("no findings")
	}
	if out := publish(chain("two", 1, "REVIEW", "a"), "op-3"); out.Refusal != nil {
		t.Error(out.Refusal)
	}
	head, err := db.New(f.db).GetDefinition(t.Context(), db.GetDefinitionParams{NamespaceID: f.ns, ApplicationID: f.key.Application, Name: []byte("two")})
	must(t, err)
	if head.LatestVersion != 3 || head.Revision != 2 {
		t.Errorf("head %+v", head)
	}
	row, err := db.New(f.db).GetVersion(t.Context(), db.GetVersionParams{NamespaceID: f.ns, ApplicationID: f.key.Application, Name: []byte("two"), Version: 3})
	must(t, err)
	if string(row.Document) != text {
		t.Error("the stored text is not what was published")
	}
	f.set("UPDATE credential SET scopes = 'workflows:start' WHERE namespace_id = ?", f.ns)
	refused("without scope", publish(text, "op-1"), "scope_missing")
	who.Application = auth.NewID()
	refused("another application's key", publish(text, "op-1"), "credential_invalid")
}

// Many publishers of the same version at once: one publishes, all get its receipt.
func TestPublishTogether(t *testing.T) {
	f := newFlows(t, false)
	who := store.Publisher{Namespace: f.ns, Application: f.key.Application, Credential: f.key.ID}
	receipts := make([]string, 16)
	var wg sync.WaitGroup
	for i := range receipts {
		wg.Go(func() {
			out, err := store.Publish(t.Context(), f.writer, who, []byte(chain("two", 1, "REVIEW", "a", "b")), fmt.Sprint("op-", i%4))
			if err != nil || out.Refusal != nil {
				t.Error(err, out.Refusal)
			}
			receipts[i] = string(out.Receipt)
		})
	}
	wg.Wait()
	for _, r := range receipts {
		if r != receipts[0] {
			t.Errorf("%s and %s", r, receipts[0])
		}
	}
}

// allEqual demands one receipt, byte for byte, for every caller.
func allEqual(t *testing.T, receipts []string) {
	t.Helper()
	for _, r := range receipts {
		if r != receipts[0] {
			t.Errorf("receipts differ: %s and %s", r, receipts[0])
		}
	}
}
