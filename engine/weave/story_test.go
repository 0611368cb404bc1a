package weave

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// TestStories runs testdata/plan. One file is one instance after the other:
//
//	start steps=(a, b) [on_failure=…] [budget=…] [output=…]   with the input as body
//	result a SUCCEEDED {"n":1}        Pulse ends the task of a; several lines, several results
//	plan [budget=…]                   one plan; prints the decision and the graph
//	clock 10m | pause | resume | gate open | gate closed | disable | enable | queue full | queue free
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/plan", func(t *testing.T, path string) {
		var s *sim
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "start":
				return storyStart(t, d, &s)
			case "begin":
				return storyBegin(t, d, &s)
			}
			return s.tell(t, d)
		})
	})
}

func storyStart(t *testing.T, d *datadriven.TestData, into **sim) string {
	var steps []string
	onFailure, budget, output, strict, about, room := "REVIEW", engine.PlanChangesMax, "", "", "b", int64(100)
	d.MaybeScanArgs(t, "strict", &strict)
	d.MaybeScanArgs(t, "about", &about)
	d.MaybeScanArgs(t, "on_failure", &onFailure)
	d.MaybeScanArgs(t, "budget", &budget)
	d.MaybeScanArgs(t, "output", &output)
	d.MaybeScanArgs(t, "room", &room)
	for _, arg := range d.CmdArgs {
		if arg.Key == "steps" {
			steps = arg.Vals
		}
	}
	s := newSim(t, chainText(steps, onFailure, output, strict))
	s.about = strings.Trim(about, "-")
	s.queue.OpenTasksMax = room
	*into = s
	out, changes := s.start(d.Input, budget)
	if out.Refusal != nil {
		return fmt.Sprintf("refused %s\n%s\nopen instances %d, written %d\n", out.Refusal.Code, out.Refusal.Detail, s.quota.OpenInstances, len(changes.New)+len(changes.Receipts))
	}
	return fmt.Sprintf("receipt %s\nhistory %s\n%s", out.Receipt, strings.Join(s.history, ", "), s.show())
}

// tell is one command of a story.
func (s *sim) tell(t *testing.T, d *datadriven.TestData) string {
	s.TB = t
	first := ""
	if len(d.CmdArgs) > 0 {
		first = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "plan":
		budget := engine.PlanChangesMax
		d.MaybeScanArgs(t, "budget", &budget)
		p := s.plan(budget)
		return describe(&p) + s.show()
	case "result":
		return s.tellResults(t, d.CmdArgs, d.Input)
	case "clock":
		by, err := time.ParseDuration(first)
		if err != nil {
			t.Fatal(err)
		}
		s.graph.Now = s.graph.Now.Add(by)
	case "pause", "resume":
		s.graph.Instance.Paused = d.Cmd == "pause"
	case "gate":
		s.graph.GateOpen = first == "open"
	case "disable", "enable":
		s.graph.Active = d.Cmd == "enable"
	case "queue":
		s.queue.OpenTasksMax = map[string]int64{"full": 0, "free": 100}[first]
	case "checkpoint":
		version, _ := strconv.Atoi(first)
		s.graph.Checkpoints = []Checkpoint{{Step: RootStep, Kind: CheckpointRoot, StepVersion: uint32(version), DueAt: s.graph.Now}}
	case "reactivate": // a person's retry: a new activation of the step, its task unknown to the old result
		a := s.task(first)
		a.ID, a.Task, a.No = s.id(), s.id(), a.No+1
		step := &s.graph.Steps[a.Step]
		step.State, step.Activation, step.ActivationNo = StepActive, a.ID, a.No
		s.graph.Activations[a.ID] = a
		s.graph.Instance.State, s.graph.Instance.Reason, s.graph.GateOpen = InstanceRunning, "", true
	default:
		return s.tellClock(t, d)
	}
	return "ok\n"
}

var publics = map[string]pulse.Public{
	"SUCCEEDED": pulse.PublicSucceeded, "FAILED": pulse.PublicFailed, "CANCELLED": pulse.PublicCancelled, "NEEDS_REVIEW": pulse.PublicReview, "RUNNING": pulse.PublicRunning,
}

// tellResults reads lines: step, state, output, and what is wrong with the row.
func (s *sim) tellResults(t *testing.T, args []datadriven.CmdArg, input string) string {
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		words := strings.SplitN(line, " ", 3)
		output, wrong := "", ""
		if len(words) == 3 && words[1] == "SUCCEEDED" {
			output = words[2]
		} else if len(words) == 3 {
			wrong = words[2]
		}
		for _, a := range args {
			wrong = a.Key
		}
		r := s.result(words[0], publics[words[1]], output)
		switch wrong {
		case "unsealed":
			r.Sealed = false
		case "stranger":
			r.Activation = s.id()
		case "other-task":
			r.Task = s.id()
		case "old-round":
			for _, x := range s.graph.Rounds {
				if x.No == 1 {
					r.Task = x.Task
				}
			}
		case "old-version":
			r.Version = 1
		case "old-activation":
			for _, a := range s.graph.Activations {
				if a.No == 1 && s.graph.Steps[a.Step].Name == words[0] {
					r.Activation, r.Task = a.ID, a.Task
				}
			}
		case "":
		default:
			t.Fatalf("no mistake %q", wrong)
		}
	}
	return "ok\n"
}

// describe prints a decision.
func describe(d *Decision) string {
	if d.Empty() {
		return "nothing\n"
	}
	var b strings.Builder
	for _, h := range d.History {
		fmt.Fprintf(&b, "revision %d %s %s\n", h.Revision, h.Kind, h.Detail)
	}
	for i := range d.Tasks {
		sub, task := &d.Tasks[i].Submission, &d.Tasks[i].Task
		fmt.Fprintf(&b, "task for %s input=%s key=%q deadline=%s\n", sub.Handler, sub.Input, sub.BusinessKey, task.DeadlineAt.Sub(epoch))
	}
	b.WriteString(describeClock(d))
	if d.Withheld != nil {
		fmt.Fprintf(&b, "withheld %s\n", d.Withheld.Code)
	}
	if d.More {
		b.WriteString("more\n")
	}
	return b.String()
}
