package weave

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// matrixResults are the columns: what comes for the first of two steps.
var matrixResults = []struct {
	name   string
	state  pulse.Public
	output string
	sealed bool
}{
	{"success", pulse.PublicSucceeded, `{"n":2}`, true},
	{"broken output", pulse.PublicSucceeded, `{"n":"x"}`, true},
	{"failure", pulse.PublicFailed, "", true},
	{"cancelled", pulse.PublicCancelled, "", true},
	{"unknown", pulse.PublicReview, "", true},
	{"altered", pulse.PublicSucceeded, `{"n":2}`, false},
	{"nothing", 0, "", true},
}

// cell puts an instance and its first step into states, lets something come, and plans.
func cell(t *testing.T, strategy string, instance InstanceState, step StepState, column int) string {
	s := newSim(t, chainText([]string{"a", "b"}, strategy, "", ""))
	s.start(`{"n":1}`, engine.PlanChangesMax)
	s.graph.Instance.State, s.graph.Steps[1].State = instance, step
	if instance == InstanceCancelling {
		s.graph.Instance.Stop = StopCancel
	}
	if step == StepSucceeded {
		s.graph.Steps[1].Output = []byte(`{"n":5}`)
	}
	if instance.Terminal() {
		s.quota.OpenInstances--
	}
	if c := matrixResults[column]; c.state != 0 {
		r := s.result("a", c.state, c.output)
		r.Sealed = c.sealed
	}
	before := s.graph.Instance
	d := s.plan(engine.PlanChangesMax)
	after, class := s.graph, "-"
	if len(d.Confirmed) == 1 {
		class = d.Confirmed[0].Classification
	}
	checkCell(t, &before, step, &d, after)
	return fmt.Sprintf("%s → %s, a %s, b %s", class, after.Instance.State, after.Steps[1].State, after.Steps[2].State)
}

// checkCell holds what no cell may break.
func checkCell(t *testing.T, before *Instance, step StepState, d *Decision, after *Graph) {
	now := after.Steps[1].State
	switch {
	case before.State.Terminal() && (after.Instance.State != before.State || len(d.Steps)+len(d.Tasks) > 0):
		t.Errorf("%s with a %s: it moved", before.State, step)
	case step.Settled() && now != step:
		t.Errorf("a settled step went from %s to %s", step, now)
	case before.State != InstanceRunning && len(d.Tasks) > 0:
		t.Errorf("work was started in %s", before.State)
	case after.Instance.State == InstanceReview && before.State == InstanceRunning && after.GateOpen:
		t.Error("in review with an open gate")
	case before.State == InstanceCancelling && after.Instance.State == InstanceReview:
		t.Error("a review withdrew a stop")
	case after.Instance.State.Terminal() && !before.State.Terminal() && (now == StepActive || now == StepReview):
		t.Errorf("ended with a step in %s", now)
	}
}

// TestMatrix demands an answer for every state of an instance × state of the step × what can come.
func TestMatrix(t *testing.T) {
	datadriven.RunTest(t, "testdata/matrix.txt", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for _, instance := range slices.Sorted(maps.Keys(instanceNames)) {
			for _, step := range slices.Sorted(maps.Keys(stepNames)) {
				fmt.Fprintf(&b, "%s, a %s\n", instance, step)
				for column := range matrixResults {
					fmt.Fprintf(&b, "  %-14s %s\n", matrixResults[column].name, cell(t, d.Cmd, instance, step, column))
				}
			}
		}
		return b.String()
	})
}
