package exact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func parse(t *testing.T, text string) Value {
	t.Helper()
	v, err := Parse([]byte(text), PayloadLimits)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return v
}

func TestParseKeepsWhatWasWritten(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-0`, `1.10`, `1E+2`, `9007199254740993`, `1e-400`, `9.99e400`,
		`""`, `"a\"b\\c\nd"`, `"é💥"`, `[]`, `{}`, `[1,[2,[]],{}]`, `{"b":1,"a":[true,null]}`, `"\u0001"`,
		`0.` + strings.Repeat("0", 399) + `1`, `1` + strings.Repeat("0", 400), strings.Repeat("9", 100),
	} {
		v := parse(t, text)
		if got := v.String(); got != text {
			t.Errorf("%s came back as %s", text, got)
		}
		if v.Size() != len(text) {
			t.Errorf("Size(%s) = %d, want %d", text, v.Size(), len(text))
		}
	}
	if got := parse(t, " [ \"\\ud83d\\uDCA5\\/\\u0041\" ,\r\n\t1 ] ").String(); got != `["💥/A",1]` {
		t.Errorf("escapes: %s", got)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		text, code, pointer string
		offset              int
	}{
		{``, CodeSyntax, "", 0},
		{`{"a":1,}`, CodeSyntax, "", 7},
		{`[1 2]`, CodeSyntax, "", 3},
		{`{"a":[1,{"b":tru}]}`, CodeSyntax, "/a/1/b", 13},
		{`{a:1}`, CodeSyntax, "", 1},
		{`{"a/~":}`, CodeSyntax, "/a~1~0", 7},
		{`01`, CodeSyntax, "", 1},
		{`+1`, CodeSyntax, "", 0},
		{`[.5]`, CodeSyntax, "/0", 1},
		{`[1.]`, CodeSyntax, "/0", 3},
		{`-`, CodeSyntax, "", 1},
		{`1e`, CodeSyntax, "", 2},
		{`NaN`, CodeSyntax, "", 0},
		{`"a` + "\n" + `"`, CodeSyntax, "", 2},
		{`"\x"`, CodeSyntax, "", 1},
		{`"\u12G4"`, CodeSyntax, "", 1},
		{`"abc`, CodeSyntax, "", 4},
		{`1 1`, CodeSyntax, "", 2},
		{"[\u00a01]", CodeSyntax, "/0", 1},
		{`{"a":{"k":1,"k":2}}`, CodeDuplicateKey, "/a/k", 12},
		{`{"k":1,"\u006b":2}`, CodeDuplicateKey, "/k", 7},
		{"\ufeff1", CodeEncoding, "", 0},
		{"[\"\xff\"]", CodeEncoding, "/0", 2},
		{"[\xff]", CodeEncoding, "/0", 1},
		{"\"\xed\xa0\x80\"", CodeEncoding, "", 1},
		{"\"\xc0\x80\"", CodeEncoding, "", 1},
		{"\"a\x00\"", CodeEncoding, "", 2},
		{"1\x00", CodeEncoding, "", 1},
		{`"\u0000"`, CodeEncoding, "", 1},
		{`"\ud800"`, CodeEncoding, "", 1},
		{`"\udc00\ud800"`, CodeEncoding, "", 1},
		{`"\ud800\u0041"`, CodeEncoding, "", 1},
		{`[1e401]`, CodeNumberRange, "/0", 1},
		{`1e-401`, CodeNumberRange, "", 0},
		{`0e401`, CodeNumberRange, "", 0},
		{`1e99999999999999999999999999999`, CodeNumberRange, "", 0},
		{`0.` + strings.Repeat("0", 400) + `1`, CodeNumberRange, "", 0},
		{strings.Repeat("9", 101), CodeNumberRange, "", 0},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), CodeDepth, strings.Repeat("/0", 64), 64},
		{`"` + strings.Repeat("a", 256<<10) + `"`, CodeTooLarge, "", 256 << 10},
	} {
		v, err := Parse([]byte(c.text), PayloadLimits)
		name := c.text[:min(len(c.text), 40)]
		switch {
		case err == nil:
			t.Errorf("%q was accepted as %s", name, v)
		case err.Code != c.code || err.Pointer != c.pointer || err.Offset != c.offset:
			t.Errorf("%q: %v; want %s at %q, byte %d", name, err, c.code, c.pointer, c.offset)
		case err.Detail == "":
			t.Errorf("%q: no detail", name)
		}
	}
}

func TestOffsetsAndLineColumn(t *testing.T) {
	text := []byte("{\n  \"é\": [1,\n    22]\n}")
	v, err := Parse(text, PayloadLimits)
	if err != nil {
		t.Fatal(err)
	}
	second := v.Members()[0].Value.Items()[1]
	if line, column := LineColumn(text, second.Offset()); line != 3 || column != 5 {
		t.Errorf("22 stands at %d:%d, want 3:5", line, column)
	}
	if line, column := LineColumn(text, v.Members()[0].Value.Offset()); line != 2 || column != 8 {
		t.Errorf("[ stands at %d:%d, want 2:8", line, column)
	}
	if at := v.Members()[0].NameOffset; text[at] != '"' || at != 4 {
		t.Errorf("name offset %d", at)
	}
}

func TestFindFollowsPointers(t *testing.T) {
	v := parse(t, `{"a/b":{"~":[10,20]},"":1}`)
	for pointer, want := range map[string]string{"/a~1b/~0/1": "20", "/": "1", "/a~1b/~0/2": "", "/a~1b/~0/01": "", "/x": "", "x": ""} {
		got := ""
		if found, ok := v.Find(pointer); ok {
			got = found.String()
		}
		if got != want {
			t.Errorf("Find(%q) = %q, want %q", pointer, got, want)
		}
	}
}

// The hostile texts are large enough that anything worse than linear work
// would be seen at once: 2 MB squared is an hour, linear is milliseconds.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	wide := Limits{SizeBytesMax: 16 << 20, DepthMax: 10_000}
	many := func(n int, name func(int) string) string {
		var b bytes.Buffer
		for i := range n {
			b.WriteString(`"` + name(i) + `":1,`)
		}
		return "{" + b.String() + `"":1}`
	}
	texts := map[string]string{
		"deep":         strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		"deep objects": strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
		"too deep":     strings.Repeat("[", 4<<20),
		"wide":         "[" + strings.Repeat("0,", 1<<20) + "0]",
		"many members": many(200_000, func(i int) string {
			return string(rune('a'+i%26)) + strings.Repeat("z", i%7) + json.Number(itoa(i)).String()
		}),
		"long zero":      "[1" + strings.Repeat("0", 4<<20) + "e-4194304]",
		"long fraction":  "1." + strings.Repeat("0", 4<<20),
		"long exponent":  "1e" + strings.Repeat("9", 4<<20),
		"escapes":        `"` + strings.Repeat(`\u0041`, 700_000) + `"`,
		"half surrogate": `"` + strings.Repeat(`\ud83d\udca5`, 300_000) + `\ud800"`,
	}
	for name, text := range texts {
		start := time.Now()
		v, err := Parse([]byte(text), wide)
		if err == nil {
			v.Digest()
			v.Append(nil)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }
