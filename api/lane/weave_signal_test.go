package lane_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
)

const signalNode = `{"name":"a","kind":"SIGNAL","signal":"s","signal_version":"1","content_contract":"state","correlation":"c","deadline_ms":60000,"on_expiry":"REVIEW"}`

func (f *flows) signal(id engine.ID, key, content string, change ...func(*weave.SignalRequest)) *weave.SignalRequest {
	f.Helper()
	v, bad := exact.Parse([]byte(content), exact.PayloadLimits)
	if bad != nil {
		f.Fatal(bad)
	}
	r := &weave.SignalRequest{
		Credential: f.key.ID, Application: f.key.Application, ID: store.NewID(), Audit: store.NewID(), Instance: id, Key: key, Step: "a",
		ActivationNo: 1, Name: "s", Version: "1", Correlation: "c", Content: []byte(content), ContentDigest: v.Digest(), Reason: "test",
	}
	for _, c := range change {
		c(r)
	}
	return r
}

// ask sends requests in one transaction.
func (f *flows) ask(requests ...weave.Request) []weave.Answer {
	f.Helper()
	out, err := f.weaver.Run(f.Context(), f.ns, nil, nil, requests...)
	must(f, err)
	return out.Answers
}

// send insists on a signal.
func (f *flows) send(r *weave.SignalRequest) weave.Answer {
	f.Helper()
	out := f.ask(r)[0]
	if out.Refusal != nil {
		f.Fatal(out.Refusal)
	}
	return out
}

// signals prints what became of the signals of an instance, in order of their contents.
func (f *flows) signals(id engine.ID) string {
	f.Helper()
	rows, err := db.New(f.db).ListSignals(f.Context(), db.ListSignalsParams{NamespaceID: f.ns, InstanceID: id[:], SignalID: []byte{}, Limit: 2000})
	must(f, err)
	var out []string
	for _, r := range rows {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s/%s", weave.SignalState(r.State), r.Classification), "/"))
	}
	return strings.Join(out, ", ")
}

// T14: a signal is stored before it is acknowledged, one of several ends the wait, the others are kept and classified.
func TestT14SignalEndsTheWait(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	id := f.start(f.begin("k", "signal"))[0]
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	f.exact()
	other := func(r *weave.SignalRequest) { r.Correlation = "C" }
	f.send(f.signal(id, "1", `{"state":"x"}`, other))
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	answer := f.send(f.signal(id, "2", `{"state": "YES", "n": 1.50}`))
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.send(f.signal(id, "3", `{"state":"NO"}`))
	if got := f.signals(id); got != "REJECTED/CORRELATION_MISMATCH, APPLIED/APPLIED, REJECTED/DUPLICATE" {
		t.Errorf("signals %s", got)
	}
	again := f.send(f.signal(id, "2", `{"n": 1.50, "state": "YES"}`))
	if !again.Replayed || string(again.Receipt) != string(answer.Receipt) {
		t.Errorf("answered %s, first %s", again.Receipt, answer.Receipt)
	}
	var output string
	must(t, f.db.QueryRow("SELECT output FROM step WHERE namespace_id = ? AND instance_id = ? AND step_no = 1", f.ns, id[:]).Scan(&output))
	if output != `{"state": "YES", "n": 1.50}` {
		t.Errorf("output %s", output)
	}
	f.work(pulse.Succeeded, `1`)
	f.advance(id)
	f.stands(id, weave.InstanceSucceeded, "", "a SUCCEEDED, b SUCCEEDED")
	f.send(f.signal(id, "4", `{"state":"after the end"}`))
	if got := f.signals(id); !strings.HasSuffix(got, "REJECTED/INSTANCE_ENDED") {
		t.Errorf("signals %s", got)
	}
	f.exact()
}

// T14: signals sent before the step waits are kept, verified against the audit, and applied in order of acceptance.
func TestT14EarlySignal(t *testing.T) {
	f := newFlows(t, false)
	late := strings.Replace(signalNode, `"name":"a"`, `"name":"w"`, 1)
	f.publish(nodes("signal", "REVIEW", time.Hour, `{"name":"t","TASK...","input":1}`, late, thenTask))
	to := func(r *weave.SignalRequest) { r.Step = "w" }
	ids := f.start(f.begin("k", "signal"), f.begin("l", "signal"), f.begin("m", "signal"), f.begin("n", "signal"))
	for _, id := range ids {
		f.send(f.signal(id, "1"+id.Text("x"), `{"state":"FIRST"}`, to))
		f.send(f.signal(id, "2"+id.Text("x"), `{"state":"SECOND"}`, to))
		if got := f.signals(id); got != "PENDING, PENDING" {
			t.Errorf("signals %s", got)
		}
	}
	f.set(`UPDATE weave_signal SET content = '{"state":"FORGED"}' WHERE instance_id = ? ORDER BY signal_id LIMIT 1`, ids[1][:])
	f.set(`UPDATE weave_signal SET accepted_at = accepted_at - INTERVAL 1 SECOND WHERE instance_id = ? ORDER BY signal_id DESC LIMIT 1`, ids[2][:])
	f.set(`UPDATE audit SET detail = REPLACE(detail, 'accepted_at', 'accepted_up') WHERE subject = ?`, ids[3].Text("inst"))
	f.work(pulse.Succeeded, `1`)
	f.advance(ids...)
	f.stands(ids[0], weave.InstanceRunning, "", "t SUCCEEDED, w SUCCEEDED, b ACTIVE")
	if got := f.signals(ids[0]); got != "APPLIED/APPLIED, REJECTED/DUPLICATE" {
		t.Errorf("signals %s", got)
	}
	for i, want := range []string{"REJECTED/ALTERED, APPLIED/APPLIED", "APPLIED/APPLIED, REJECTED/ALTERED", "REJECTED/ALTERED, REJECTED/ALTERED"} {
		if got := f.signals(ids[i+1]); got != want {
			t.Errorf("altered signals %s, not %s", got, want)
		}
		if row := f.instance(ids[i+1]); string(row.Reason) != "signal_contradiction" {
			t.Errorf("altered: the instance is in %d %q", row.State, row.Reason)
		}
	}
	f.exact()
}

