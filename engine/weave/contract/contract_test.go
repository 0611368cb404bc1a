package contract

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/exact"
)

func value(t *testing.T, text string) exact.Value {
	t.Helper()
	v, err := exact.Parse([]byte(text), exact.Limits{SizeBytesMax: 1 << 22, DepthMax: 200})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func compile(t *testing.T, text string) *Contract {
	t.Helper()
	c, problems := Compile(value(t, text))
	if len(problems) > 0 {
		t.Fatalf("%s: %+v", text, problems)
	}
	return c
}

// story yields each left-margin line of a file with its indented lines.
func story(t *testing.T, file string, each func(head string, lines []string)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, lines := "", []string(nil)
	for _, line := range append(strings.Split(string(text), "\n"), "end") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			lines = append(lines, line[1:])
		default:
			if head != "" {
				each(head, lines)
			}
			head, lines = line, nil
		}
	}
}

func TestValidate(t *testing.T) {
	cases := 0
	story(t, "testdata/validate.txt", func(head string, lines []string) {
		c := compile(t, head)
		for _, line := range lines {
			cases++
			text, want, _ := strings.Cut(line, "\t")
			var got []string
			for _, v := range c.Validate(value(t, text)) {
				got = append(got, strings.TrimSpace(v.Keyword+" "+v.Pointer))
				if v.Detail == "" {
					t.Errorf("%s: %s has no detail", head, v.Keyword)
				}
			}
			if said := strings.Join(got, "; "); said != want && !(said == "" && want == "ok") {
				t.Errorf("%s\n\t%s: %q, want %q", head, text, said, want)
			}
		}
	})
	if cases < 70 {
		t.Errorf("only %d cases ran", cases)
	}
}

func TestRefused(t *testing.T) {
	story(t, "testdata/refused.txt", func(head string, want []string) {
		c, problems := Compile(value(t, head))
		var got []string
		for _, p := range problems {
			got = append(got, strings.TrimSpace(p.Code+" "+p.Pointer))
			if p.Detail == "" {
				t.Errorf("%s: %s has no detail", head, p.Code)
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || c != nil {
			t.Errorf("%s\n  got  %q\n  want %q", head, got, want)
		}
	})
}

func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"items":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	list := func(n int, f string) string {
		var parts []string
		for i := range n {
			parts = append(parts, strings.ReplaceAll(f, "#", fmt.Sprint(i)))
		}
		return strings.Join(parts, ",")
	}
	for name, pair := range map[string][2]string{
		"depth":       {nested(DepthMax), nested(DepthMax + 1)},
		"properties":  {`{"properties":{` + list(256, `"p#":{}`) + `}}`, `{"properties":{` + list(257, `"p#":{}`) + `}}`},
		"enum":        {`{"enum":[` + list(256, `#`) + `]}`, `{"enum":[` + list(257, `#`) + `]}`},
		"required":    {`{"required":[` + list(256, `"#"`) + `]}`, `{"required":[` + list(257, `"#"`) + `]}`},
		"pattern":     {`{"pattern":"` + strings.Repeat("a", 256) + `"}`, `{"pattern":"` + strings.Repeat("a", 257) + `"}`},
		"description": {`{"description":"` + strings.Repeat("é", 512) + `"}`, `{"description":"` + strings.Repeat("é", 513) + `"}`},
	} {
		compile(t, pair[0])
		if _, problems := Compile(value(t, pair[1])); len(problems) != 1 || problems[0].Code != CodeLimit {
			t.Errorf("%s: %+v", name, problems)
		}
	}
}

func TestPatternsOfTheCommonSubsetCompile(t *testing.T) {
	for pattern, matches := range map[string]string{
		`^\d{4}-\d\d$`: "2024-12", `^(?:a|b|)+c?$`: "abab", `^[\w.\-]+@[a-z]{1,63}$`: "a.b-c@host", `^\/\\\(\)\[\]\{\}\^\$\|\*\+\?\.$`: `/\()[]{}^$|*+?.`,
		`[-a]`: "-", `[a-]`: "-", `^[^a-z]$`: "💥", `é+`: "éé", `^()$`: "", `a{0}`: "", `a{2,}`: "aa", `^[$^.*]$`: "^",
	} {
		re, fault := compilePattern(pattern)
		if fault != nil {
			t.Errorf("%s: %+v", pattern, *fault)
			continue
		}
		if !re.MatchString(matches) {
			t.Errorf("%s does not match %q", pattern, matches)
		}
	}
}

// FuzzPattern: whatever the reader lets through must compile, and nothing may
// panic it.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{`^[a-z]{1,3}$`, `(?:a|b)*`, `[^\d\-]`, `a{1,`, `[a-`, `(`, `\`, `(?`, `[-`, `{`, `a{0,0}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if v, err := exact.Parse(exact.String(pattern).Append(nil), exact.PayloadLimits); err != nil || v.Str() != pattern {
			return
		}
		if _, fault := compilePattern(pattern); fault != nil && fault.detail == "the pattern cannot be compiled" {
			t.Fatalf("%q passed the reader but not the compiler", pattern)
		}
	})
}

func TestStaticView(t *testing.T) {
	c := compile(t, `{"type":["object","null"],"required":["b","z"],"properties":{"a":{"enum":["X",null]},"b":{"type":"integer"}},"additionalProperties":{"type":"array","items":{"type":"string"},"minItems":2}}`)
	if c.Types() != Object|Null || c.Types().String() != "object or null" {
		t.Errorf("types %v", c.Types())
	}
	var members []string
	for _, m := range c.Members() {
		members = append(members, fmt.Sprint(m.Name, " ", m.Required, " ", m.Contract.Types()))
	}
	if got := strings.Join(members, "; "); got != "a false string or null; b true number; z true array" {
		t.Errorf("members %s", got)
	}
	if least, _ := c.Additional().ItemCount(); least != 2 || c.Additional().Items().Types() != String || c.Closed() {
		t.Error("additional members are not described")
	}
	a, _ := c.Member("a")
	if values, ok := a.Contract.Enum(); !ok || len(values) != 2 {
		t.Error("enum is not visible")
	}
	if !compile(t, `{"title":"x"}`).Unknown() || c.Unknown() {
		t.Error("Unknown is wrong")
	}
}

func TestValidationIsBoundedAndLinear(t *testing.T) {
	c := compile(t, `{"items":{"type":"string","maxLength":4,"pattern":"^[ab]{1,250}$","enum":[`+strings.Repeat(`"aaaa",`, 200)+`"b"]}}`)
	many := value(t, "["+strings.Repeat(`"aaaa",`, 200_000)+`"b"]`)
	start := time.Now()
	if v := c.Validate(many); v != nil {
		t.Errorf("%v", v[0])
	}
	if v := c.Validate(value(t, "["+strings.Repeat("1,", 100_000)+"1]")); len(v) != ViolationsMax {
		t.Errorf("%d violations", len(v))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
