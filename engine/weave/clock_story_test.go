package weave

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
)

// storyBegin starts an instance of any kinds of nodes. The body is the input on its first line and the nodes, in a
// short spelling, on the others: one JSON node a line, what every node needs filled in.
//
//	begin [on_failure=…] [deadline=1h] [budget=…]
func storyBegin(t *testing.T, d *datadriven.TestData, into **sim) string {
	onFailure, budget, deadline := "REVIEW", engine.PlanChangesMax, "1h"
	d.MaybeScanArgs(t, "on_failure", &onFailure)
	d.MaybeScanArgs(t, "budget", &budget)
	d.MaybeScanArgs(t, "deadline", &deadline)
	whole, err := time.ParseDuration(deadline)
	if err != nil {
		t.Fatal(err)
	}
	input, nodes, _ := strings.Cut(d.Input, "\n")
	s := newSim(t, clockText(strings.Split(strings.TrimSpace(nodes), "\n"), onFailure, whole))
	*into = s
	out, _ := s.start(input, budget)
	if out.Refusal != nil {
		return fmt.Sprintf("refused %s\n%s\n", out.Refusal.Code, out.Refusal.Detail)
	}
	return s.show()
}

const taskRest = `"handler":"h","handler_version":"1","queue":"work","input_contract":null,"output_contract":null,"policy":"p","business_key":null,"resource_key":null`

// pollTask is the task of a POLL; it reads the input.
const pollTask = `"input":{"job":"${input.job}"},` + taskRest

// clockText is a definition around nodes. TASK stands for the fields every task has.
func clockText(nodes []string, onFailure string, deadline time.Duration) string {
	body := strings.ReplaceAll(strings.ReplaceAll(strings.Join(nodes, ",\n"), `"TASK..."`, `"kind":"TASK",`+taskRest), `"SIGNAL..."`, `"kind":"SIGNAL","signal":"s","signal_version":"1","content_contract":"state"`)
	body = strings.ReplaceAll(body, `"POLL..."`, `"kind":"POLL","task":{`+strings.Replace(pollTask, `"output_contract":null`, `"output_contract":"state"`, 1)+`},
		"classify":{"value":"${result.state}","pending":["QUEUED","RUNNING"],"done":["DONE"],"failed":["FAILED"],"review":["STUCK"]},
		"output":{"n":"${result.n ?? 0}"},"output_contract":null`)
	body = strings.ReplaceAll(body, `"FINAL..."`, `"final_signal":{"signal":"s","signal_version":"1","content_contract":"state","correlation":"c",
		"classify":{"value":"${signal.state}","done":["DONE"],"failed":["FAILED"],"review":["STUCK"]},"output":{"n":"${signal.n ?? 0}"}}`)
	return fmt.Sprintf(`{"schema_version":1,"definition":"story","version":1,"input_contract":null,"output_contract":null,"deadline_ms":%d,"on_failure":%q,
		"contracts":{"state":{"type":"object","required":["state"],"properties":{"state":{"type":"string"},"n":{"type":"number"}}}},
		"policies":{"p":{"priority":5,"deadline_ms":600000,"attempt_timeout_ms":30000,"lost":"REVIEW",
			"retry":{"kind":"FIXED","max_attempts":3,"delay_ms":0,"jitter_percent":0}}},
		"body":[%s],"output":null}`, deadline.Milliseconds(), onFailure, body)
}

// tellClock are the commands of clocks:
//
//	break wait of a      someone alters the stored wait
func (s *sim) tellClock(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "break":
		s.graph.Waits[0].DeadlineAt = s.graph.Waits[0].DeadlineAt.Add(-time.Second)
	case "signal":
		return s.tellSignal(t, d)
	case "alter":
		s.graph.Signals[0].Sealed = false
	case "review":
		s.graph.Instance.State, s.graph.Instance.Reason, s.graph.GateOpen = InstanceReview, "because", false
	case "stop":
		s.graph.Instance.State, s.graph.Instance.Stop, s.graph.Instance.StopRequestedAt = InstanceCancelling, StopCancel, s.graph.Now
		s.graph.GateOpen = false
	case "clock-checkpoint":
		var step string
		var version int
		d.ScanArgs(t, "step", &step)
		d.ScanArgs(t, "version", &version)
		n := s.graph.Version.Definition.Node(step)
		a := s.graph.Steps[n.Number].Activation
		if d.HasArg("stale") {
			old := s.graph.Activations[a]
			old.ID = s.id()
			s.graph.Activations[old.ID] = old
			a = old.ID
		}
		upsertCheckpoint(s.graph, Checkpoint{Step: uint16(n.Number), Kind: clockKinds[n.Kind], Activation: a, StepVersion: uint32(version), DueAt: s.graph.Now})
	default:
		t.Fatalf("no command %s", d.Cmd)
	}
	return "ok\n"
}

func upsertCheckpoint(g *Graph, c Checkpoint) {
	for i := range g.Checkpoints {
		if g.Checkpoints[i].Step == c.Step {
			g.Checkpoints[i] = c
			return
		}
	}
	g.Checkpoints = append(g.Checkpoints, c)
}

