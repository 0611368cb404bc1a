package lane_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"

	"github.com/orbitrun/orbit/api/lane"
)

// act is one thing that happens to an instance in a race.
type act struct {
	name string
	do   func()
}

// permutations lists every order of n things.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for at := 0; at <= len(p); at++ {
			q := append(append(append([]int{}, p[:at]...), n-1), p[at:]...)
			out = append(out, q)
		}
	}
	return out
}

// outcome is what may differ between orders, without revisions and ids.
func (f *flows) outcome(id engine.ID) string {
	i := f.instance(id)
	return fmt.Sprintf("%s %s | %s | %s | %s", weave.InstanceState(i.State), i.Reason, f.steps(id), f.waits(id), f.polled(id))
}

// C46: signal × second signal × expiry × pause × advance against one SIGNAL step, in every order. One of them ends the
// wait; the others are kept and say why; nothing that was acknowledged is lost, and what ended stays ended.
func TestC46SignalInterleavings(t *testing.T) {
	f := newFlows(t, false)
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	seen := map[string]int{}
	for n, order := range permutations(5) {
		id := f.running(fmt.Sprint("k", n), "signal")
		acts := []act{
			{"signal", func() { f.send(f.signal(id, fmt.Sprint("a", n), `{"state":"A"}`)) }},
			{"second", func() { f.send(f.signal(id, fmt.Sprint("b", n), `{"state":"B"}`)) }},
			{"expiry", func() { f.sooner(id, 61*time.Second) }},
			{"pause", func() { f.set("UPDATE instance SET paused = 1 WHERE instance_id = ?", id[:]) }},
			{"advance", func() { f.advance(id) }},
		}
		story := []string{}
		for _, at := range order {
			acts[at].do()
			story = append(story, acts[at].name)
		}
		f.advance(id)
		f.set("UPDATE instance SET paused = 0 WHERE instance_id = ?", id[:])
		f.advance(id)
		before := position(story, "expiry") > min(position(story, "signal"), position(story, "second"))
		got, signals := f.outcome(id), f.signals(id)
		seen[got]++
		want, kept := "NEEDS_REVIEW signal_expired | a NEEDS_REVIEW signal_expired, b WAITING | SIGNAL EXPIRED | ", []string{"EXPIRED/AFTER_DEADLINE", "EXPIRED/AFTER_DEADLINE"}
		if before {
			want, kept = "RUNNING  | a SUCCEEDED, b ACTIVE | SIGNAL SATISFIED | ", []string{"APPLIED/APPLIED", "REJECTED/DUPLICATE"}
		}
		if got != want || signals != strings.Join(kept, ", ") {
			t.Errorf("%v ends as\n%s with %s", story, got, signals)
		}
	}
	f.exact()
	if found := f.diagnosis(); found != "" {
		t.Errorf("the doctor finds %s", found)
	}
	t.Logf("120 orders, %d ends: %v", len(seen), seen)
}

func position(story []string, name string) int {
	for i, s := range story {
		if s == name {
			return i
		}
	}
	return -1
}

// C46: final signal × result × deadline × pause × advance against one POLL step, in every order and for every result.
// What came true first in time wins; an unknown or contradicting outcome is a person's; the permit is always given back.
func TestC46PollInterleavings(t *testing.T) {
	for _, result := range []struct {
		name    string
		outcome pulse.Outcome
		output  string
	}{{"RUNNING", pulse.Succeeded, `{"state":"RUNNING"}`}, {"DONE", pulse.Succeeded, `{"state":"DONE"}`}, {"UNKNOWN", pulse.Unknown, ""}} {
		t.Run(result.name, func(t *testing.T) {
			f := newFlows(t, false)
			f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, finalSignal), thenTask))
			ends := map[string]int{}
			for n, order := range permutations(5) {
				id := f.running(fmt.Sprint("k", n), "poll")
				got := f.claimNow(1)
				acts := []act{
					{"signal", func() { f.send(f.signal(id, fmt.Sprint("a", n), `{"state":"DONE"}`)) }},
					{"result", func() {
						r := f.report(&got[0].Task, result.outcome)
						r.Output, r.FailureCode = []byte(result.output), "broken"
						if result.outcome == pulse.Succeeded {
							r.FailureCode = ""
						} else {
							r.Output = nil
						}
						_, _, _, err := f.Complete(t.Context(), f.ns, []pulse.Report{r}, nil)
						must(t, err)
					}},
					{"deadline", func() { f.older(id, 61*time.Second) }},
					{"pause", func() { f.set("UPDATE instance SET paused = 1 WHERE instance_id = ?", id[:]) }},
					{"advance", func() { f.advance(id) }},
				}
				var story []string
				for _, at := range order {
					acts[at].do()
					story = append(story, acts[at].name)
				}
				f.advance(id)
				f.set("UPDATE instance SET paused = 0 WHERE instance_id = ?", id[:])
				f.advance(id)
				f.advance(id)
				end := f.outcome(id)
				ends[end]++
				if problem := f.wrongEnd(id, story, result.name); problem != "" {
					t.Errorf("%v: %s\n%s with %s", story, problem, end, f.signals(id))
				}
				f.work(pulse.Succeeded, `{"state":"DONE"}`)
			}
			f.exact()
			if found := f.diagnosis(); found != "" {
				t.Errorf("the doctor finds %s", found)
			}
			t.Logf("120 orders, %d ends", len(ends))
		})
	}
}

