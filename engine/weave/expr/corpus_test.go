package expr

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/exact"
)

// The corpus is frozen: a changed result is a changed language. -rewrite
// exists for new cases only; read the difference before committing it.
var rewrite = flag.Bool("rewrite", false, "write the results found into the corpus files")

func parseJSON(t *testing.T, text string) exact.Value {
	t.Helper()
	v, err := exact.Parse([]byte(text), exact.PayloadLimits)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// runCorpus answers every left-margin line of every file with lines behind a
// tab and compares. Lines that begin with a setting ("data …") are passed to
// set and have no answer.
func runCorpus(t *testing.T, pattern string, isSetting func(string) bool, set func(string), answer func(string) string) int {
	t.Helper()
	files, _ := filepath.Glob(pattern)
	if len(files) == 0 {
		t.Fatalf("no files match %s", pattern)
	}
	cases := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			switch {
			case strings.HasPrefix(line, "\t"):
				continue
			case line == "" || line[0] == '#':
				out = append(out, line)
				continue
			case isSetting(line):
				set(line)
				out = append(out, line)
				continue
			}
			cases++
			var want []string
			for _, w := range lines[i+1:] {
				if !strings.HasPrefix(w, "\t") {
					break
				}
				want = append(want, w[1:])
			}
			got := answer(line)
			if got != strings.Join(want, "\n") && !*rewrite {
				t.Errorf("%s:%d: %s\n  got  %s\n  want %s", file, i+1, line, got, strings.Join(want, "\n       "))
			}
			out = append(out, line, "\t"+strings.ReplaceAll(got, "\n", "\n\t"))
		}
		if *rewrite {
			if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return cases
}

// scopeOf reads the scope a data line describes.
func scopeOf(data exact.Value) *Scope {
	pointer := func(name string) *exact.Value {
		if v, ok := data.Get(name); ok {
			return &v
		}
		return nil
	}
	s := &Scope{Steps: map[string]exact.Value{}, Result: pointer("result"), Signal: pointer("signal"), Item: pointer("item")}
	s.Input, _ = data.Get("input")
	s.Instance, _ = data.Get("instance")
	if steps, ok := data.Get("steps"); ok {
		for _, m := range steps.Members() {
			s.Steps[m.Name] = m.Value
		}
	}
	if index, ok := data.Get("index"); ok {
		n, _ := exact.DecimalOf(index).Int64()
		s.Index = int(n)
	}
	return s
}

func evaluate(text string, scope *Scope) string {
	x, problems := ParseExpression(text)
	if len(problems) > 0 {
		return "refused " + problems[0].Code
	}
	v, omitted, err := x.Eval(scope, BudgetMax)
	switch {
	case err != nil:
		return strings.Join(strings.Fields("error "+err.Reason+" "+err.Path+" "+err.Found), " ")
	case omitted:
		return "omit"
	}
	return v.String()
}

func TestExpressionCorpus(t *testing.T) {
	var scope *Scope
	cases := runCorpus(t, "testdata/expression/*.txt",
		func(line string) bool { return strings.HasPrefix(line, "data ") },
		func(line string) { scope = scopeOf(parseJSON(t, line[len("data "):])) },
		func(line string) string { return evaluate(line, scope) })
	if cases < 150 {
		t.Errorf("the corpus has only %d cases", cases)
	}
	t.Logf("%d cases", cases)
}
