package expr

import (
	"fmt"
	"strings"
	"testing"
)

func TestExplainTellsEachStepTaken(t *testing.T) {
	x, problems := ParseExpression("has(input.a) && input.a * 1.19 > 100 ? 'much' : (input.none ?? 'little')")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tell := func(data string) string {
		var out []string
		for _, p := range x.Explain(&Scope{Input: parseJSON(t, data)}) {
			if p.Err != nil {
				out = append(out, p.Text+": "+p.Err.Reason)
				continue
			}
			out = append(out, fmt.Sprintf("%s = %s", p.Text, p.Value))
		}
		return strings.Join(out, "\n")
	}
	whole := x.String()
	for data, want := range map[string]string{
		`{"a":120.50}`: "has(input.a) = true\ninput.a = 120.50\ninput.a * 1.19 = 143.395\ninput.a * 1.19 > 100 = true\nhas(input.a) && input.a * 1.19 > 100 = true\n" + whole + ` = "much"`,
		`{}`:           "has(input.a) = false\nhas(input.a) && input.a * 1.19 > 100 = false\n(input.none ?? 'little') = \"little\"\n" + whole + ` = "little"`,
		`{"a":"x"}`:    "has(input.a) = true\ninput.a = \"x\"\ninput.a * 1.19: expression_type_mismatch\ninput.a * 1.19 > 100: expression_type_mismatch\nhas(input.a) && input.a * 1.19 > 100: expression_type_mismatch\n" + whole + ": expression_type_mismatch",
	} {
		if got := tell(data); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", data, got, want)
		}
	}
}
