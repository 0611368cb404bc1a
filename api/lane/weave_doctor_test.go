package lane_test

import (
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/doctor"
)

// diagnosis is what the doctor finds in the namespace, each check once.
func (f *flows) diagnosis() string {
	f.Helper()
	found, err := doctor.Check(f.Context(), f.db.DB)
	must(f, err)
	var names []string
	for _, x := range found {
		if x.Namespace == f.ns && (len(names) == 0 || names[len(names)-1] != x.Check) {
			names = append(names, x.Check)
		}
	}
	return strings.Join(names, ", ")
}

// T6: in every state of a waiting step the doctor is content, and it names each breach that is made on purpose.
func TestT6DoctorKnowsClocks(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, strings.Replace(signalNode, `"name":"a"`, `"name":"w"`, 1)))
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, finalSignal), thenTask))
	content := func(when string) {
		t.Helper()
		if found := f.diagnosis(); found != "" {
			t.Errorf("%s: the doctor finds %s", when, found)
		}
	}
	ids := f.start(f.begin("t", "timer"), f.begin("s", "signal"), f.begin("p", "poll"))
	content("begun")
	f.send(f.signal(ids[1], "early", `{"state":"x"}`))
	f.work(pulse.Succeeded, `{"state":"RUNNING"}`)
	content("answered")
	f.advance(ids...)
	content("waiting")
	f.old(ids[2], 11*time.Second)
	f.advance(ids...)
	content("asked again")
	f.old(ids[2], 2*time.Minute)
	f.advance(ids...)
	content("overdue in flight")

	for i, c := range []struct{ breach, heal, finds string }{
		{"DELETE FROM weave_pending_advance WHERE namespace_id = ? AND kind = 2", "", "stuck_instance, deaf_wait"},
		{"UPDATE weave_poll_round SET round_no = 7 WHERE namespace_id = ? AND round_no = 2", "UPDATE weave_poll_round SET round_no = 2 WHERE namespace_id = ? AND round_no = 7", "poll_drift"},
		{"UPDATE weave_poll SET used_rounds = used_rounds + 1 WHERE namespace_id = ?", "UPDATE weave_poll SET used_rounds = used_rounds - 1 WHERE namespace_id = ?", "poll_drift"},
		{"UPDATE instance SET ended_at = NOW(6), state = 4 WHERE namespace_id = ? AND definition = 'signal'", "UPDATE instance SET ended_at = NULL, state = 1 WHERE namespace_id = ? AND definition = 'signal'", "quota_drift, forgotten_signal"},
	} {
		if c.finds == "quota_drift, forgotten_signal" {
			f.set("UPDATE weave_signal SET state = 1 WHERE namespace_id = ?", f.ns)
		}
		before := f.diagnosis()
		f.set(c.breach, f.ns)
		after := f.diagnosis()
		for _, want := range strings.Split(c.finds, ", ") {
			if strings.Contains(before, want) || !strings.Contains(after, want) {
				t.Errorf("breach %d: the doctor finds %q, before %q", i, after, before)
			}
		}
		if c.heal != "" {
			f.set(c.heal, f.ns)
		}
	}
}
