package expr

import (
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/exact"
)

func benchTemplate(b *testing.B, source, data string, want string) {
	v, err := exact.Parse([]byte(source), exact.PayloadLimits)
	if err != nil {
		b.Fatal(err)
	}
	tpl, problems := ParseTemplate(v, "")
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	input, err := exact.Parse([]byte(data), exact.PayloadLimits)
	if err != nil {
		b.Fatal(err)
	}
	scope := &Scope{Input: input}
	b.ReportAllocs()
	for b.Loop() {
		_, err := tpl.Eval(scope, BudgetMax)
		if got := reasonOf(err); got != want {
			b.Fatalf("%q, want %q", got, want)
		}
	}
}

func reasonOf(err *EvalError) string {
	if err == nil {
		return ""
	}
	return err.Reason
}

// BenchmarkEval is a usual task input.
func BenchmarkEval(b *testing.B) {
	benchTemplate(b, `{"order_id":"${input.order_id}","dear":"${input.way == 'EXPRESS' && input.total * 1.19 >= 50.00}","key":"${concat('order/', input.order_id)}","note":"${input.note ?? omit}"}`,
		`{"way":"EXPRESS","total":120.50,"order_id":"o-1","note":null}`, "")
}

// BenchmarkWorstNumbers and BenchmarkWorstStrings spend a whole budget on the
// dearest work a unit can buy: they bound how long one template can hold a
// plan.
func BenchmarkWorstNumbers(b *testing.B) {
	member := `"${0 in input.nums}"`
	benchTemplate(b, "["+strings.Repeat(member+",", 20)+member+"]", `{"nums":[`+strings.Repeat("1,", 100_000)+`1]}`, ReasonBudget)
}

func BenchmarkWorstStrings(b *testing.B) {
	member := `"${contains(input.s, concat(input.p, 'c'))}"`
	benchTemplate(b, "["+strings.Repeat(member+",", 20)+member+"]", `{"s":"`+strings.Repeat("ab", 60_000)+`","p":"`+strings.Repeat("ab", 500)+`"}`, ReasonBudget)
}
