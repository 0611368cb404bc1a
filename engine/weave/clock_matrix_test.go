package weave

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// clockNodes are the rows of the matrix of clocks: what the first of two steps is.
var clockNodes = map[string]string{
	"timer":  `{"name":"x","kind":"TIMER","delay_ms":60000}`,
	"signal": `{"name":"x","SIGNAL...","correlation":"c","deadline_ms":60000,"on_expiry":"REVIEW"}`,
	"poll":   `{"name":"x","POLL...","interval_ms":10000,"max_rounds":9,"deadline_ms":60000,"FINAL..."}`,
}

// clockColumns are what comes for it.
var clockColumns = []struct {
	name string
	come func(s *sim)
}{
	{"time", func(s *sim) { s.graph.Now = s.graph.Now.Add(time.Minute + time.Second) }},
	{"signal", func(s *sim) {
		s.tellFact(happening{signal: `{"state":"DONE"}`}, 1)
	}},
	{"answer", func(s *sim) { s.result("x", pulse.PublicSucceeded, `{"state":"DONE"}`) }},
	{"pending", func(s *sim) { s.result("x", pulse.PublicSucceeded, `{"state":"RUNNING"}`) }},
	{"nothing", func(*sim) {}},
}

func clockCell(t *testing.T, kind string, instance InstanceState, step StepState, column int) string {
	s := newSim(t, clockText([]string{clockNodes[kind], `{"name":"b","TASK...","input":1}`}, "REVIEW", time.Hour))
	s.budget = engine.PlanChangesMax
	s.start(`{"job":"j"}`, s.budget)
	s.graph.Instance.State, s.graph.Steps[1].State = instance, step
	if instance == InstanceCancelling {
		s.graph.Instance.Stop = StopCancel
	}
	if step == StepSucceeded {
		s.graph.Steps[1].Output = []byte(`{"n":1}`)
	}
	if instance.Terminal() {
		s.quota.OpenInstances--
	}
	c := clockColumns[column]
	if c.name == "signal" && kind == "timer" || (c.name == "answer" || c.name == "pending") && kind != "poll" {
		return "-"
	}
	before := s.graph.Instance
	if c.name == "signal" {
		r := s.sendTo("x")
		answer, d := s.ask(r, "workflows:signal", s.budget)
		if answer.Refusal != nil {
			t.Fatal(answer.Refusal)
		}
		checkCell(t, &before, step, d, s.graph)
		return fmt.Sprintf("%s → %s, x %s, b %s", s.kept[0].Class, s.graph.Instance.State, s.graph.Steps[1].State, s.graph.Steps[2].State)
	}
	c.come(s)
	d := s.plan(s.budget)
	checkCell(t, &before, step, &d, s.graph)
	class := "-"
	if len(d.Confirmed) == 1 {
		class = d.Confirmed[0].Classification
	}
	return fmt.Sprintf("%s → %s, x %s, b %s", class, s.graph.Instance.State, s.graph.Steps[1].State, s.graph.Steps[2].State)
}

// sendTo is a signal for a step that waits for s/1 about c.
func (s *sim) sendTo(step string) *SignalRequest {
	return &SignalRequest{
		Credential: 1, Application: simApplication, ID: s.id(), Audit: s.id(), Instance: s.graph.Instance.ID, Key: "k", Step: step,
		ActivationNo: 1, Name: "s", Version: "1", Correlation: "c", Content: []byte(`{"state":"DONE"}`), Reason: "r",
	}
}

// TestClockMatrix demands an answer for every state of an instance × state of a waiting step × what can come.
func TestClockMatrix(t *testing.T) {
	datadriven.RunTest(t, "testdata/clock_matrix.txt", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for _, instance := range slices.Sorted(maps.Keys(instanceNames)) {
			for _, step := range slices.Sorted(maps.Keys(stepNames)) {
				fmt.Fprintf(&b, "%s, x %s\n", instance, step)
				for column := range clockColumns {
					if cell := clockCell(t, d.Cmd, instance, step, column); cell != "-" {
						fmt.Fprintf(&b, "  %-8s %s\n", clockColumns[column].name, cell)
					}
				}
			}
		}
		return b.String()
	})
}

// The command line judges documents without the planner: both must run the same kinds.
func TestDocumentsAreJudgedByWhatRuns(t *testing.T) {
	if got, want := definition.RunnableKinds(), Runnable(); !maps.Equal(got, want) {
		t.Errorf("the checker says %v, the planner runs %v", got, want)
	}
}
