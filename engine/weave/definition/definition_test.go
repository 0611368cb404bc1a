package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"
)

var everyKind = Options{AllowUnsupported: true}

func accepted(t testing.TB, name string) *Definition {
	t.Helper()
	def, problems := Check(documentText(t, name), everyKind)
	if def == nil {
		t.Fatalf("%s: %v", name, problems)
	}
	return def
}

// TestViews prints what other packages read from an accepted document.
func TestViews(t *testing.T) {
	datadriven.Walk(t, "testdata/view", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			def := accepted(t, strings.TrimSpace(d.Input))
			switch d.Cmd {
			case "graph":
				return string(Mermaid(def))
			case "steps":
				var b strings.Builder
				for _, s := range def.Flatten() {
					fmt.Fprintf(&b, "%d %s %s parent=%d part=%d position=%d\n", s.Number, s.Name, s.Kind, s.Parent, s.Part, s.Position)
				}
				return b.String()
			case "digest":
				return fmt.Sprintf("%x\n", def.Digest)
			case "queues":
				return strings.Join(def.Queues(), " ") + "\n"
			}
			t.Fatalf("no command %s", d.Cmd)
			return ""
		})
	})
}

// TestEveryCodeHasAStory keeps the table honest: a code nobody can provoke is
// a promise nobody keeps.
func TestEveryCodeHasAStory(t *testing.T) {
	stories := ""
	for _, pattern := range []string{"testdata/check/*.txt", "../../../cmd/orbit/internal/yamljson/testdata/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			stories += strings.ReplaceAll(string(text), " yaml_", " error yaml_")
		}
	}
	for _, code := range Codes {
		severity := "error "
		if code.Warning {
			severity = "warning "
		}
		if !strings.Contains(stories, severity+code.Name) {
			t.Errorf("no story shows %s%s", severity, code.Name)
		}
	}
}

func TestNearestFindsSlipsAndNothingElse(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"handler_verison", "handler_version"}, {"hander", "handler"}, {"TSAK", "task"}, {"queue", "queue"}, {"quue", "queue"},
		{"policy_name", ""}, {"retries", ""}, {"x", ""}, {strings.Repeat("q", 70), ""},
	} {
		if got := nearest(c.name, []string{"handler", "handler_version", "queue", "policy", "task"}); got != c.want {
			t.Errorf("nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[ab]{0,9}`).Draw(t, "a"), rapid.StringMatching(`[ab]{0,9}`).Draw(t, "b")
		exact, bounded := editDistance(a, b, 20), editDistance(a, b, 3)
		if bounded != exact && (bounded <= 3 || exact <= 3) {
			t.Fatalf("distance(%q, %q) = %d, within 3 edits %d", a, b, exact, bounded)
		}
	})
}

func TestGraphWordsNeverNameNodes(t *testing.T) {
	for _, word := range []string{"end", "graph", "subgraph", "flowchart", "style", "class", "click", "call", "href", "interpolate"} {
		if MermaidID(word) == word {
			t.Errorf("a step named %s breaks the chart", word)
		}
	}
	if MermaidID("ending") != "ending" {
		t.Error("an ordinary name changed")
	}
}

func TestLoadKeepsTheMeaningAndChecksTheDigest(t *testing.T) {
	text := documentText(t, "document_conversion")
	checked := accepted(t, "document_conversion")
	loaded, err := Load(text, checked.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(loaded.Flatten()[1:2], loaded.Queues()), fmt.Sprint(checked.Flatten()[1:2], checked.Queues()); len(got) != len(want) {
		t.Errorf("loaded %s, checked %s", got, want)
	}
	if string(Mermaid(loaded)) != string(Mermaid(checked)) {
		t.Error("loading changed the graph")
	}
	changed := []byte(strings.Replace(string(text), "30000", "30001", 1))
	if _, err := Load(changed, checked.Digest); !errors.Is(err, ErrDigest) {
		t.Errorf("a changed text was loaded: %v", err)
	}
	spaced := []byte(strings.ReplaceAll(string(text), ", \"", " ,\n\""))
	if _, err := Load(spaced, checked.Digest); err != nil {
		t.Errorf("white space changed the digest: %v", err)
	}
}

// TestSchemaNamesEveryField compares the printed schema with the table it
// comes from.
func TestSchemaNamesEveryField(t *testing.T) {
	var schema struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, kind := range Kinds {
		for _, f := range nodeFields(string(kind)) {
			if !strings.Contains(string(schema.Defs["node"]), `"`+f.name+`":`) {
				t.Errorf("the schema of %s lacks %s", kind, f.name)
			}
		}
	}
	for _, ref := range strings.Split(string(Schema()), `"#/$defs/`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		if schema.Defs[name] == nil {
			t.Errorf("the schema refers to %s, which it lacks", name)
		}
	}
}
