package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/examples/file-conversion/conversion"
)

func TestUsage(t *testing.T) {
	t.Setenv("ORBIT_URL", "")
	t.Setenv("ORBIT_KEY", "")
	for text, want := range map[string]string{
		"":                                      "-in is missing",
		"-in a":                                 "-out is missing",
		"-in a -out b":                          "ORBIT_URL",
		"-in a -out b -url u -key k -workers 0": "at least 1",
		"-in a -out b -url u -key k more":       `"more"`,
		"-in a -out b -url u -key k -worker-only -start-only": "exclude",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(text), &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: exit %d, %s", text, code, stderr.String())
		}
		if stdout.Len() > 0 {
			t.Errorf("%q: stdout %s", text, stdout.String())
		}
	}
}

func TestScanLeavesOutWhatIsNotInput(t *testing.T) {
	in := t.TempDir()
	for _, name := range []string{"b.md", "a/c.txt", ".git/config", "a/.hidden", "out/files/x.html"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(in, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(in, name), []byte(name), 0o644))
	}
	must(t, os.Symlink("b.md", filepath.Join(in, "link.md")))
	out := filepath.Join(in, "out")
	folders, err := conversion.OpenFolders(in, out)
	must(t, err)
	defer func() { must(t, folders.Close()) }()
	inside, err := outputInside(in, out)
	must(t, err)
	sources, err := scan(folders, inside)
	must(t, err)
	var names []string
	for _, s := range sources {
		names = append(names, s.Path)
	}
	if !slices.Equal(names, []string{"a/c.txt", "b.md"}) {
		t.Errorf("found %v", names)
	}
	if _, err := outputInside(in, in); err == nil {
		t.Error("the output may be the input")
	}
}

// The key decides what counts as the same work.
func TestStartKey(t *testing.T) {
	base, source := options{in: "in", out: "out", name: "file_conversion"}, conversion.Source{Path: "a.md", SHA256: "00"}
	key := func(o options, s conversion.Source) string {
		text, err := o.startKey(s)
		must(t, err)
		return text
	}
	again, elsewhere, anew := base, base, base
	again.in, again.workers = "./in/../in", 9
	elsewhere.out, anew.run = "out2", "2"
	if key(base, source) != key(again, source) {
		t.Error("another spelling of the folder is other work")
	}
	seen := map[string]bool{key(base, source): true}
	for _, other := range []string{
		key(elsewhere, source), key(anew, source), key(base, conversion.Source{Path: "b.md", SHA256: "00"}),
		key(base, conversion.Source{Path: "a.md", SHA256: "01"}), key(base, conversion.Source{Path: "a.md0", SHA256: "0"}),
	} {
		if seen[other] || len(other) > 255 {
			t.Errorf("key %q", other)
		}
		seen[other] = true
	}
}
