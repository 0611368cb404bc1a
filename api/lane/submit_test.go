package lane_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

// T10, C45: 64 callers on two nodes submit one key at once. One task, 64 receipts equal byte for byte, also from a node
// that started later; other content under the key is a conflict that names the first.
func TestOneKeyOfMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	nodes := []*lane.Set{w.Set, w.node(w.db.DSN(), lane.Options{})}
	first := w.submission()
	outs := make([]pulse.SubmitOutcome, 64)
	var all sync.WaitGroup
	for i := range outs {
		all.Go(func() {
			s := first
			s.TaskID = store.NewID()
			out, err := nodes[i%2].Submit(context.Background(), w.ns, []pulse.Submission{s})
			if err != nil || out[0].Refusal != nil {
				t.Errorf("%v %+v", err, out)
				return
			}
			outs[i] = out[0]
		})
	}
	all.Wait()
	late := w.node(w.db.DSN(), lane.Options{})
	again, err := late.Submit(t.Context(), w.ns, []pulse.Submission{first})
	must(t, err)
	fresh := 0
	for _, o := range append(outs, again...) {
		if !o.Replayed {
			fresh++
		}
		if !bytes.Equal(o.Receipt, outs[0].Receipt) || o.TaskID != outs[0].TaskID {
			t.Errorf("receipt %s differs from %s", o.Receipt, outs[0].Receipt)
		}
	}
	if fresh != 1 {
		t.Errorf("%d callers were told to be the first", fresh)
	}
	other := first
	other.Priority = 5
	conflict, err := w.Submit(t.Context(), w.ns, []pulse.Submission{other})
	must(t, err)
	if r := conflict[0].Refusal; r == nil || r.Code != "submission_conflict" || r.Subject != outs[0].TaskID.Text("task") {
		t.Errorf("other content is answered %+v", conflict[0])
	}
	if n := w.rows("task"); n != 1 {
		t.Errorf("%d tasks", n)
	}
	w.exact()
	t.Logf("64 callers, 2 nodes: 1 task, 65 equal receipts, retries %v", w.retries())
}

func (w *world) rows(table string) int {
	w.Helper()
	var n int
	must(w, w.db.QueryRow("SELECT COUNT(*) FROM "+table+" WHERE namespace_id = ?", w.ns).Scan(&n))
	return n
}

// T11: one outcome per index, in order; what is refused costs the others nothing; repeating the batch gives the same
// list.
func TestABatchHasAnOutcomePerItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	first := w.submission()
	w.submit(first)
	conflict, twin := first, w.submission()
	conflict.Handler = "other"
	nowhere := w.submission(func(s *pulse.Submission) { s.Queue = 4711 })
	batch := []pulse.Submission{w.submission(), conflict, twin, twin, nowhere, first, w.submission()}
	want := "accepted submission_conflict accepted replayed queue_unknown replayed accepted"
	for round := range 2 {
		out, err := w.Submit(t.Context(), w.ns, batch)
		must(t, err)
		if got := spell(out); got != want {
			t.Errorf("round %d: %s, want %s", round, got, want)
		}
		w.exact()
		want = "replayed submission_conflict replayed replayed queue_unknown replayed replayed"
	}
	if n := w.rows("task"); n != 4 {
		t.Errorf("%d tasks", n)
	}
}

func spell(out []pulse.SubmitOutcome) string {
	var b bytes.Buffer
	for i, o := range out {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case o.Refusal != nil:
			b.WriteString(o.Refusal.Code)
		case o.Replayed:
			b.WriteString("replayed")
		default:
			b.WriteString("accepted")
		}
	}
	return b.String()
}

