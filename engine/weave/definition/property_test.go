package definition

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orbitrun/orbit/engine/exact"
)

// TestAnyDamageIsJudgedCalmly breaks good documents in random places. Check
// must answer in order and within bounds, and what it accepts must load to the
// same definition.
func TestAnyDamageIsJudgedCalmly(t *testing.T) {
	var sources []exact.Value
	for _, name := range []string{"small", "order_fulfilment_scope", "access_request", "document_conversion", "scopes"} {
		sources = append(sources, document(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom(sources).Draw(t, "document")
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			value = damage(t, value)
		}
		text := value.Append(nil)
		def, problems := Check(text, everyKind)
		if len(problems) > ProblemsMax || (def == nil) != Refused(problems) {
			t.Fatalf("definition %v, %d problems", def != nil, len(problems))
		}
		for i := 1; i < len(problems); i++ {
			if problems[i-1].Position > problems[i].Position {
				t.Fatalf("out of order: %v before %v", problems[i-1], problems[i])
			}
		}
		if def == nil {
			return
		}
		loaded, err := Load(text, def.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outline(loaded), outline(def); got != want {
			t.Fatalf("loaded\n%s\nchecked\n%s", got, want)
		}
	})
}

// outline prints what running reads, so that two definitions can be compared.
func outline(d *Definition) string {
	var b strings.Builder
	fmt.Fprintln(&b, d.Name, d.Version, d.DeadlineMS, d.OnFailure, d.Queues(), string(Mermaid(d)))
	for _, s := range d.Flatten()[1:] {
		fmt.Fprintln(&b, s.Number, s.Name, s.Kind, s.Parent, s.Part, s.Position, s.Node.Pointer)
	}
	return b.String()
}

// damage changes one random place: to another value, to a value of somewhere
// else, or away.
func damage(t *rapid.T, v exact.Value) exact.Value {
	places := every(v, nil)
	path := rapid.SampledFrom(places).Draw(t, "place")
	if len(path) == 0 {
		return v
	}
	switch rapid.IntRange(0, 2).Draw(t, "how") {
	case 0:
		return put(nil, v, path, nil)
	case 1:
		texts := []string{"null", "true", "0", "1.0", "-1", "[]", "{}", `""`, `"x"`, `"first"`, `"${input}"`, `"${steps.first.output}"`, `"${result}"`,
			`"TASK"`, `"BRANCH"`, `"POLL"`, `"MAP"`, `[{"name": "new", "kind": "TIMER", "delay_ms": 1}]`}
		one, _ := exact.Parse([]byte(rapid.SampledFrom(texts).Draw(t, "value")), exact.PayloadLimits)
		return put(nil, v, path, &one)
	}
	from, _ := v.Find("/" + strings.Join(rapid.SampledFrom(places).Draw(t, "from"), "/"))
	return put(nil, v, path, &from)
}

// every lists the path of every value below v.
func every(v exact.Value, path []string) (paths [][]string) {
	paths = append(paths, append([]string(nil), path...))
	for i, item := range v.Items() {
		paths = append(paths, every(item, append(path, strconv.Itoa(i)))...)
	}
	for _, m := range v.Members() {
		paths = append(paths, every(m.Value, append(path, m.Name))...)
	}
	return paths
}

// TestHostileDocumentsCostLittle judges documents as large as allowed that are
// built to be slow. The bound is generous: it finds squares, not constants.
func TestHostileDocumentsCostLittle(t *testing.T) {
	long := strings.Repeat("n", 44)
	many := func(n int, one func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = one(i)
		}
		return strings.Join(parts, ",")
	}
	wrap := func(members string) string {
		return `{"schema_version":1,"definition":"h","version":1,"input_contract":null,"output_contract":null,"deadline_ms":5,"on_failure":"REVIEW",` + members + `}`
	}
	timer := func(name, delay string) string {
		return `{"name":"` + name + `","kind":"TIMER","delay_ms":` + delay + `}`
	}
	documents := map[string]string{
		"unknown fields": wrap(many(20000, func(i int) string { return fmt.Sprintf(`"f%d":1`, i) })),
		"nodes": wrap(`"contracts":{},"policies":{},"output":null,"body":[` +
			many(5000, func(i int) string { return timer("t"+strconv.Itoa(i), "1") }) + `]`),
		"unknown steps": wrap(`"contracts":{},"policies":{},"output":[` +
			many(2000, func(i int) string { return fmt.Sprintf(`"${steps.%sx%d.output}"`, long, i%1000) }) + `],"body":[` +
			many(256, func(i int) string { return timer(fmt.Sprintf("%s%d", long, i), "1") }) + `]`),
		"contracts": wrap(`"policies":{},"output":null,"body":[` + timer("t", "1") + `],"contracts":{` +
			many(20000, func(i int) string { return fmt.Sprintf(`"c%d":{}`, i) }) + `}`),
		"expressions": wrap(`"contracts":{},"policies":{},"body":[` + timer("t", "1") + `],"output":[` +
			many(2000, func(i int) string { return `"${` + strings.Repeat("input.a == 1 || ", 7) + `true}"` }) + `]`),
		"nesting": wrap(`"contracts":{},"policies":{},"output":null,"body":` +
			strings.Repeat(`[{"name":"s","kind":"SCOPE","compensation_deadline_ms":1,"body":`, 25) + `[]` + strings.Repeat(`}]`, 25)),
	}
	for name, text := range documents {
		start := time.Now()
		_, problems := Check([]byte(text), everyKind)
		took := time.Since(start)
		t.Logf("%s: %d bytes, %d problems, %v", name, len(text), len(problems), took)
		if took > 2*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if len(problems) == 0 {
			t.Errorf("%s: nothing found", name)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	text := documentText(b, "order_fulfilment")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if def, _ := Check(text, everyKind); def == nil {
			b.Fatal("refused")
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	text := documentText(b, "order_fulfilment")
	digest := accepted(b, "order_fulfilment").Digest
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Load(text, digest); err != nil {
			b.Fatal(err)
		}
	}
}
