package lane_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// flows is a world with workflows. Its lanes have no Weaver unless automatic, so that a test says itself when an
// instance is advanced.
type flows struct {
	*world
	writer *tx.DB
	weaver *lane.Workflows
	failed []error
	mu     sync.Mutex
	counts []int // statements of committed workflow transactions
}

func newFlows(t testing.TB, automatic bool) *flows {
	t.Helper()
	d := dbtest.New(t)
	return flowsOn(t, d, d.DSN(), automatic)
}

// flowsOn lets the workflows write through a link of their own, which may be disturbed.
func flowsOn(t testing.TB, d *dbtest.DB, dsn string, automatic bool) *flows {
	t.Helper()
	disturbed := dsn != d.DSN()
	writer, err := tx.Open(dsn, 8)
	must(t, err)
	t.Cleanup(func() { _ = writer.Close() })
	reader, err := tx.OpenReader(d.DSN(), 4)
	must(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	key, err := auth.NewService(writer, reader, auth.NewVerifier(reader)).Bootstrap(t.Context(), "test", "app", "key", auth.AllScopes)
	must(t, err)
	f := &flows{writer: writer}
	writer.Observe = func(e tx.Event) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if e.Transaction == "weave" && e.Kind == "commit" {
			f.counts = append(f.counts, e.Statements)
		}
		if e.Kind == "retry" && e.Code == 1213 && !disturbed {
			t.Error("a deadlock")
		}
	}
	f.weaver = lane.NewWorkflows(writer, "node-1", func(_ uint64, _ engine.ID, err error) { f.failed = append(f.failed, err) })
	var own lane.Weaver
	if automatic {
		own = f.weaver
	}
	opt := lane.Options{OnInternal: func(err error) {
		if !disturbed {
			t.Error("internal:", err)
		}
	}}
	f.world = &world{TB: t, Set: lane.New(writer, reader, own, opt), db: d, key: key, ns: key.Key.Namespace, name: "work"}
	t.Cleanup(f.Close)
	f.queue = f.addQueue("work", 1_000_000, 100_000)
	return f
}

const policy = `"policies":{"p":{"priority":5,"deadline_ms":60000,"attempt_timeout_ms":30000,"lost":"REVIEW","retry":{"kind":"FIXED","max_attempts":1,"delay_ms":1000,"jitter_percent":0}}}`

// chain is a definition of tasks in a row; each but the first reads the output of the one before it.
func chain(name string, version int, onFailure string, steps ...string) string {
	var nodes []string
	for i, s := range steps {
		input := `{"n":"${input.n}"}`
		if i > 0 {
			input = `{"n":"${steps.` + steps[i-1] + `.output.n}"}`
		}
		nodes = append(nodes, fmt.Sprintf(`{"name":%q,"kind":"TASK","queue":"work","handler":"h","handler_version":"1","input":%s,`+
			`"input_contract":"n","output_contract":"n","policy":"p","business_key":null,"resource_key":null}`, s, input))
	}
	return fmt.Sprintf(`{"schema_version":1,"definition":%q,"version":%d,"input_contract":"n","output_contract":"n","deadline_ms":3600000,"on_failure":%q,`+
		`"contracts":{"n":{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}},%s,"body":[%s],"output":"${steps.%s.output}"}`,
		name, version, onFailure, policy, strings.Join(nodes, ","), steps[len(steps)-1])
}

func (f *flows) publish(document string) {
	f.Helper()
	out, err := store.Publish(f.Context(), f.writer, store.Publisher{Namespace: f.ns, Application: f.key.Application, Credential: f.key.ID}, []byte(document), "")
	must(f, err)
	if out.Refusal != nil {
		f.Fatal(out.Refusal, out.Problems)
	}
}