// tellSignal sends one signal and plans, as one transaction does:
//
//	signal step=… [activation=1] [correlation=c] [name=s] [version=1] [key=…]    with the content as body
func (s *sim) tellSignal(t *testing.T, d *datadriven.TestData) string {
	r := &SignalRequest{Credential: 1, Application: simApplication, ID: s.id(), Audit: s.id(), Instance: s.graph.Instance.ID, ActivationNo: 1, Name: "s", Version: "1", Correlation: "c", Content: []byte(d.Input), Reason: "told"}
	r.Key = r.ID.Text("key")
	activation := 1
	d.ScanArgs(t, "step", &r.Step)
	d.MaybeScanArgs(t, "activation", &activation)
	d.MaybeScanArgs(t, "correlation", &r.Correlation)
	d.MaybeScanArgs(t, "name", &r.Name)
	d.MaybeScanArgs(t, "version", &r.Version)
	d.MaybeScanArgs(t, "key", &r.Key)
	r.ActivationNo = uint16(activation)
	if v, bad := exact.Parse(r.Content, exact.PayloadLimits); bad == nil {
		r.ContentDigest = v.Digest()
	}
	scopes := "workflows:signal"
	if d.HasArg("unscoped") {
		scopes = "workflows:start"
	}
	budget := engine.PlanChangesMax
	d.MaybeScanArgs(t, "budget", &budget)
	s.graph.SignalCount = len(s.kept)
	answer, decision := s.ask(r, scopes, budget)
	if answer.Refusal != nil {
		return fmt.Sprintf("refused %s %s\n%s\n", answer.Refusal.Code, answer.Refusal.Field, answer.Refusal.Detail)
	}
	if answer.Replayed {
		return fmt.Sprintf("replayed %s\n", answer.Receipt)
	}
	if decision == nil {
		return "nothing\n"
	}
	return describe(decision) + s.show()
}

// ask lets Decide answer a request and writes down what follows.
func (s *sim) ask(r Request, scopes string, budget int) (Answer, *Decision) {
	caller := engine.Caller{Credential: 1, Application: simApplication, Scopes: scopes, ApplicationActive: true, NamespaceActive: true}
	world := &World{
		Now: s.graph.Now, Actor: "system:weave:sim", Callers: map[uint64]engine.Caller{1: caller}, Quotas: map[uint64]pulse.Quota{simApplication: s.quota},
		Queues: map[uint64]pulse.Queue{simQueue: s.queue}, Receipts: s.keys, Graphs: []*Graph{s.graph},
	}
	_, changes := Decide(world, nil, s.id, budget, r)
	s.graph.Accepted, s.graph.AskedBy = nil, ""
	s.count(changes.Quotas, changes.Queues)
	if s.keys == nil {
		s.keys = map[pulse.ReceiptKey]pulse.Receipt{}
	}
	for _, w := range changes.Receipts {
		s.keys[w.Key] = w.Receipt
	}
	if len(changes.Decisions) == 0 {
		return changes.Answers[0], nil
	}
	s.apply(&changes.Decisions[0])
	return changes.Answers[0], &changes.Decisions[0]
}

// keep writes signals as the store does: the next plan sees those that are pending.
func (s *sim) keep(signals []Signal) {
	for i := range signals {
		at := slices.IndexFunc(s.kept, func(x Signal) bool { return x.ID == signals[i].ID })
		if at < 0 {
			s.kept = append(s.kept, signals[i])
		} else {
			s.kept[at] = signals[i]
		}
	}
	s.graph.Signals = slices.DeleteFunc(slices.Clone(s.kept), func(x Signal) bool { return x.State != SignalPending })
}

// describeClock prints what a decision says about waits.
func describeClock(d *Decision) string {
	var b strings.Builder
	for i := range d.Waits {
		w := &d.Waits[i]
		fmt.Fprintf(&b, "wait %s %s until %s", w.Kind, w.State, w.DeadlineAt.Sub(epoch))
		if w.Signal != "" {
			fmt.Fprintf(&b, " for %s/%s %q", w.Signal, w.Version, w.Correlation)
		}
		b.WriteString("\n")
	}
	for _, c := range d.Clocks {
		if c.Kind == CheckpointDelete {
			fmt.Fprintf(&b, "clock of step %d gone\n", c.Row.Step)
		}
	}
	for i := range d.Polls {
		q := &d.Polls[i]
		fmt.Fprintf(&b, "poll %s round %d", q.State, q.UsedRounds)
		if !q.NextAt.IsZero() {
			fmt.Fprintf(&b, " next %s", q.NextAt.Sub(epoch))
		}
		b.WriteString("\n")
	}
	for i := range d.Rounds {
		fmt.Fprintf(&b, "round %d %s deadline %s\n", d.Rounds[i].No, d.Rounds[i].State, d.Rounds[i].DeadlineAt.Sub(epoch))
	}
	return b.String()
}
