package weave

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// fate is what happens to the task of one step, first by itself and then by a person who looks at it.
type fate struct {
	state  pulse.Public
	output string
	second pulse.Public // zero: nothing
}

var fates = []fate{
	{pulse.PublicSucceeded, `{"n":1.50}`, 0},
	{pulse.PublicSucceeded, `{"n":1.50}`, 0},
	{pulse.PublicSucceeded, `{"n":2,"note":null}`, pulse.PublicFailed}, // a later row for a settled step
	{pulse.PublicSucceeded, `{"n":"x"}`, 0},                            // breaks the contract
	{pulse.PublicFailed, "", 0},
	{pulse.PublicCancelled, "", pulse.PublicSucceeded},
	{pulse.PublicReview, "", pulse.PublicSucceeded},
	{pulse.PublicReview, "", pulse.PublicFailed},
}

type tale struct {
	steps     []string
	onFailure string
	fates     []fate
}

func drawTale(t *rapid.T) tale {
	n := rapid.IntRange(1, 7).Draw(t, "steps")
	w := tale{onFailure: rapid.SampledFrom([]string{"REVIEW", "FAIL_AFTER_SETTLED"}).Draw(t, "strategy")}
	for i := range n {
		w.steps = append(w.steps, fmt.Sprint("s", i))
		w.fates = append(w.fates, rapid.SampledFrom(fates).Draw(t, "fate"))
	}
	return w
}

// deliver lets Pulse report what is due: the fate of every task in flight, and second rows if told to.
func (s *sim) deliver(w *tale, told map[string]int, seconds bool) {
	for i, step := range w.steps {
		a := s.task(step)
		if a.ID.Zero() {
			return
		}
		f := w.fates[i]
		if told[step] == 0 {
			told[step] = 1
			s.result(step, f.state, f.output)
		}
		if told[step] == 1 && f.second != 0 && seconds {
			told[step] = 2
			output := ""
			if f.second == pulse.PublicSucceeded {
				output = `{"n":9}`
			}
			s.result(step, f.second, output)
		}
	}
}

// run plays a tale with a budget. disturb may do anything between two plans that must not change the end.
func (w *tale) run(t testing.TB, budget int, disturb func(s *sim)) string {
	s := newSim(t, chainText(w.steps, w.onFailure, "", ""))
	if out, _ := s.start(`{"n":1}`, budget); out.Refusal != nil {
		t.Fatal(out.Refusal)
	}
	told := map[string]int{}
	for range 40 * len(w.steps) {
		disturb(s)
		s.deliver(w, told, false)
		s.plan(budget)
	}
	s.graph.Instance.Paused, s.graph.Active, s.queue.OpenTasksMax = false, true, 100
	for range 20 * len(w.steps) {
		s.deliver(w, told, true)
		s.plan(budget)
	}
	return s.end()
}

func calm(*sim) {}

// Any order and any batching of the same facts, any pause, any full queue: the same end.
func TestDisturbancesDoNotChangeTheEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawTale(rt)
		want := w.run(t, engine.PlanChangesMax, calm)
		got := w.run(t, rapid.IntRange(1, 64).Draw(rt, "budget"), func(s *sim) {
			s.graph.Instance.Paused = rapid.IntRange(0, 3).Draw(rt, "pause") == 0
			s.graph.Active = rapid.IntRange(0, 5).Draw(rt, "disabled") != 0
			s.queue.OpenTasksMax = int64(rapid.IntRange(0, 2).Draw(rt, "room"))
			s.graph.Now = s.graph.Now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "ms")) * time.Millisecond)
		})
		if got != want {
			rt.Fatalf("%+v ends as\n%s, calmly as\n%s", w, got, want)
		}
	})
}

// Results that were held back and come together, first and second rows in one batch, end as when they came one by one.
func TestBatchesDoNotChangeTheEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawTale(rt)
		want := w.run(t, engine.PlanChangesMax, calm)
		told := map[string]int{}
		s := newSim(t, chainText(w.steps, w.onFailure, "", ""))
		s.start(`{"n":1}`, engine.PlanChangesMax)
		for range 20 * len(w.steps) {
			for range rapid.IntRange(0, 2).Draw(rt, "later") {
				s.plan(rapid.IntRange(1, 40).Draw(rt, "budget"))
			}
			s.deliver(&w, told, rapid.Bool().Draw(rt, "second"))
		}
		for range 20 * len(w.steps) {
			s.deliver(&w, told, true)
			s.plan(engine.PlanChangesMax)
		}
		if got := s.end(); got != want {
			rt.Fatalf("%+v ends as\n%s, one by one as\n%s", w, got, want)
		}
	})
}

// Every budget from 1 to 64 reaches the same end, in as many plans as it takes.
func TestBudgetsEndAlike(t *testing.T) {
	for _, onFailure := range []string{"REVIEW", "FAIL_AFTER_SETTLED"} {
		for at := range 5 {
			for _, f := range fates {
				w := tale{steps: []string{"a", "b", "c", "d", "e"}, onFailure: onFailure, fates: []fate{fates[0], fates[0], fates[0], fates[0], fates[0]}}
				w.fates[at] = f
				want := w.run(t, 1, calm)
				for budget := 2; budget <= 64; budget *= 2 {
					if got := w.run(t, budget, calm); got != want {
						t.Fatalf("budget %d ends as\n%s, 1 as\n%s", budget, got, want)
					}
				}
			}
		}
	}
}
