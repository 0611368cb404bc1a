package exact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyNumber draws tokens from all over the domain, not only pretty ones.
func anyNumber() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		token := rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "token")
		if !ValidNumber(token) {
			return "0"
		}
		return token
	})
}

func anyText() *rapid.Generator[string] {
	return rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(s, "\x00", "0") })
}

func anyValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch Kind(rapid.IntRange(0, kinds-1).Draw(t, "kind")) {
		case KindBool:
			return Bool(rapid.Bool().Draw(t, "truth"))
		case KindNumber:
			return Number(anyNumber().Draw(t, "number"))
		case KindString:
			return String(anyText().Draw(t, "string"))
		case KindArray:
			return Array(rapid.SliceOfN(anyValue(depth-1), 0, 4).Draw(t, "items")...)
		case KindObject:
			names := rapid.SliceOfNDistinct(anyText(), 0, 20, rapid.ID[string]).Draw(t, "names")
			members := make([]Member, 0, len(names))
			for _, name := range names {
				members = append(members, Field(name, anyValue(depth-1).Draw(t, "value")))
			}
			return Object(members...)
		}
		return Null()
	})
}

// respell writes v with other white space, other member order and other string
// escapes, but the same number tokens.
func respell(t *rapid.T, v Value) string {
	blank := func() string { return rapid.StringMatching(`[ \t\n\r]{0,2}`).Draw(t, "blank") }
	var parts []string
	switch v.Kind() {
	case KindString:
		return respellString(v.Str())
	case KindArray:
		for _, item := range v.Items() {
			parts = append(parts, blank()+respell(t, item)+blank())
		}
		return "[" + blank() + strings.Join(parts, ",") + "]"
	case KindObject:
		for _, m := range rapid.Permutation(v.Members()).Draw(t, "order") {
			parts = append(parts, blank()+respellString(m.Name)+blank()+":"+blank()+respell(t, m.Value)+blank())
		}
		return "{" + blank() + strings.Join(parts, ",") + "}"
	}
	return v.String()
}

func respellString(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteString(`\u00` + string(hexDigits[r>>4]) + strings.ToUpper(string(hexDigits[r&15])))
			continue
		}
		b.WriteRune(r)
	}
	return `"` + b.String() + `"`
}

func TestParseUndoesAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "v")
		text := v.Append(nil)
		back, err := Parse(text, PayloadLimits)
		if err != nil {
			t.Fatalf("own text refused: %v\n%s", err, text)
		}
		if string(back.Append(nil)) != string(text) || !Same(v, back) || !Equal(v, back) {
			t.Fatalf("%s came back as %s", text, back)
		}
		if v.Size() != len(text) || back.Size() != len(text) || v.Depth() != back.Depth() {
			t.Fatalf("size %d and %d of %d bytes; depth %d and %d", v.Size(), back.Size(), len(text), v.Depth(), back.Depth())
		}
	})
}

func TestDigestIgnoresSpellingOfStructureOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "v")
		text := respell(t, v)
		back, err := Parse([]byte(text), PayloadLimits)
		if err != nil {
			t.Fatalf("respelt text refused: %v\n%s", err, text)
		}
		if back.Digest() != v.Digest() {
			t.Fatalf("digest changed with spelling:\n%s\n%s", v, text)
		}
	})
}

func TestDigestTellsDifferentStructuresApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b")
		if (Key(a) == Key(b)) != Equal(a, b) {
			t.Fatalf("Key and Equal disagree on %s and %s", a, b)
		}
		if (a.Digest() == b.Digest()) != Same(a, b) {
			t.Fatalf("digest and Same disagree on %s and %s", a, b)
		}
	})
	for _, pair := range [][2]string{{`1`, `1.0`}, {`-0`, `0e5`}, {`[100,{"a":2,"b":3}]`, `[1e2,{"b":3.0,"a":2}]`}} {
		a, _ := Parse([]byte(pair[0]), PayloadLimits)
		b, _ := Parse([]byte(pair[1]), PayloadLimits)
		if Key(a) != Key(b) || !Equal(a, b) || Same(a, b) || a.Digest() == b.Digest() {
			t.Errorf("%s and %s are equal in value and differ in spelling", a, b)
		}
	}
	texts := []string{`1`, `1.0`, `1e0`, `"1"`, `[1]`, `["1"]`, `[]`, `{}`, `[[]]`, `null`, `""`, `{"a":1}`, `{"a":[1]}`, `[1,2]`, `[2,1]`, `["ab","c"]`, `["a","bc"]`, `false`, `true`}
	seen := map[[32]byte]string{}
	for _, text := range texts {
		v, err := Parse([]byte(text), PayloadLimits)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[v.Digest()]; ok {
			t.Errorf("%s and %s have one digest", text, other)
		}
		seen[v.Digest()] = text
	}
}
