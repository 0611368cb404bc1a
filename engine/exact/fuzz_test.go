package exact

import (
	"encoding/json"
	"testing"
)

// FuzzParse holds three promises on any bytes: no panic; an accepted text is
// JSON to the standard library too and survives a round trip; a text the
// standard library accepts is refused only for a reason beyond the grammar.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.50,-0,1e5],"b":"\ud83d\udca5"}`, `{"a":1,"a":2}`, `[[[[]]]]`, "\"\xff\"", `"\ud800"`, `1e999999999`,
		`{"":{"":{}}}`, ` [ true , false , null ] `, "\ufeff{}", `"\u0000"`, `01`, `[1,]`, `{"a"}`, `-`, `0.1e+`, `"abc`,
	} {
		f.Add([]byte(seed))
	}
	beyondGrammar := map[string]bool{CodeDuplicateKey: true, CodeDepth: true, CodeEncoding: true, CodeTooLarge: true, CodeNumberRange: true}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text, PayloadLimits)
		if err != nil {
			if json.Valid(text) && !beyondGrammar[err.Code] {
				t.Fatalf("JSON refused: %v", err)
			}
			if err.Offset < 0 || err.Offset > len(text) || err.Detail == "" {
				t.Fatalf("misplaced error %v", err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("accepted what is not JSON: %q", text)
		}
		out := v.Append(nil)
		back, err := Parse(out, Limits{SizeBytesMax: 2 * PayloadLimits.SizeBytesMax, DepthMax: PayloadLimits.DepthMax})
		if err != nil || back.Digest() != v.Digest() || v.Size() != len(out) {
			t.Fatalf("no round trip: %q became %q (%v)", text, out, err)
		}
	})
}
