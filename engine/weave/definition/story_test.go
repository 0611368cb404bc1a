package definition

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/orbitrun/orbit/engine/exact"
)

// TestStories runs testdata/check. A story is a whole document, or edits of a
// document of testdata/documents:
//
//	check document=small
//	/body/0/policy = "nope"     sets
//	/body/- = {…}               appends
//	/body/0/queue -             removes
//	----
//	error policy_unknown /body/0/policy (first): …
//
// Reserved kinds are allowed unless the story says runnable=(TASK), or released
// for what this release runs.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/check", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text := storyText(t, d)
			def, problems := Check(text, storyOptions(t, d))
			if (def == nil) != Refused(problems) {
				t.Fatalf("definition %v with problems %v", def != nil, problems)
			}
			return render(problems, d.HasArg("where"))
		})
	})
}

func storyText(t *testing.T, d *datadriven.TestData) []byte {
	if text := generated(d); text != "" {
		return []byte(text)
	}
	if !d.HasArg("document") {
		return []byte(strings.ReplaceAll(d.Input, `\x00`, "\x00"))
	}
	var name string
	d.ScanArgs(t, "document", &name)
	value := document(t, name)
	for _, line := range strings.Split(d.Input, "\n") {
		if strings.TrimSpace(line) != "" {
			value = edit(t, value, line)
		}
	}
	return value.Append(nil)
}

func storyOptions(t testing.TB, d *datadriven.TestData) Options {
	opts := Options{AllowUnsupported: !d.HasArg("runnable") && !d.HasArg("released")}
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "runnable":
			opts.Runnable = map[Kind]bool{}
			for _, kind := range arg.Vals {
				opts.Runnable[Kind(kind)] = true
			}
		case "children":
			small := accepted(t, "small")
			opts.Children = func(name string, version int64) (*Definition, bool) {
				return small, name == small.Name && version == small.Version
			}
		case "queues":
			known := arg.Vals
			opts.Queues = func(name string) bool { return contains(known, name) }
		}
	}
	return opts
}

// render prints findings by pointer; where adds line and column, which say
// something only about a document written out in the story.
func render(problems []Problem, where bool) string {
	var b strings.Builder
	for _, p := range problems {
		severity := "error"
		if p.Warning {
			severity = "warning"
		}
		if where {
			fmt.Fprintf(&b, "%d:%d ", p.Line, p.Column)
		}
		fmt.Fprintf(&b, "%s %s %s", severity, p.Code, p.Pointer)
		if p.Offset >= 0 {
			fmt.Fprintf(&b, "@%d", p.Offset)
		}
		if p.Step != "" {
			fmt.Fprintf(&b, " (%s)", p.Step)
		}
		fmt.Fprintf(&b, ": %s\n", p.Detail)
		if p.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", p.Hint)
		}
	}
	if len(problems) == 0 {
		return "accepted\n"
	}
	return b.String()
}

func document(t testing.TB, name string) exact.Value {
	value, err := exact.Parse(documentText(t, name), exact.PayloadLimits)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

func documentText(t testing.TB, name string) []byte {
	text, err := os.ReadFile(filepath.Join("testdata", "documents", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// generated writes the documents no story wants to spell out.
func generated(d *datadriven.TestData) string {
	timer := func(i int) string { return fmt.Sprintf(`{"name": "t%d", "kind": "TIMER", "delay_ms": 1}`, i) }
	var nodes []string
	contracts := `"any": {}`
	for _, arg := range d.CmdArgs {
		n := 0
		if len(arg.Vals) == 1 {
			n, _ = strconv.Atoi(arg.Vals[0])
		}
		switch arg.Key {
		case "deep":
			return strings.Repeat("[", 65) + strings.Repeat("]", 65)
		case "bom":
			return "\xef\xbb\xbf{}"
		case "large":
			return `"` + strings.Repeat("x", 256<<10) + `"`
		case "nodes":
			for i := range n {
				nodes = append(nodes, timer(i))
			}
		case "nested":
			node := timer(0)
			for i := 1; i < n; i++ {
				node = fmt.Sprintf(`{"name": "s%d", "kind": "SCOPE", "compensation_deadline_ms": 1, "body": [%s]}`, i, node)
			}
			nodes = append(nodes, node)
		case "expressions":
			list := strings.TrimSuffix(strings.Repeat(`"${input}",`, n), ",")
			nodes = append(nodes, `{"name": "t", "kind": "TASK", "queue": "q", "handler": "h", "handler_version": "1", "input": [`+list+`],
				"input_contract": "any", "output_contract": "any", "policy": "p", "business_key": null, "resource_key": null}`)
		case "contracts":
			for i := range n {
				contracts += fmt.Sprintf(`, "c%d": {}`, i)
			}
			nodes = append(nodes, timer(0))
		case "queues_used":
			for i := range n {
				nodes = append(nodes, fmt.Sprintf(`{"name": "t%d", "kind": "TASK", "queue": "q%d", "handler": "h", "handler_version": "1",
					"input": null, "input_contract": "any", "output_contract": "any", "policy": "p", "business_key": null, "resource_key": null}`, i, i))
			}
		}
	}
	if nodes == nil {
		return ""
	}
	return `{"schema_version": 1, "definition": "generated", "version": 1, "input_contract": "any", "output_contract": "any",
		"deadline_ms": 3600000, "on_failure": "REVIEW", "contracts": {` + contracts + `}, "policies": {"p": {"priority": 5, "deadline_ms": 2,
		"attempt_timeout_ms": 1, "lost": "RETRY", "retry": {"kind": "LIST", "max_attempts": 1, "delays_ms": [], "jitter_percent": 0}}},
		"body": [` + strings.Join(nodes, ",") + `], "output": null}`
}

// edit applies one line of a story.
func edit(t testing.TB, v exact.Value, line string) exact.Value {
	pointer, rest, _ := strings.Cut(line, " ")
	segments := strings.Split(pointer, "/")[1:]
	if rest == "-" {
		return put(t, v, segments, nil)
	}
	text := strings.TrimPrefix(rest, "= ")
	one, err := exact.Parse([]byte(text), exact.PayloadLimits)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return put(t, v, segments, &one)
}

// put returns v with the value at a path replaced, appended or removed.
func put(t testing.TB, v exact.Value, path []string, value *exact.Value) exact.Value {
	if len(path) == 0 {
		return *value
	}
	next := func(old exact.Value) []exact.Value {
		if len(path) == 1 && value == nil {
			return nil
		}
		return []exact.Value{put(t, old, path[1:], value)}
	}
	if v.Kind() == exact.KindArray {
		var items []exact.Value
		for i, item := range v.Items() {
			if strconv.Itoa(i) == path[0] {
				items = append(items, next(item)...)
				continue
			}
			items = append(items, item)
		}
		if path[0] == "-" {
			items = append(items, next(exact.Null())...)
		}
		return exact.Array(items...)
	}
	return putMember(v, path[0], next)
}

func putMember(v exact.Value, name string, next func(exact.Value) []exact.Value) exact.Value {
	var members []exact.Member
	found := false
	for _, m := range v.Members() {
		if m.Name != name {
			members = append(members, m)
			continue
		}
		found = true
		for _, one := range next(m.Value) {
			members = append(members, exact.Field(name, one))
		}
	}
	if !found {
		for _, one := range next(exact.Null()) {
			members = append(members, exact.Field(name, one))
		}
	}
	return exact.Object(members...)
}