// older also moves the results that have come true.
func (f *flows) older(id engine.ID, d time.Duration) {
	f.Helper()
	f.old(id, d)
	f.set("UPDATE weave_inbox SET occurred_at = occurred_at - INTERVAL ? MICROSECOND WHERE namespace_id = ? AND instance_id = ?", d.Microseconds(), f.ns, id[:])
}

// wrongEnd says what is wrong with the end of a POLL after a story: signal, result and deadline in the order in which
// they came true.
func (f *flows) wrongEnd(id engine.ID, story []string, result string) string {
	signal, answer, deadline := position(story, "signal"), position(story, "result"), position(story, "deadline")
	step, class := strings.Split(f.steps(id), ",")[0], f.signals(id)
	want := map[bool]string{true: "APPLIED/APPLIED", false: "EXPIRED/AFTER_DEADLINE"}[signal < deadline]
	expect := ""
	switch {
	case result == "UNKNOWN" && (answer < signal || answer < deadline || signal < deadline):
		expect = "a NEEDS_REVIEW task_unknown"
		if answer < signal {
			want = ""
		}
	case result == "UNKNOWN":
		expect = "a NEEDS_REVIEW task_unknown"
		want = ""
	case result == "DONE" && answer < signal && answer < deadline:
		expect, want = "a SUCCEEDED", ""
	case signal < deadline:
		expect = "a SUCCEEDED"
	default:
		expect = "a NEEDS_REVIEW poll_deadline"
		want = ""
	}
	if step != expect {
		return "the step is not " + expect
	}
	if want != "" && class != want {
		return "the signal is not " + want
	}
	if strings.Contains(class, "PENDING") {
		return "the signal has no end"
	}
	return ""
}

// C46: many callers at once, through two nodes, with results, signals, expiries, pauses and advances in any order. Every
// instance ends once, every signal ends, every counter is exact.
func TestC46TogetherOnTwoNodes(t *testing.T) {
	f := newFlows(t, true)
	f.publish(nodes("signal", "REVIEW", time.Hour, signalNode, thenTask))
	f.publish(nodes("poll", "REVIEW", time.Hour, pollNode(9, finalSignal), thenTask))
	f.publish(nodes("timer", "REVIEW", time.Hour, timerNode("a", time.Minute), thenTask))
	other := lane.NewWorkflows(f.writer, "node-2", nil)
	const n = 30
	var ids []engine.ID
	for i := range n {
		ids = append(ids, f.running(fmt.Sprint("k", i), []string{"signal", "poll", "timer"}[i%3]))
	}
	var wg sync.WaitGroup
	for i, id := range ids {
		if i%3 != 2 {
			for j := range 3 {
				wg.Go(func() {
					pause(5)
					out, err := f.Ask(t.Context(), f.ns, f.signal(id, fmt.Sprint(i, "-", j), fmt.Sprintf(`{"state":"DONE","n":%d}`, j)))
					if err != nil || out[0].Refusal != nil {
						t.Error(err, out)
					}
				})
			}
		}
		wg.Go(func() {
			pause(5)
			f.old(id, 61*time.Second)
			for range 3 {
				if _, err := other.Run(t.Context(), f.ns, nil, []engine.ID{id}); err != nil {
					t.Error(err)
				}
				f.Advance(f.ns, []engine.ID{id})
				pause(3)
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			f.work(pulse.Succeeded, `{"state":"DONE"}`)
			pause(2)
		}
	})
	wg.Wait()
	within(t, func() bool {
		f.work(pulse.Succeeded, `{"state":"DONE"}`)
		f.Advance(f.ns, ids)
		return f.scalar("SELECT COUNT(*) FROM instance WHERE namespace_id = ? AND state = 1", f.ns) == 0
	})
	if n := f.scalar("SELECT COUNT(*) FROM weave_signal WHERE namespace_id = ? AND state = 1", f.ns); n != 0 {
		t.Errorf("%d signals have no end", n)
	}
	if n := f.scalar("SELECT COUNT(*) FROM weave_signal WHERE namespace_id = ?", f.ns); n != 60 {
		t.Errorf("%d signals were kept, 60 acknowledged", n)
	}
	if n := f.scalar("SELECT COUNT(*) FROM (SELECT instance_id FROM weave_signal WHERE namespace_id = ? AND state = 2 GROUP BY instance_id HAVING COUNT(*) > 1) x", f.ns); n != 0 {
		t.Errorf("%d waits were ended twice", n)
	}
	for _, id := range ids {
		i := f.instance(id)
		f.stands(id, weave.InstanceState(i.State), string(i.Reason), f.steps(id))
	}
	f.exact()
	if found := f.diagnosis(); found != "" {
		t.Errorf("the doctor finds %s", found)
	}
}

func pause(ms int) { time.Sleep(time.Duration(rand.IntN(ms*1000)) * time.Microsecond) }
