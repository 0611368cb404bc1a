package weave

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
)

// happening is a fact at a time: the end of the query in flight, or a signal.
type happening struct {
	at     time.Duration
	signal string // content; empty: a result
	state  pulse.Public
	output string
}

// saga is one instance of a timer, a signal and a poll, and the facts about it. Times are whole, so that none meets a
// deadline exactly and then depends on who looks first.
type saga struct {
	body  []string
	facts []happening
}

var sagaBody = []string{
	`{"name":"t","kind":"TIMER","delay_ms":10000}`,
	`{"name":"w","SIGNAL...","correlation":"c","deadline_ms":30500,"on_expiry":{"output":{"state":"NOBODY"}}}`,
	`{"name":"q","POLL...","interval_ms":5000,"max_rounds":3,"deadline_ms":40500,"FINAL..."}`,
	`{"name":"a","TASK...","input":"${steps.q.output.n}"}`,
}

func drawSaga(t *rapid.T) saga {
	g := saga{body: sagaBody}
	for range rapid.IntRange(0, 6).Draw(t, "facts") {
		f := happening{at: time.Duration(rapid.IntRange(1, 100).Draw(t, "second"))*time.Second + 250*time.Millisecond}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			f.signal = rapid.SampledFrom([]string{`{"state":"DONE"}`, `{"state":"FAILED"}`, `{"state":"OTHER"}`}).Draw(t, "content")
		case 1:
			f.state, f.output = pulse.PublicSucceeded, `{"state":"RUNNING"}`
		case 2:
			f.state, f.output = pulse.PublicSucceeded, rapid.SampledFrom([]string{`{"state":"DONE","n":2}`, `{"state":"FAILED"}`, `{"n":1}`}).Draw(t, "answer")
		case 3:
			f.state = rapid.SampledFrom([]pulse.Public{pulse.PublicFailed, pulse.PublicReview, pulse.PublicCancelled}).Draw(t, "state")
		}
		g.facts = append(g.facts, f)
	}
	return g
}

// tell lets a fact come true. A result ends the query that is in flight; without one nothing happens.
func (s *sim) tellFact(f happening, n int) {
	if f.signal != "" {
		value, _ := exact.Parse([]byte(f.signal), exact.PayloadLimits)
		step := "w"
		if s.graph.Steps[2].State.Settled() {
			step = "q"
		}
		r := &SignalRequest{
			Credential: 1, Application: simApplication, ID: s.id(), Audit: s.id(), Instance: s.graph.Instance.ID, Key: fmt.Sprint(n), Step: step,
			ActivationNo: 1, Name: "s", Version: "1", Correlation: "c", Content: []byte(f.signal), ContentDigest: value.Digest(), Reason: "r",
		}
		s.graph.SignalCount = len(s.kept)
		if answer, _ := s.ask(r, "workflows:signal", s.budget); answer.Refusal != nil {
			s.Fatal(answer.Refusal)
		}
		return
	}
	for _, q := range s.graph.Polls {
		if q.State == PollAsking {
			if _, open := s.open[q.Current]; open {
				s.result("q", f.state, f.output)
			}
		}
	}
}

// run plays a saga second by second. look says whether anybody plans at that moment; facts and times are the same.
func (g *saga) run(t testing.TB, budget int, look func(second int) bool) string {
	s := newSim(t, clockText(g.body, "REVIEW", time.Hour))
	s.budget = budget
	if out, _ := s.start(`{"job":"j"}`, budget); out.Refusal != nil {
		t.Fatal(out.Refusal)
	}
	for second := 1; second <= 130; second++ {
		s.graph.Now = epoch.Add(time.Duration(second) * time.Second)
		if look(second) {
			s.settle(budget)
		}
		for n, f := range g.facts {
			if f.at.Truncate(time.Second) == time.Duration(second)*time.Second {
				s.graph.Now = epoch.Add(f.at)
				s.settle(budget) // what came true before is looked at by whoever brings the next fact
				s.tellFact(f, n)
				s.settle(budget)
			}
		}
	}
	s.settle(budget)
	return s.endOfClocks()
}