// Nobody answers: a review, or what the definition says for the wait's own deadline; a signal after it is kept as late.
func TestT14Expiry(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("review", "REVIEW", time.Hour, signalNode, thenTask))
	f.publish(nodes("output", "REVIEW", time.Hour, strings.Replace(signalNode, `"REVIEW"`, `{"output":{"state":"NOBODY"}}`, 1), thenTask))
	ids := f.start(f.begin("k", "review"), f.begin("l", "output"), f.begin("m", "review"))
	for _, id := range ids {
		f.sooner(id, 2*time.Minute)
	}
	f.advance(ids[:2]...)
	f.stands(ids[0], weave.InstanceReview, "signal_expired", "a NEEDS_REVIEW signal_expired, b WAITING")
	f.stands(ids[1], weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	for i, id := range ids {
		f.send(f.signal(id, fmt.Sprint(i), `{"state":"late"}`))
		if got := f.signals(id); got != "EXPIRED/AFTER_DEADLINE" {
			t.Errorf("signals of %d: %s", i, got)
		}
	}
	f.stands(ids[2], weave.InstanceReview, "signal_expired", "a NEEDS_REVIEW signal_expired, b WAITING")
	if f.clocks() != "" {
		t.Errorf("clocks %s", f.clocks())
	}
	f.exact()
}

// What cannot be meant is refused at the door and leaves no trace; permission is judged again on a replay.
func TestSignalRefusals(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	id := f.start(f.begin("k", "signal"))[0]
	set := func(change func(*weave.SignalRequest)) *weave.SignalRequest {
		return f.signal(id, store.NewID().Text("k"), `{"state":"x"}`, change)
	}
	for code, r := range map[string]*weave.SignalRequest{
		"step_takes_no_signal":     set(func(r *weave.SignalRequest) { r.Step = "b" }),
		"signal_contract_mismatch": set(func(r *weave.SignalRequest) { r.Version = "2" }),
		"activation_unknown":       set(func(r *weave.SignalRequest) { r.ActivationNo = 2 }),
		"content_contract_broken":  set(func(r *weave.SignalRequest) { r.Content = []byte(`{}`) }),
		"instance_not_found":       set(func(r *weave.SignalRequest) { r.Instance = store.NewID() }),
		"credential_invalid":       set(func(r *weave.SignalRequest) { r.Credential++ }),
	} {
		if out := f.ask(r)[0]; out.Refusal == nil || out.Refusal.Code != code {
			t.Errorf("answered %+v, not %s", out, code)
		}
	}
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING")
	if f.instance(id).Revision != 2 || f.signals(id) != "" {
		t.Errorf("revision %d, signals %s", f.instance(id).Revision, f.signals(id))
	}
	f.send(f.signal(id, "k", `{"state":"x"}`))
	f.set("UPDATE credential SET scopes = 'workflows:start workflows:control' WHERE namespace_id = ?", f.ns)
	if out := f.ask(f.signal(id, "k", `{"state":"x"}`))[0]; out.Refusal == nil || out.Refusal.Code != "scope_missing" {
		t.Errorf("a key without the scope was answered %+v", out)
	}
	f.exact()
}

