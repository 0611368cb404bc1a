package weave

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// sim is one instance and what surrounds it, in memory: what a transaction would write is applied to the graph the
// next plan sees, so a test tells only the facts.
type sim struct {
	testing.TB
	graph   *Graph
	quota   pulse.Quota
	queue   pulse.Queue
	seq     uint64
	open    map[engine.ID]string // step of an open task
	rows    map[string]string    // inbox row → classification
	history []string
	last    map[engine.ID]uint32 // version of a task's last result
	about   string               // business key of the start
	budget  int
	kept    []Signal // every signal, whatever became of it
	keys    map[pulse.ReceiptKey]pulse.Receipt
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const simApplication, simQueue = 7, 9

func newSim(t testing.TB, document string) *sim {
	t.Helper()
	def, problems := definition.Check([]byte(document), definition.Options{Runnable: Runnable()})
	if def == nil {
		t.Fatalf("the document is refused: %v", problems)
	}
	version := &Version{Definition: def, Queues: map[string]uint64{}}
	for _, q := range def.Queues() {
		version.Queues[q] = simQueue
	}
	return &sim{
		TB: t, graph: &Graph{Now: epoch, Version: version}, open: map[engine.ID]string{}, rows: map[string]string{}, last: map[engine.ID]uint32{}, about: "b",
		quota: pulse.Quota{Application: simApplication, OpenTasksMax: 100, RunningAttemptsMax: 100, OpenInstancesMax: 10, OpenPayloadBytesMax: 1 << 20},
		queue: pulse.Queue{ID: simQueue, Application: simApplication, OpenTasksMax: 100, RunningAttemptsMax: 100},
	}
}

func (s *sim) id() engine.ID {
	s.seq++
	var id engine.ID
	binary.BigEndian.PutUint64(id[8:], s.seq)
	return id
}

// start begins the instance through Decide, as the product does.
func (s *sim) start(input string, budget int) (StartOutcome, Changes) {
	value, bad := exact.Parse([]byte(input), exact.PayloadLimits)
	if bad != nil {
		s.Fatal(bad)
	}
	caller := engine.Caller{Credential: 1, Application: simApplication, Scopes: "workflows:start", ApplicationActive: true, NamespaceActive: true}
	world := &World{
		Now: s.graph.Now, Actor: "system:weave:sim", Callers: map[uint64]engine.Caller{1: caller}, Quotas: map[uint64]pulse.Quota{simApplication: s.quota},
		Queues: map[uint64]pulse.Queue{simQueue: s.queue}, Versions: []StartVersion{{Version: s.graph.Version}},
	}
	start := Start{
		Credential: 1, Application: simApplication, Instance: s.id(), Key: "k", Definition: s.graph.Version.Definition.Name,
		BusinessKey: s.about, Input: []byte(input), InputDigest: value.Digest(),
	}
	out, changes := Decide(world, []Start{start}, s.id, budget)
	s.count(changes.Quotas, changes.Queues)
	if out[0].Refusal == nil {
		g := start.graph(s.graph.Version, world)
		g.Steps = changes.New[0].Steps
		g.Activations = map[engine.ID]Activation{}
		s.graph = g
		s.apply(&changes.Decisions[0])
	}
	return out[0], changes
}

func (s *sim) count(quotas []pulse.Quota, queues []pulse.Queue) {
	for _, q := range quotas {
		s.quota = q
	}
	for _, q := range queues {
		s.queue = q
	}
}

// plan runs one plan and writes it down. It holds every plan to what plans promise.
func (s *sim) plan(budget int) Decision {
	usage := pulse.NewUsage(map[uint64]pulse.Quota{simApplication: s.quota}, map[uint64]pulse.Queue{simQueue: s.queue})
	before := s.graph.Instance.Revision
	d := Plan(s.graph, usage, s.id, budget)
	if len(d.Confirmed)+len(d.Activations) > budget {
		s.Fatalf("%d confirmations and %d activations with a budget of %d", len(d.Confirmed), len(d.Activations), budget)
	}
	if d.Advanced != (d.Instance.Revision == before+1) || d.Advanced != (len(d.History) == 1) || d.Advanced != (len(d.Audits) > 0) {
		s.Fatalf("revision %d → %d with %d history entries and %d audits", before, d.Instance.Revision, len(d.History), len(d.Audits))
	}
	if err := s.graph.Sound(); err != nil {
		s.Fatal(err)
	}
	quotas, queues := usage.Dirty()
	s.count(quotas, queues)
	s.apply(&d)
	if !d.More {
		usage := pulse.NewUsage(map[uint64]pulse.Quota{simApplication: s.quota}, map[uint64]pulse.Queue{simQueue: s.queue})
		if again := Plan(s.graph, usage, s.id, budget); !again.Empty() {
			s.Fatalf("planning again gives %+v", again)
		}
	}
	return d
}

// apply writes a decision into the graph, as the store writes it into the tables.
func (s *sim) apply(d *Decision) {
	g := s.graph
	g.Instance = d.Instance
	for _, step := range d.Steps {
		g.Steps[step.No] = step
	}
	for _, a := range slices.Concat(d.Activations, d.Ended) {
		g.Activations[a.ID] = a
	}
	for _, w := range d.Tasks {
		s.open[w.Task.ID] = g.Steps[g.Activations[w.Submission.Owner].Step].Name
	}
	for _, c := range d.Confirmed {
		s.rows[fmt.Sprintf("%s v%d", g.stepOf(c.Task), c.Version)] = c.Classification
		g.Results = slices.DeleteFunc(g.Results, func(r Result) bool { return r.Task == c.Task && r.Version == c.Version })
		if g.Handled == nil {
			g.Handled = map[engine.ID]uint32{}
		}
		g.Handled[c.Task] = max(g.Handled[c.Task], c.Version)
	}
	switch d.Gate {
	case GateClose:
		g.GateOpen = false
	case GateOpen:
		g.GateOpen = true
	}
	for _, c := range append(d.Clocks, d.Checkpoint) {
		if c.Kind != CheckpointKeep {
			g.Checkpoints = slices.DeleteFunc(g.Checkpoints, func(x Checkpoint) bool { return x.Step == c.Row.Step })
		}
		if c.Kind == CheckpointWrite {
			g.Checkpoints = append(g.Checkpoints, c.Row)
		}
	}
	upsert(&g.Waits, d.Waits, waitID)
	s.keep(d.Signals)
	upsert(&g.Polls, d.Polls, pollID)
	upsert(&g.Rounds, d.Rounds, roundID)
	g.RoundCounts = map[engine.ID]int{}
	for _, r := range g.Rounds {
		g.RoundCounts[r.Activation]++
	}
	for _, h := range d.History {
		s.history = append(s.history, fmt.Sprintf("%d %s", h.Revision, h.Kind))
	}
}

// upsert writes rows as the store does.
func upsert[T any](into *[]T, rows []T, id func(*T) engine.ID) {
	for i := range rows {
		*into = slices.DeleteFunc(*into, func(x T) bool { return id(&x) == id(&rows[i]) })
		*into = append(*into, rows[i])
	}
}

func (g *Graph) stepOf(task engine.ID) string {
	for _, a := range g.Activations {
		if a.Task == task {
			return fmt.Sprintf("%s.%d", g.Steps[a.Step].Name, a.No)
		}
	}
	for _, r := range g.Rounds {
		if r.Task == task {
			return fmt.Sprintf("%s.%d round %d", g.Steps[g.Activations[r.Activation].Step].Name, g.Activations[r.Activation].No, r.No)
		}
	}
	return "?"
}

// task is the task of a step's current activation.
func (s *sim) task(step string) Activation {
	n := s.graph.Version.Definition.Node(step)
	if n == nil {
		s.Fatalf("no step %s", step)
	}
	a := s.graph.Activations[s.graph.Steps[n.Number].Activation]
	for _, q := range s.graph.Polls {
		if q.Activation == a.ID {
			a.Task = q.Last
		}
	}
	return a
}

// result lets Pulse end the task of a step's current activation, or change its mind about one that was in review.
func (s *sim) result(step string, state pulse.Public, output string) *Result {
	a := s.task(step)
	if _, open := s.open[a.Task]; open && state.Terminal() {
		delete(s.open, a.Task)
		s.quota.OpenTasks, s.queue.OpenTasks = s.quota.OpenTasks-1, s.queue.OpenTasks-1
	}
	r := Result{Task: a.Task, Version: max(s.last[a.Task], 1) + 1, Activation: a.ID, TaskState: state, AttemptNo: 1, OccurredAt: s.graph.Now, Sealed: true}
	if output != "" {
		r.Output = []byte(output)
	}
	if state == pulse.PublicFailed {
		r.FailureCode = "broken"
	}
	s.last[a.Task] = r.Version
	s.graph.Results = append(s.graph.Results, r)
	return &s.graph.Results[len(s.graph.Results)-1]
}

// show prints the graph.
func (s *sim) show() string {
	var b strings.Builder
	i := &s.graph.Instance
	fmt.Fprintf(&b, "instance %s", i.State)
	if i.Reason != "" {
		fmt.Fprintf(&b, " %s", i.Reason)
	}
	if i.Stop == StopFailure {
		b.WriteString(" stop=FAILURE")
	}
	if !s.graph.GateOpen {
		b.WriteString(" gate=closed")
	}
	if len(i.Output) > 0 {
		fmt.Fprintf(&b, " output=%s", i.Output)
	}
	b.WriteString("\n")
	for _, step := range s.graph.Steps[1:] {
		fmt.Fprintf(&b, "  %s %s v%d a%d", step.Name, step.State, step.Version, step.ActivationNo)
		if step.Reason != "" {
			fmt.Fprintf(&b, " %s", step.Reason)
		}
		if len(step.Output) > 0 {
			fmt.Fprintf(&b, " %s", step.Output)
		}
		b.WriteString("\n")
	}
	for _, q := range s.graph.Polls {
		fmt.Fprintf(&b, "  poll %s round %d", q.State, q.UsedRounds)
		if q.Overdue {
			b.WriteString(" overdue")
		}
		b.WriteString("\n")
	}
	for i := range s.kept {
		fmt.Fprintf(&b, "  signal %s %s\n", s.kept[i].State, s.kept[i].Class)
	}
	for _, c := range s.graph.Checkpoints {
		if c.Step != RootStep {
			fmt.Fprintf(&b, "  %s of %s", c.Kind, s.graph.Steps[c.Step].Name)
		}
		fmt.Fprintf(&b, "  checkpoint in %s\n", c.DueAt.Sub(s.graph.Now))
	}
	return b.String()
}

// end is what must not depend on order, batches or budget: everything but revisions and ids.
func (s *sim) end() string {
	rows := slices.Sorted(maps.Keys(s.rows))
	for i, r := range rows {
		rows[i] = r + " " + s.rows[r]
	}
	return fmt.Sprintf("%s  counts tasks=%d/%d instances=%d bytes=%d open=%d\n  rows %s\n", s.show(), s.quota.OpenTasks, s.queue.OpenTasks,
		s.quota.OpenInstances, 0, len(s.open), strings.Join(rows, ", "))
}

// chainText is a definition of tasks in a row; each but the first reads the output of the one before it.
// The step named strict insists on an optional member of what it reads.
func chainText(steps []string, onFailure, output, strict string) string {
	var nodes []string
	for i, name := range steps {
		input := `{"n":"${input.n}"}`
		if i > 0 {
			input = `{"n":"${steps.` + steps[i-1] + `.output.n}"}`
		}
		if name == strict {
			input = strings.Replace(input, `.n}`, `.note}`, 1)
			input = strings.Replace(strings.Replace(input, `${`, `${must(`, 1), `}"`, `)}"`, 1)
		}
		nodes = append(nodes, fmt.Sprintf(`{"name":%q,"kind":"TASK","queue":"work","handler":"h","handler_version":"1","input":%s,`+
			`"input_contract":null,"output_contract":"n","policy":"p","business_key":"${instance.business_key ?? ''}","resource_key":null}`, name, input))
	}
	if output == "" {
		output = `"${steps.` + steps[len(steps)-1] + `.output}"`
	}
	return fmt.Sprintf(`{"schema_version":1,"definition":"story","version":1,"input_contract":"in","output_contract":"out","deadline_ms":3600000,"on_failure":%q,
		"contracts":{"in":{"type":"object","required":["n"],"properties":{"n":{"type":"number"},"note":{}}},
			"n":{"type":"object","required":["n"],"properties":{"n":{"type":"number"},"note":{}}},"out":{}},
		"policies":{"p":{"priority":5,"deadline_ms":600000,"attempt_timeout_ms":30000,"lost":"REVIEW",
			"retry":{"kind":"FIXED","max_attempts":1,"delay_ms":0,"jitter_percent":0}}},
		"body":[%s],"output":%s}`, onFailure, strings.Join(nodes, ","), output)
}
