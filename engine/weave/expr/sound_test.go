package expr

import (
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/exact"
	"pgregory.net/rapid"
)

const soundContract = `{"type":"object","additionalProperties":false,"required":["s","n","b","maybe","deep","tags"],"properties":{
 "s":{"type":"string"},"n":{"type":"number"},"b":{"type":"boolean"},"note":{"type":"string"},"maybe":{"type":["number","null"]},
 "way":{"enum":["A","B",null]},"mixed":{"type":["string","number"]},
 "deep":{"type":["object","null"],"required":["x"],"properties":{"x":{"type":"boolean"},"y":{"type":["object","null"],"properties":{"z":{"type":"number"}}}}},
 "tags":{"type":"array","minItems":1,"items":{"type":["string","null"]}},"nums":{"type":"array","items":{"type":"number"}}}}`

// soundData draws a value that satisfies soundContract.
func soundData(t *rapid.T) exact.Value {
	pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "pick") }
	var members []string
	put := func(name string, texts ...string) {
		if text := pick(texts...); text != "" {
			members = append(members, `"`+name+`":`+text)
		}
	}
	put("s", `""`, `"a"`, `"💥b"`)
	put("n", `0`, `-0.0`, `1.50`, `9e399`, `-7`)
	put("b", `true`, `false`)
	put("note", ``, `"n"`)
	put("maybe", `null`, `2`)
	put("way", ``, `"A"`, `null`)
	put("mixed", ``, `"m"`, `3`)
	put("deep", `null`, `{"x":true}`, `{"x":false,"y":null}`, `{"x":true,"y":{}}`, `{"x":true,"y":{"z":4}}`)
	put("tags", `["a"]`, `[null]`, `["b",null,"a"]`)
	put("nums", ``, `[]`, `[1,2.0]`)
	v, err := exact.Parse([]byte("{"+strings.Join(members, ",")+"}"), exact.PayloadLimits)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return v
}

var soundPaths = []string{"input", "input.s", "input.n", "input.b", "input.note", "input.maybe", "input.way", "input.mixed", "input.deep", "input.deep.x",
	"input.deep.y", "input.deep.y.z", "input.tags", "input.tags[0]", "input.tags[1]", "input.nums", "input.nums[0]", "input.typo"}

// soundExpression draws an expression of any shape; most are ill typed, which
// is half of the point.
func soundExpression(t *rapid.T, depth int) string {
	pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "pick") }
	path := func() string { return rapid.SampledFrom(soundPaths).Draw(t, "path") }
	sub := func() string { return soundExpression(t, depth-1) }
	if depth == 0 {
		return pick("1", "0.5", "'a'", "true", "null", path(), path(), path()+" ?? 1", path()+" ?? 'a'", "must("+path()+")", "has("+path()+")", path()+" != null")
	}
	switch rapid.IntRange(0, 9).Draw(t, "shape") {
	case 0:
		return "(" + sub() + pick(" + ", " - ", " * ") + sub() + ")"
	case 1:
		return "(" + sub() + pick(" == ", " != ", " < ", " >= ") + sub() + ")"
	case 2:
		return "(" + sub() + pick(" && ", " || ") + sub() + ")"
	case 3:
		return "(" + sub() + " ? " + sub() + " : " + sub() + ")"
	case 4:
		return pick("!", "-") + "(" + sub() + ")"
	case 5:
		return pick("size", "text", "concat") + "(" + sub() + ")"
	case 6:
		return "(" + sub() + " in " + pick("['a', null]", "[1, 2]", path()) + ")"
	case 7:
		p := path()
		return "(" + pick("has("+p+")", p+" != null", "has("+p+") && "+p+" != null") + pick(" && ", " ? ") + p + pick(" == 'a'", " == 1", "", "") + pick("", " : 0") + ")"
	case 8:
		return pick("startsWith", "contains") + "(" + sub() + ", " + sub() + ")"
	}
	return path() + " ?? (" + sub() + ")"
}

// TestCheckedExpressionsEvaluate is the checker's promise: what it accepts
// without a path_unchecked warning fails on no data that satisfies the
// contracts, except where the author asked for it (must) or where the size of
// a number decides.
func TestCheckedExpressionsEvaluate(t *testing.T) {
	env := TypeEnv{Input: contractOf(t, soundContract)}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		text := soundExpression(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		tpl, problems := ParseTemplate(exact.String("${"+text+"}"), "")
		if len(problems) > 0 {
			return
		}
		kind, problems := tpl.Check(env, nil)
		if Refused(problems) {
			return
		}
		accepted++
		data := soundData(t)
		if found := env.Input.Validate(data); len(found) > 0 {
			t.Fatalf("the data breaks its contract: %v", found)
		}
		v, err := tpl.Eval(&Scope{Input: data}, BudgetMax)
		switch {
		case err == nil && kind.Types&(1<<v.Kind()) == 0:
			t.Fatalf("%s is %s, the checker said %s\n%s", text, v.Kind(), kind.Types, data)
		case err == nil || err.Reason == ReasonNumberRange:
		case err.Reason == ReasonPathMissing && strings.Contains(text, "must(") && strings.HasPrefix(text[err.Offset:], err.Path) && strings.HasSuffix(text[:err.Offset], "must("):
		default:
			t.Fatalf("accepted, but %v\n%s\n%s", err, text, data)
		}
	})
	if accepted == 0 {
		t.Error("no expression was accepted")
	}
	t.Logf("%d accepted", accepted)
}

// FuzzExpression: no text panics the parser, the checker or the evaluator, and
// every refusal is placed inside the text.
func FuzzExpression(f *testing.F) {
	for _, seed := range append(soundPaths, "1 + 2 * 3 == 7 && !has(input.x)", "input.a ?? omit", "x in ['a', -1]", "'\\ud83d\\udca5'", "concat('a', text(1e3))", "((", "a ? b : c", "input[\"k\"][0]", "?? ?", "-", "1e", "'") {
		f.Add(seed)
	}
	data, _ := exact.Parse([]byte(`{"s":"a","n":1,"b":true,"maybe":null,"deep":null,"tags":["a"]}`), exact.PayloadLimits)
	f.Fuzz(func(t *testing.T, text string) {
		x, problems := ParseExpression(text)
		if x == nil {
			if len(problems) != 1 || problems[0].Offset < 0 || problems[0].Offset > len(text) || problems[0].Detail == "" {
				t.Fatalf("%q: %+v", text, problems)
			}
			return
		}
		first, _, err := x.Eval(&Scope{Input: data}, BudgetMax)
		again, _, errAgain := x.Eval(&Scope{Input: data}, BudgetMax)
		if (err == nil) != (errAgain == nil) || !exact.Same(first, again) {
			t.Fatalf("%q evaluates differently the second time", text)
		}
		if tpl, problems := ParseTemplate(exact.Object(exact.Field("k", exact.String("${"+text+"}"))), ""); len(problems) == 0 {
			tpl.Check(TypeEnv{}, nil)
		}
	})
}