func (f *flows) begin(key, definition string, change ...func(*lane.Start)) *lane.Start {
	input := []byte(`{"n": 1.50}`)
	s := &lane.Start{
		Credential: f.key.ID, Application: f.key.Application, InstanceID: store.NewID(), Key: key, Definition: definition, Input: input, InputDigest: sha256.Sum256(input),
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// start begins instances and insists on it.
func (f *flows) start(starts ...*lane.Start) []engine.ID {
	f.Helper()
	out, err := f.weaver.Run(f.Context(), f.ns, starts, nil)
	must(f, err)
	ids := make([]engine.ID, len(starts))
	for i, o := range out.Starts {
		if o.Refusal != nil {
			f.Fatal(o.Refusal)
		}
		ids[i] = o.InstanceID
	}
	return ids
}

func (f *flows) advance(instances ...engine.ID) lane.WeaveResult {
	f.Helper()
	out, err := f.weaver.Run(f.Context(), f.ns, nil, instances)
	must(f, err)
	return out
}

// work claims every waiting task and reports the same end for all.
func (f *flows) work(o pulse.Outcome, output string) int {
	f.Helper()
	got := f.claimNow(256)
	if len(got) == 0 {
		return 0
	}
	reports := make([]pulse.Report, len(got))
	for i := range got {
		reports[i] = f.report(&got[i].Task, o)
		if o == pulse.Succeeded {
			reports[i].Output = []byte(output)
		} else {
			reports[i].FailureCode = "broken"
		}
	}
	_, _, _, err := f.Complete(f.Context(), f.ns, reports, nil)
	must(f, err)
	return len(got)
}

// instance reads an instance; steps prints its steps.
func (f *flows) instance(id engine.ID) db.Instance {
	f.Helper()
	row, err := db.New(f.db).GetInstance(f.Context(), db.GetInstanceParams{NamespaceID: f.ns, InstanceID: id[:]})
	must(f, err)
	return row
}

func (f *flows) steps(id engine.ID) string {
	f.Helper()
	rows, err := db.New(f.db).ListSteps(f.Context(), db.ListStepsParams{NamespaceID: f.ns, InstanceID: id[:], StepNo: 0, Limit: 300})
	must(f, err)
	var out []string
	for _, r := range rows {
		text := string(r.Name) + " " + weave.StepState(r.State).String()
		if len(r.Reason) > 0 {
			text += " " + string(r.Reason)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// stands checks state, reason and steps of an instance, and that its history has no gap.
func (f *flows) stands(id engine.ID, state weave.InstanceState, reason, steps string) {
	f.Helper()
	i := f.instance(id)
	if weave.InstanceState(i.State) != state || string(i.Reason) != reason {
		f.Errorf("instance is %s %q, not %s %q", weave.InstanceState(i.State), i.Reason, state, reason)
	}
	if got := f.steps(id); got != steps {
		f.Errorf("steps are\n%s, not\n%s", got, steps)
	}
	rows, err := db.New(f.db).ListInstanceHistory(f.Context(), db.ListInstanceHistoryParams{NamespaceID: f.ns, InstanceID: id[:], Revision: 0, Limit: 1000})
	must(f, err)
	for n, r := range rows {
		if int(r.Revision) != n+1 {
			f.Errorf("history has revision %d at place %d", r.Revision, n+1)
		}
	}
	if len(rows) != int(i.Revision) {
		f.Errorf("revision %d with %d history entries", i.Revision, len(rows))
	}
}

// exact also checks the open instances.
func (f *flows) exact() {
	f.Helper()
	f.world.exact()
	q := db.New(f.db)
	quota, err := q.GetQuota(f.Context(), db.GetQuotaParams{NamespaceID: f.ns, ApplicationID: f.key.Application})
	must(f, err)
	open, err := q.CountOpenInstances(f.Context(), db.CountOpenInstancesParams{NamespaceID: f.ns, ApplicationID: f.key.Application})
	must(f, err)
	if quota.OpenInstances != open {
		f.Errorf("quota counts %d open instances, the rows are %d", quota.OpenInstances, open)
	}
}

func TestThreeStepsToSuccess(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("three", 1, "REVIEW", "a", "b", "c"))
	id := f.start(f.begin("k", "three"))[0]
	f.stands(id, weave.InstanceRunning, "", "a ACTIVE, b WAITING, c WAITING")
	f.exact()
	for _, want := range []string{"a SUCCEEDED, b ACTIVE, c WAITING", "a SUCCEEDED, b SUCCEEDED, c ACTIVE"} {
		if n := f.work(pulse.Succeeded, `{"n": 2.50}`); n != 1 {
			t.Fatalf("%d tasks waited", n)
		}
		out := f.advance(id)
		if len(out.Ready) != 1 || out.Ready[0] != f.queue || len(out.Again) != 0 {
			t.Errorf("the lane was told %+v", out)
		}
		f.stands(id, weave.InstanceRunning, "", want)
		f.exact()
	}
	f.work(pulse.Succeeded, `{"n": 3.0}`)
	f.advance(id)
	f.stands(id, weave.InstanceSucceeded, "", "a SUCCEEDED, b SUCCEEDED, c SUCCEEDED")
	i := f.instance(id)
	if string(i.Output) != `{"n":3.0}` || i.Revision != 5 || i.EndedAt == nil {
		t.Errorf("ended with %s at revision %d", i.Output, i.Revision)
	}
	if out := f.advance(id); len(out.Ready)+len(out.Again) != 0 || f.instance(id).Revision != 5 {
		t.Error("an ended instance was advanced")
	}
	f.exact()
}

func TestAutomaticChain(t *testing.T) {
	f := newFlows(t, true)
	f.publish(chain("three", 1, "REVIEW", "a", "b", "c"))
	const n = 200
	starts := make([]*lane.Start, n)
	for i := range starts {
		starts[i] = f.begin(fmt.Sprint("k", i), "three")
	}
	began := time.Now()
	out, err := f.Start(t.Context(), f.ns, starts)
	must(t, err)
	t.Logf("%d starts in %v", n, time.Since(began))
	ran, deadline := 0, time.Now().Add(30*time.Second)
	for ran < 3*n && time.Now().Before(deadline) {
		ran += f.work(pulse.Succeeded, `{"n":1}`)
	}
	for _, o := range out {
		for f.instance(o.InstanceID).State == uint8(weave.InstanceRunning) && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		f.stands(o.InstanceID, weave.InstanceSucceeded, "", "a SUCCEEDED, b SUCCEEDED, c SUCCEEDED")
	}
	t.Logf("%d instances of 3 steps in %v", n, time.Since(began))
	f.exact()
}

// TestStatementsDoNotGrow holds the promise of lanes: how many instances take part changes no number of statements.
func TestStatementsDoNotGrow(t *testing.T) {
	f := newFlows(t, false)
	f.publish(chain("three", 1, "REVIEW", "a", "b", "c"))
	f.start(f.begin("warm", "three")) // reads the version once
	f.work(pulse.Succeeded, `{"n":1}`)
	measure := func(n int) (start, advance, end int) {
		f.counts = nil
		var starts []*lane.Start
		for i := range n {
			starts = append(starts, f.begin(fmt.Sprint(n, "-", i), "three"))
		}
		ids := f.start(starts...)
		for range 3 {
			f.work(pulse.Succeeded, `{"n":1}`)
			f.advance(ids...)
		}
		return f.counts[0], f.counts[1], f.counts[3]
	}
	s1, a1, e1 := measure(1)
	s32, a32, e32 := measure(32)
	t.Logf("statements: start %d, advance %d, end %d", s1, a1, e1)
	if s1 != s32 || a1 != a32 || e1 != e32 {
		t.Errorf("with 32 instances: start %d, advance %d, end %d", s32, a32, e32)
	}
	for name, got := range map[string][2]int{"start": {s1, 19}, "advance": {a1, 22}, "end": {e1, 18}} {
		if got[0] > got[1] {
			t.Errorf("%s takes %d statements, at most %d", name, got[0], got[1])
		}
	}
	f.exact()
}
