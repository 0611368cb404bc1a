package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

func contractOf(t *testing.T, text string) *contract.Contract {
	t.Helper()
	c, problems := contract.Compile(parseJSON(t, text))
	if len(problems) > 0 {
		t.Fatalf("%s: %+v", text, problems)
	}
	return c
}

// describe writes problems as the corpus shows them.
func describe(problems []Problem) (lines []string) {
	for _, p := range problems {
		severity := "error"
		if p.Warning {
			severity = "warning"
		}
		place := p.Pointer
		if p.Offset >= 0 {
			place += fmt.Sprintf("@%d", p.Offset)
		}
		line := severity + " " + p.Code + " " + place
		if p.Hint != "" {
			line += " " + p.Hint
		}
		lines = append(lines, line)
	}
	return lines
}

// TestCheckCorpus also holds the checker to its word: whatever it lets pass
// without a warning evaluates on data that satisfies the contracts. That half
// is TestCheckedExpressionsEvaluate.
func TestCheckCorpus(t *testing.T) {
	var env TypeEnv
	var want *contract.Contract
	let := func(line string) {
		root, text, _ := strings.Cut(strings.TrimPrefix(line, "let "), " ")
		c := contractOf(t, text)
		switch name, isStep := strings.CutPrefix(root, "steps."); {
		case isStep:
			env.Steps[name] = c
		case root == "want":
			want = c
		default:
			env, want = TypeEnv{Input: c, Steps: map[string]*contract.Contract{}}, nil
		}
	}
	cases := runCorpus(t, "testdata/check/*.txt",
		func(line string) bool { return strings.HasPrefix(line, "let ") }, let,
		func(line string) string {
			source, isTemplate := strings.CutPrefix(line, "template ")
			v := exact.String("${" + line + "}")
			if isTemplate {
				v = parseJSON(t, source)
			}
			template, problems := ParseTemplate(v, "")
			if len(problems) > 0 {
				return strings.Join(describe(problems), "\n")
			}
			kind, problems := template.Check(env, want)
			for _, p := range problems {
				if p.Detail == "" {
					t.Errorf("%s: %s has no detail", line, p.Code)
				}
			}
			lines := describe(problems)
			if !Refused(problems) {
				lines = append([]string{kind.Types.String()}, lines...)
			}
			return strings.Join(lines, "\n")
		})
	t.Logf("%d cases", cases)
}
