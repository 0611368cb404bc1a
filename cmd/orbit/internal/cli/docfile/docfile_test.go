package docfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The layout changes no digest (Format checks that itself) and is its own
// fixed point, for every document of the language's corpus and as YAML too.
func TestTheLayoutIsStable(t *testing.T) {
	paths, err := filepath.Glob("../../../../../engine/weave/definition/testdata/documents/*.json")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%d documents, %v", len(paths), err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"d.json", "d.yaml"} { // JSON is YAML, too
			once := format(t, name, source)
			if twice := format(t, name, once); !bytes.Equal(once, twice) {
				t.Errorf("%s as %s: the layout of the layout differs", path, name)
			}
		}
		for i, line := range strings.Split(string(format(t, "d.json", source)), "\n") {
			if strings.Count(line, `{"`) > 1 && len(line) > layoutWidth+1 {
				t.Errorf("%s:%d: %d bytes on a line that could be broken", path, i+1, len(line))
			}
		}
	}
}

func format(t *testing.T, name string, source []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, source, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A quoted line is cleaned, cut around its place, and marked below it.
func TestALongLineIsCutAroundItsPlace(t *testing.T) {
	line := strings.Repeat("a ", 100) + "\x1b[31mhere " + strings.Repeat("b ", 100)
	f := &File{Name: "f", Source: []byte(line)}
	out := f.Print([]Finding{{File: "f", Severity: severityError, Code: "x", Line: 1, Column: strings.Index(line, "here") + 1, Detail: "wrong"}})
	lines := strings.Split(out, "\n")
	text, mark := []rune(lines[1]), []rune(lines[2])
	at := strings.IndexRune(string(mark), '^')
	if strings.Contains(out, "\x1b") || len(text) > quoteMax+12 || string(text[at:at+4]) != "here" || string(mark[at:]) != "^^^^ wrong" {
		t.Errorf("%q", out)
	}
	for _, column := range []int{0, 1, len(line) + 5} { // never outside the line
		f.Print([]Finding{{File: "f", Line: 1, Column: column}, {File: "f", Line: 99, Column: 1}})
	}
}