// settle plans until nothing is left to do now.
func (s *sim) settle(budget int) {
	for range 200 {
		if d := s.plan(budget); !d.More {
			return
		}
	}
	s.Fatal("it never settles")
}

// endOfClocks is the end without ids, versions and the times at which somebody looked.
func (s *sim) endOfClocks() string {
	var lines []string
	for _, line := range strings.Split(s.show(), "\n") {
		if !strings.Contains(line, "checkpoint") {
			lines = append(lines, line)
		}
	}
	for _, w := range s.graph.Waits {
		lines = append(lines, fmt.Sprintf("wait %s %s %s", w.Kind, w.State, w.DeadlineAt.Sub(epoch)))
	}
	for _, r := range s.graph.Rounds {
		lines = append(lines, fmt.Sprintf("round %d %s", r.No, r.State))
	}
	lines = append(lines, fmt.Sprintf("tasks %d, instances %d", s.quota.OpenTasks, s.quota.OpenInstances))
	return strings.Join(lines, "\n")
}

// Whoever looks, how often, and with what budget: the same facts at the same times end alike.
func TestClocksDoNotDependOnTheBudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawSaga(rt)
		always := func(int) bool { return true }
		want := g.run(t, engine.PlanChangesMax, always)
		budget := rapid.IntRange(1, 64).Draw(rt, "budget")
		if got := g.run(t, budget, always); got != want {
			rt.Fatalf("budget %d ends as\n%s, %d as\n%s", budget, got, engine.PlanChangesMax, want)
		}
	})
}

// Every end obeys what clocks promise, however seldom anybody looked: signals have an end, open tasks are counted, no
// round stands beside another in flight, a settled instance keeps no clock.
func TestClocksEndWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawSaga(rt)
		seldom := rapid.IntRange(1, 40).Draw(rt, "seldom")
		s := newSim(t, clockText(g.body, "REVIEW", time.Hour))
		s.budget = rapid.IntRange(1, 64).Draw(rt, "budget")
		s.start(`{"job":"j"}`, s.budget)
		for second := 1; second <= 200; second++ {
			s.graph.Now = epoch.Add(time.Duration(second) * time.Second)
			for n, f := range g.facts {
				if f.at.Truncate(time.Second) == time.Duration(second)*time.Second {
					s.tellFact(f, n)
				}
			}
			if second%seldom == 0 {
				s.settle(s.budget)
			}
			s.checkClocks(rt)
		}
	})
}

func (s *sim) checkClocks(t *rapid.T) {
	asking, g := 0, s.graph
	for _, r := range g.Rounds {
		if r.State == RoundAsking {
			asking++
		}
	}
	if asking > 1 {
		t.Fatalf("%d rounds in flight", asking)
	}
	applied := map[uint16]int{}
	for _, x := range s.kept {
		if x.State == SignalApplied {
			applied[x.Step]++
		}
	}
	for step, n := range applied {
		if n > 1 {
			t.Fatalf("%d signals were applied to step %d", n, step)
		}
	}
	for _, w := range g.Waits {
		if w.Kind == CheckpointTimer && w.State == WaitSatisfied && g.Now.Before(w.DeadlineAt) {
			t.Fatalf("a timer of %s rang at %s", w.DeadlineAt.Sub(epoch), g.Now.Sub(epoch))
		}
	}
	for i := 1; i < len(g.Steps); i++ {
		waits := g.Steps[i].State == StepActive && clockKinds[KindOf(g.Steps[i].Kind)] != 0
		overdue := false
		for _, q := range g.Polls {
			overdue = overdue || q.Activation == g.Steps[i].Activation && q.Overdue
		}
		if clock := g.checkpoint(uint16(i)) != nil; clock != (waits && !overdue) {
			t.Fatalf("step %s is %s and has a clock: %t", g.Steps[i].Name, g.Steps[i].State, clock)
		}
	}
}
