package shape

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orbitrun/orbit/engine/exact"
)

func node(t *testing.T, schema string) (*Node, error) {
	t.Helper()
	text := "openapi: 3.0.3\ninfo: {title: t, version: '1'}\npaths: {}\ncomponents: {schemas: {S: " + schema + "}}\n"
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Compile(doc.Components.Schemas["S"])
}

// A rule that would not be enforced must not be written.
func TestUnknownRulesAreRefused(t *testing.T) {
	for _, schema := range []string{
		`{type: object, properties: {}}`, `{oneOf: [{type: string}]}`, `{type: number}`, `{type: integer, multipleOf: 2}`,
		`{type: string, nullable: true}`, `{type: integer, enum: [1]}`, `{type: string, pattern: "("}`,
		`{type: array, items: {type: object, additionalProperties: true}}`,
	} {
		if _, err := node(t, schema); err == nil {
			t.Errorf("compiled %s", schema)
		}
	}
}

func TestFaultsAreNamedInOrderAndBounded(t *testing.T) {
	n, err := node(t, `{type: object, additionalProperties: false, required: [z, a], properties: {a: {type: array, maxItems: 40, items: {type: integer, minimum: 1}}, z: {type: boolean}}}`)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) []string {
		v, bad := exact.Parse([]byte(text), exact.PayloadLimits)
		if bad != nil {
			t.Fatal(bad)
		}
		var out []string
		for _, f := range n.Check(v).Faults {
			out = append(out, f.Code+" "+f.Pointer)
		}
		return out
	}
	for text, want := range map[string][]string{
		`{"z":true,"a":[]}`:              nil,
		`{"a":[1,0,1.5,"x"],"q/~":1}`:    {"field_range /a/1", "field_type /a/2", "field_type /a/3", "field_unknown /q~1~0", "field_missing /z"},
		`{"a":{},"z":null}`:              {"field_type /a", "field_type /z"},
		`[{"a":1}]`:                      {"field_type "},
		`{"z":false,"a":[1e400, -0, 1]}`: {"field_type /a/0", "field_range /a/1"},
	} {
		got := check(text)
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", text, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	}
	many := `{"z":true,"a":[0`
	for range 39 {
		many += ",0"
	}
	if got := check(many + "]}"); len(got) != faultsMax {
		t.Errorf("%d faults of one request", len(got))
	}
}
