package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// drawContract writes a contract of the subset. Most draws make sense, some
// contradict themselves and are refused by Compile.
func drawContract(t *rapid.T, depth int) string {
	pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "pick") }
	var parts []string
	put := func(name string, texts ...string) {
		if rapid.IntRange(0, 3).Draw(t, "use") == 0 {
			parts = append(parts, `"`+name+`":`+pick(texts...))
		}
	}
	put("type", `"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `["integer","null"]`, `["string","boolean"]`, `["object","array","number"]`)
	put("enum", `[1,"a",null]`, `[[1,2.0],{"a":1}]`, `[true,0.5,"é"]`)
	put("const", `1.0`, `"a"`, `{"a":[1]}`, `null`)
	put("minLength", `1`, `2.0`)
	put("maxLength", `1`, `3`)
	put("pattern", `"^a"`, `"^[a-c]{1,2}$"`, `"\\d+"`, `"^(?:é|b)*$"`, `"[^a]"`)
	put("minimum", `0`, `-1.5`, `1e2`)
	put("maximum", `10`, `0.30`)
	put("exclusiveMinimum", `0`, `1`)
	put("exclusiveMaximum", `3`, `1e3`)
	put("multipleOf", `0.1`, `2`, `1.5`)
	put("minItems", `1`, `2`)
	put("maxItems", `1`, `2`)
	put("minProperties", `1`)
	put("maxProperties", `1`, `2`)
	put("required", `["a"]`, `["a","b"]`, `[]`)
	if depth == 0 {
		put("additionalProperties", `false`, `true`)
		return "{" + strings.Join(parts, ",") + "}"
	}
	inner := func() string { return drawContract(t, depth-1) }
	put("items", inner())
	put("additionalProperties", `false`, inner())
	put("properties", `{"a":`+inner()+`,"c":`+inner()+`}`)
	return "{" + strings.Join(parts, ",") + "}"
}

func drawValue(t *rapid.T, depth int) string {
	pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "pick") }
	kinds := 2
	if depth == 0 {
		kinds = 0
	}
	switch rapid.IntRange(-2, kinds).Draw(t, "kind") {
	case 1:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawValue(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case 2:
		var members []string
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3, rapid.ID[string]).Draw(t, "names") {
			members = append(members, `"`+name+`":`+drawValue(t, depth-1))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return pick(`1`, `1.0`, `0`, `-0.0`, `0.3`, `2`, `3`, `10`, `100.5`, `1e2`, `"a"`, `"ab"`, `"é"`, `""`, `"a1"`, `"bbbb"`, `null`, `true`, `false`)
}

// oracle compiles the same text with a library that implements the standard in
// full and knows nothing of ours.
func oracle(t *rapid.T, text string) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:contract", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("mem:contract")
	if err != nil {
		t.Fatalf("the standard refuses what the subset accepts: %v\n%s", err, text)
	}
	return schema
}

// TestMeansTheSameAsJSONSchema: a contract the subset accepts is a JSON Schema
// and says the same about every value; and its static types cover every value
// it accepts.
func TestMeansTheSameAsJSONSchema(t *testing.T) {
	verdicts := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		text, data := drawContract(t, 2), drawValue(t, 3)
		v, _ := exact.Parse([]byte(text), exact.PayloadLimits)
		c, problems := Compile(v)
		if len(problems) > 0 {
			verdicts["refused"]++
			return
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		judged := oracle(t, text).Validate(doc)
		value, _ := exact.Parse([]byte(data), exact.PayloadLimits)
		found := c.Validate(value)
		verdicts[fmt.Sprint("valid ", judged == nil)]++
		if (judged == nil) != (len(found) == 0) {
			t.Fatalf("contract %s\nvalue %s\nours %v\nstandard %v", text, data, found, judged)
		}
		if len(found) == 0 && !c.Types().Has(TypeOf(value)) {
			t.Fatalf("contract %s accepts %s but its types are %s", text, data, c.Types())
		}
	})
	t.Logf("%v", verdicts)
}