// The whole history of an instance is bounded, and what waits unread is bounded too; a known key is answered all the same.
func TestSignalBounds(t *testing.T) {
	f := newFlows(t, false)
	late := strings.Replace(signalNode, `"name":"a"`, `"name":"w"`, 1)
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, `{"name":"t","TASK...","input":1}`, late))
	id := f.start(f.begin("k", "signal"))[0]
	to := func(r *weave.SignalRequest) { r.Step = "w" }
	for n := range engine.SignalsWaitingMax {
		f.send(f.signal(id, fmt.Sprint("early", n), `{"state":"x"}`, to))
	}
	if out := f.ask(f.signal(id, "one more", `{"state":"x"}`, to))[0]; out.Refusal == nil || out.Refusal.Code != "signals_waiting_full" {
		t.Errorf("answered %+v", out)
	}
	f.set("DELETE FROM weave_signal WHERE namespace_id = ?", f.ns)
	big := fmt.Sprintf(`{"state":%q}`, strings.Repeat("x", 250<<10))
	for n := range 4 {
		f.send(f.signal(id, fmt.Sprint("big", n), big, to))
	}
	if out := f.ask(f.signal(id, "big too", big, to))[0]; out.Refusal == nil || out.Refusal.Code != "signals_waiting_full" {
		t.Errorf("answered %+v", out)
	}
	f.set("DELETE FROM weave_signal WHERE namespace_id = ?", f.ns)
	var all []weave.Request
	for n := range engine.SignalsPerInstanceMax {
		all = append(all, f.signal(id, fmt.Sprint(n), `{"state":"x"}`, func(r *weave.SignalRequest) { r.Correlation = "other" }))
	}
	for len(all) > 0 {
		f.ask(all[:32]...)
		all = all[32:]
	}
	if out := f.ask(f.signal(id, "last", `{"state":"x"}`))[0]; out.Refusal == nil || out.Refusal.Code != "signals_exhausted" || out.Refusal.Limit != 1024 {
		t.Errorf("answered %+v", out)
	}
	if out := f.ask(f.signal(id, "5", `{"state":"x"}`, func(r *weave.SignalRequest) { r.Correlation = "other" }))[0]; !out.Replayed {
		t.Errorf("answered %+v", out)
	}
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, t WAITING, w WAITING")
	f.exact()
}

// T14: 64 callers send one key at once through two nodes: it is applied once, and 64 answers are equal.
func TestT14OneKeyManySignals(t *testing.T) {
	f := newFlows(t, true)
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	id := f.start(f.begin("k", "signal"))[0]
	other := lane.NewWorkflows(f.writer, "node-2", nil)
	receipts := make([]string, 64)
	var wg sync.WaitGroup
	for i := range receipts {
		wg.Go(func() {
			r := f.signal(id, "same", `{"state":"YES"}`)
			var out []weave.Answer
			var err error
			if i%4 == 0 {
				var result lane.WeaveResult
				result, err = other.Run(t.Context(), f.ns, nil, nil, r)
				out = result.Answers
			} else {
				out, err = f.Ask(t.Context(), f.ns, r)
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
	if got := f.signals(id); got != "APPLIED/APPLIED" {
		t.Errorf("signals %s", got)
	}
	f.stands(id, weave.InstanceRunning, "", "a SUCCEEDED, b ACTIVE")
	f.exact()
}

// The history says who sent the signal that moved the instance; what nobody asked for is the node's.
func TestSignalNamesItsSender(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	id := f.start(f.begin("k", "signal"))[0]
	f.send(f.signal(id, "1", `{"state":"x"}`))
	f.work(pulse.Succeeded, `1`)
	f.advance(id)
	rows, err := db.New(f.db).ListInstanceHistory(t.Context(), db.ListInstanceHistoryParams{NamespaceID: f.ns, InstanceID: id[:], Limit: 10})
	must(t, err)
	sender := fmt.Sprintf("cred_%016x", f.key.ID)
	if got := []string{string(rows[2].Actor), string(rows[3].Actor)}; got[0] != sender || got[1] != "system:weave:node-1" {
		t.Errorf("actors %v, the sender is %s", got, sender)
	}
}

// A signal that nobody awaited is found by the scan when it expires, and ends visibly.
func TestT14NeverAwaited(t *testing.T) {
	f := newFlows(t, false)
	late := strings.Replace(signalNode, `"name":"a"`, `"name":"w"`, 1)
	f.publish(nodes("signal", "REVIEW", time.Hour, `{"name":"t","TASK...","input":1}`, late))
	id := f.start(f.begin("k", "signal"))[0]
	f.send(f.signal(id, "1", `{"state":"x"}`, func(r *weave.SignalRequest) { r.Step = "w" }))
	due := func() int {
		rows, err := db.New(f.db).ListDueSignals(t.Context(), db.ListDueSignalsParams{NamespaceID: f.ns, PendingAt: ptr(time.Now()), Limit: 10})
		must(t, err)
		return len(rows)
	}
	if due() != 0 || f.signals(id) != "PENDING" {
		t.Errorf("due %d, signals %s", due(), f.signals(id))
	}
	f.sooner(id, 2*time.Hour)
	f.set("UPDATE weave_signal SET expires_at = expires_at - INTERVAL 2 HOUR, available_at = available_at - INTERVAL 2 HOUR WHERE instance_id = ?", id[:])
	if due() != 1 {
		t.Errorf("%d signals are due", due())
	}
	f.advance(id)
	if due() != 0 || f.signals(id) != "EXPIRED/NOT_AWAITED" {
		t.Errorf("due %d, signals %s", due(), f.signals(id))
	}
	f.exact()
}