// Something that breaks its transaction runs alone afterwards and takes nobody down: a row the database refuses, and a
// state that cannot be.
func TestAPoisonedItemTakesNobodyDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	w.expected = true
	running := w.submit(w.submission())[0]
	foreign := w.addQueue("foreign", 100, 10)
	elsewhere := func(s *pulse.Submission) { s.Queue, s.QueueName = foreign, "foreign" }
	release := w.holdQuota()
	var good, bad sync.WaitGroup
	var errs [2]error
	bad.Go(func() {
		_, errs[0] = w.Submit(context.Background(), w.ns, []pulse.Submission{w.submission(elsewhere, func(s *pulse.Submission) { s.Priority = 200 })})
	})
	bad.Go(func() { // expired, it says, but in a queue that is not the task's: its counters are not locked
		errs[1] = w.Due(context.Background(), w.ns, []pulse.Due{{Kind: pulse.DueExpired, Application: w.key.Application, Queue: foreign, Task: running}})
	})
	_, err := w.db.Exec("UPDATE open_task SET deadline_at = NOW(6) - INTERVAL 1 SECOND WHERE task_id = ?", running[:])
	must(t, err)
	for range 20 {
		good.Go(func() {
			out, err := w.Submit(context.Background(), w.ns, []pulse.Submission{w.submission(elsewhere)})
			if err != nil || out[0].Refusal != nil {
				t.Errorf("a neighbour failed: %v %+v", err, out)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	release()
	good.Wait()
	bad.Wait()
	if errs[0] == nil || errs[1] == nil || len(w.internal) != 2 {
		t.Errorf("the poisoned ones were answered %v and %v; internal errors %d", errs[0], errs[1], len(w.internal))
	}
	w.exact()
}

// holdQuota keeps every lane of the namespace from working until the returned function is called.
func (w *world) holdQuota() (release func()) {
	w.Helper()
	hold, err := w.db.Begin()
	must(w, err)
	_, err = hold.Exec("SELECT 1 FROM quota WHERE namespace_id = ? FOR UPDATE", w.ns)
	must(w, err)
	return func() { must(w, hold.Rollback()) }
}

// Limits are named where they are met, and a known key is answered before any of them.
func TestLimitsAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	first := w.submission()
	w.submit(first)
	set := func(table, what string) {
		_, err := w.db.Exec("UPDATE "+table+" SET "+what+" WHERE namespace_id = ?", w.ns)
		must(t, err)
	}
	for _, c := range []struct{ table, set, back, want string }{
		{"queue", "open_tasks_max = 1", "open_tasks_max = 1000", "queue_full 1 1"},
		{"queue", "draining = 1", "draining = 0", "queue_draining 0 0"},
		{"quota", "open_tasks_max = 1", "open_tasks_max = 1000", "quota_open_tasks 1 1"},
		{"quota", "open_payload_bytes_max = 10", "open_payload_bytes_max = 100000", "quota_open_payload 10 7"},
	} {
		set(c.table, c.set)
		out, err := w.Submit(t.Context(), w.ns, []pulse.Submission{w.submission(), first})
		must(t, err)
		r := out[0].Refusal
		if r == nil || fmt.Sprint(r.Code, " ", r.Limit, " ", r.Current) != c.want || !out[1].Replayed {
			t.Errorf("%s: %+v, want %s; the known key: %+v", c.set, r, c.want, out[1])
		}
		set(c.table, c.back)
	}
	set("queue", "paused = 1")
	w.submit(w.submission())
	if got := w.claimNow(5); len(got) != 0 {
		t.Errorf("a paused queue gave %d tasks", len(got))
	}
	set("queue", "paused = 0, running_attempts_max = 1")
	if got := w.claimNow(5); len(got) != 1 {
		t.Errorf("a queue that may run one gave %d", len(got))
	}
	w.exact()
}

// A revoked key reads no receipt, claims nothing and reports nothing; what it started stays as it is.
func TestAKeyRevokedMidFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	s := w.submission()
	w.submit(s, w.submission())
	got := w.claimNow(1)
	_, err := w.db.Exec("UPDATE credential SET revoked_at = NOW(6) WHERE credential_id = ?", w.key.ID)
	must(t, err)
	subs, err := w.Submit(t.Context(), w.ns, []pulse.Submission{s})
	must(t, err)
	_, claim, err := w.Claim(t.Context(), w.ns, w.claim(1), 10*time.Second)
	must(t, err)
	reports, _, next, err := w.Complete(t.Context(), w.ns, []pulse.Report{w.report(&got[0].Task, pulse.Succeeded)}, new(w.claim(1)))
	must(t, err)
	renewals, err := w.Renew(t.Context(), w.ns, []pulse.Renewal{{Credential: w.key.ID, Application: w.key.Application, Task: got[0].Task.ID, AttemptNo: 1, Token: got[0].Task.Token, Extend: time.Minute}})
	must(t, err)
	cancel, err := w.Cancel(t.Context(), w.ns, pulse.Cancel{Credential: w.key.ID, Application: w.key.Application, Queue: w.queue, Task: got[0].Task.ID})
	must(t, err)
	for what, r := range map[string]*engine.Refusal{"submit": subs[0].Refusal, "claim": claim, "report": reports[0].Refusal, "next": next, "renew": renewals[0].Refusal, "cancel": cancel.Refusal} {
		if r == nil || r.Code != "credential_revoked" {
			t.Errorf("%s is answered %+v", what, r)
		}
	}
	w.exact()
	// another key of the application goes on where it was
	writer, reader := w.connect(w.db.DSN(), 1)
	other, err := auth.NewService(writer, reader, auth.NewVerifier(reader)).Bootstrap(t.Context(), "test", "app", "second", auth.AllScopes)
	must(t, err)
	r := w.report(&got[0].Task, pulse.Succeeded)
	r.Credential = other.ID
	done, _, _, err := w.Complete(t.Context(), w.ns, []pulse.Report{r}, nil)
	if must(t, err); done[0].Status != pulse.ReportAccepted {
		t.Errorf("the second key's report: %+v", done[0])
	}
	w.exact()
}

// Submission meets a queue that fills up from two nodes at once: the limit holds exactly.
func TestALimitHoldsAcrossNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	nodes := []*lane.Set{w.Set, w.node(w.db.DSN(), lane.Options{})}
	_, err := w.db.Exec("UPDATE queue SET open_tasks_max = 100 WHERE namespace_id = ?", w.ns)
	must(t, err)
	var mu sync.Mutex
	counts := map[string]int{}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 15 {
				out, err := nodes[i%2].Submit(context.Background(), w.ns, []pulse.Submission{w.submission()})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				counts[spell(out)]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if counts["accepted"] != 100 || counts["queue_full"] != 140 {
		t.Errorf("answers %v", counts)
	}
	w.exact()
}
