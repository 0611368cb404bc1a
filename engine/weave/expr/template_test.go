package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

func template(t *testing.T, text string) *Template {
	t.Helper()
	out, problems := ParseTemplate(parseJSON(t, text), "/body/0/input")
	if len(problems) > 0 {
		t.Fatalf("%s: %+v", text, problems)
	}
	return out
}

// The four rules of section 4.1, with data that looks like expressions: data
// is never scanned.
func TestTemplateStrings(t *testing.T) {
	scope := &Scope{Input: parseJSON(t, `{"a":1.50,"evil":"${input.a}","dollar":"$${x}"}`)}
	for text, want := range map[string]string{
		`"${input.a}"`:                      `1.50`,
		`"plain"`:                           `"plain"`,
		`"$5 and {braces}"`:                 `"$5 and {braces}"`,
		`"$${HOME}"`:                        `"${HOME}"`,
		`"a $$${b} $$"`:                     `"a $${b} $$"`,
		`"$$"`:                              `"$$"`,
		`"${input.evil}"`:                   `"${input.a}"`,
		`"${input.dollar}"`:                 `"$${x}"`,
		`"${'$${x}'}"`:                      `"$${x}"`,
		`["${input.a}",{"k":"$${v}"}]`:      `[1.50,{"k":"${v}"}]`,
		`{"b":2.0,"a":"${input.a}","c":[]}`: `{"b":2.0,"a":1.50,"c":[]}`,
		`{"x":"${input.none ?? omit}"}`:     `{}`,
		`{"x":"${has(input.a) ? omit : 1}","y":null}`: `{"y":null}`,
	} {
		v, err := template(t, text).Eval(scope, BudgetMax)
		if err != nil || v.String() != want {
			t.Errorf("%s = %s (%v), want %s", text, v, err, want)
		}
	}
}

func TestTemplateRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`"order ${input.a}"`:            "template_interpolation /t",
		`"${input.a} "`:                 "template_interpolation /t",
		`"${"`:                          "template_interpolation /t",
		`"$${a} ${b}"`:                  "template_interpolation /t",
		`"${}"`:                         "expression_syntax /t@0",
		`"${a}-${b}"`:                   "expression_syntax /t@1",
		`"${input.a}-${input.b}"`:       "expression_syntax /t@7",
		`{"${input.a}":1}`:              "template_key_expression /t/${input.a}",
		`["${input.a ?? omit}"]`:        "template_omit /t/0",
		`"${input.a ?? omit}"`:          "template_omit /t",
		`{"a":["x ${y}"],"b":"${1 +}"}`: "template_interpolation /t/a/0; expression_syntax /t/b@3",
	} {
		out, problems := ParseTemplate(parseJSON(t, text), "/t")
		var got []string
		for _, line := range describe(problems) {
			fields := strings.Fields(line)
			got = append(got, fields[1]+" "+fields[2])
		}
		if strings.Join(got, "; ") != want || out != nil {
			t.Errorf("%s: %s, want %s", text, strings.Join(got, "; "), want)
		}
	}
}

