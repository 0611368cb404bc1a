package yamljson

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/orbitrun/orbit/engine/weave/definition"
)

// TestStories runs testdata/*.txt: YAML in, JSON or problems out. A line
// "at TEXT" after the JSON shows where that text of the JSON is in the YAML.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "judge" {
				return judge(t, d.Input)
			}
			out, positions, problems := Convert([]byte(d.Input))
			var b strings.Builder
			for _, p := range problems {
				fmt.Fprintf(&b, "%s\n", p)
				if p.Hint != "" {
					fmt.Fprintf(&b, "  hint: %s\n", p.Hint)
				}
			}
			if len(problems) > 0 {
				return b.String()
			}
			if !json.Valid(out) {
				t.Fatalf("not JSON: %s", out)
			}
			fmt.Fprintf(&b, "%s\n", out)
			for _, arg := range d.CmdArgs {
				at := strings.Index(string(out), arg.Vals[0])
				line, column := positions.Locate(at)
				fmt.Fprintf(&b, "%s is at %d:%d\n", arg.Vals[0], line, column)
			}
			return b.String()
		})
	})
}

// judge runs the validator over a converted definition and prints each finding
// where it stands in the YAML, with what begins there.
func judge(t *testing.T, source string) string {
	out, positions, problems := Convert([]byte(source))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, findings := definition.Check(out, definition.Options{AllowUnsupported: true})
	var b strings.Builder
	for _, f := range findings {
		line, column := positions.Locate(f.Position)
		text := strings.Split(source, "\n")[line-1]
		fmt.Fprintf(&b, "%d:%d %s %s  before %q\n", line, column, f.Code, f.Pointer, text[column-1:])
	}
	return b.String()
}