func TestConditions(t *testing.T) {
	env := TypeEnv{Input: contractOf(t, `{"type":"object","required":["a","b"],"properties":{"a":{"type":"number"},"b":{"type":"boolean"},"c":{"type":["boolean","null"]}}}`)}
	for text, want := range map[string]string{
		`"${input.a > 1}"`:           "",
		`"${input.b}"`:               "",
		`"${input.a}"`:               "type_mismatch",
		`"${input.c ?? null}"`:       "type_may_be_null",
		`"${1 < 2}"`:                 "condition_constant",
		`"${true}"`:                  "condition_constant",
		`"${1}"`:                     "type_mismatch",
		`"input.b"`:                  "condition_not_expression",
		`true`:                       "condition_not_expression",
		`{"a":"${input.b}"}`:         "condition_not_expression",
		`"${input.a} == ${input.b}"`: "expression_syntax",
	} {
		out, problems := ParseCondition(parseJSON(t, text), "/when")
		if out != nil {
			problems = out.CheckCondition(env)
		}
		var codes []string
		for _, p := range problems {
			codes = append(codes, p.Code)
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A condition's facts hold in the body of its case.
func TestFactsCarryIntoTheCase(t *testing.T) {
	env := TypeEnv{Input: contractOf(t, `{"type":"object","required":["m"],"properties":{"deputy":{"type":"string"},"m":{"type":["string","null"]},"deep":{"type":"object","properties":{"x":{"type":"string"}}}}}`)}
	when := template(t, `"${has(input.deputy) && input.m != null && has(input.deep.x)}"`)
	body := template(t, `{"who":"${input.deputy}","m":"${input.m}","x":"${input.deep.x}"}`)
	want := contractOf(t, `{"type":"object","required":["who","m","x"],"additionalProperties":{"type":"string"}}`)
	if _, problems := body.Check(env, want); len(problems) == 0 {
		t.Error("optional members were read without a guard")
	}
	if _, problems := body.Check(env.With(when.Facts()), want); len(problems) > 0 {
		t.Errorf("the guard was not believed: %+v", problems)
	}
	if _, problems := body.Check(env.With(when.Facts().Without(RootInput)), want); len(problems) == 0 {
		t.Error("a forgotten root is still known")
	}
	if _, problems := body.Check(env, nil); len(problems) == 0 {
		t.Error("With changed the environment it was called on")
	}
}

func TestRefsForTheScopeCheck(t *testing.T) {
	tpl := template(t, `{"a":"${steps.x.output.id ?? input.b}","c":["${has(signal.s) && index == 1}"],"d":5}`)
	var got []string
	for _, r := range tpl.Refs() {
		got = append(got, fmt.Sprintf("%s@%d-%d %s step=%s", r.Pointer, r.Offset, r.End, r.Path, r.Path.Step))
	}
	want := "/body/0/input/a@0-17 steps.x.output.id step=x\n/body/0/input/a@21-28 input.b step=\n/body/0/input/c/0@4-12 signal.s step=\n/body/0/input/c/0@17-22 index step="
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if tpl.ExpressionCount() != 2 {
		t.Errorf("%d expressions", tpl.ExpressionCount())
	}
}

func TestEvaluationErrorsArePlaced(t *testing.T) {
	scope := &Scope{Input: parseJSON(t, `{"a":"secret","n":5}`)}
	for text, want := range map[string]string{
		`{"x":{"y":"${1 + input.a}"}}`:         `expression_type_mismatch at "/body/0/input/x/y", byte 4: input.a is string`,
		`["${size(input.none)}"]`:              `expression_path_missing at "/body/0/input/0", byte 5: input.none is missing`,
		`"${must(input.n.x)}"`:                 `expression_type_mismatch at "/body/0/input", byte 5: input.n is number`,
		`{"a":1,"b":"${1e400 * input.n * 2}"}`: `expression_number_range at "/body/0/input/b", byte 0`,
	} {
		_, err := template(t, text).Eval(scope, BudgetMax)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the value", text)
		}
	}
}

func TestLimits(t *testing.T) {
	for text, ok := range map[string]bool{
		strings.Repeat("1+", 63) + "1":                                  true,  // 127 nodes
		strings.Repeat("1+", 64) + "1":                                  false, // 129 nodes
		"'" + strings.Repeat("a", 1022) + "'":                           true,
		"'" + strings.Repeat("a", 1023) + "'":                           false,
		strings.Repeat("!", 16) + "true":                                true,
		strings.Repeat("!", 17) + "true":                                false,
		"1 in [" + strings.Repeat("1,", 63) + "1]":                      true,
		"1 in [" + strings.Repeat("1,", 64) + "1]":                      false,
		strings.Repeat("input.a ?? ", 16) + "1":                         true,
		strings.Repeat("input.a ?? ", 17) + "1":                         false,
		strings.Repeat("true?1:", 17) + "1":                             false,
		strings.Repeat("(", 500) + strings.Repeat(")", 500):             false,
		strings.Repeat("concat(", 17) + "'a'" + strings.Repeat(")", 17): false,
	} {
		_, problems := ParseExpression(text)
		if ok != (len(problems) == 0) || !ok && problems[0].Code != CodeLimit {
			t.Errorf("%.40s…: %+v, want accepted %v", text, problems, ok)
		}
	}
}

func TestBudgetAndSize(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	scope := &Scope{Input: exact.Object(exact.Field("s", exact.String(long)), exact.Field("t", exact.String(long)),
		exact.Field("deep", parseJSON(t, strings.Repeat("[", 64)+strings.Repeat("]", 64))))}
	for text, want := range map[string]string{
		`"${input.s == input.t}"`:       "",
		`"${input.s}"`:                  "",
		`"${concat(input.s, input.s)}"`: ReasonTooLarge,
		`["${input.s}","${input.s}"]`:   ReasonTooLarge,
		`"${size(concat(input.s, input.s, input.s, input.s, input.s, input.s))}"`: ReasonBudget,
		`"${input.deep}"`:   "",
		`["${input.deep}"]`: ReasonTooLarge,
		`["${size(input.s)}","${size(input.s)}","${size(input.s)}","${size(input.s)}","${size(input.s)}","${size(input.s)}"]`: ReasonBudget,
	} {
		_, err := template(t, text).Eval(scope, BudgetMax)
		got := ""
		if err != nil {
			got = err.Reason
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if _, err := template(t, `"${1 + 1}"`).Eval(scope, 2); err == nil || err.Reason != ReasonBudget {
		t.Errorf("a budget of 2 paid for 3 nodes: %v", err)
	}
}

func TestCheckTypesOfKeysAndDelays(t *testing.T) {
	env := TypeEnv{Input: contractOf(t, `{"type":"object","required":["id","n"],"properties":{"id":{"type":"string"},"n":{"type":["integer","null"]}}}`)}
	for text, want := range map[string]string{
		`"${input.id}"`: "", `"literal"`: "", `5`: "type_mismatch -1", `"${input.n}"`: "type_mismatch -1", `"${concat('a/', input.id)}"`: "",
	} {
		_, problems := template(t, text).CheckTypes(env, contract.String)
		got := ""
		for _, p := range problems {
			got += fmt.Sprint(p.Code, " ", p.Offset)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if _, problems := template(t, `"${input.n ?? 1000}"`).CheckTypes(env, contract.Number); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
}
