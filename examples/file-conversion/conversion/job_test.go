package conversion

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// desk is a job's two folders, and the way of one file through the three handlers.
type desk struct {
	t       *testing.T
	folders *Folders
	in, out string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, in: t.TempDir(), out: t.TempDir()}
	d.folders = d.open()
	return d
}

func (d *desk) open() *Folders {
	d.t.Helper()
	folders, err := OpenFolders(d.in, d.out)
	must(d.t, err)
	d.t.Cleanup(func() { must(d.t, folders.Close()) })
	return folders
}

func (d *desk) file(name string, content []byte) Source {
	d.t.Helper()
	path := filepath.Join(d.in, filepath.FromSlash(name))
	must(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(d.t, os.WriteFile(path, content, 0o644))
	return Source{Path: name, SHA256: digestOf(content)}
}

func (d *desk) inspect(s Source) (Inspected, error) {
	return d.folders.Inspect(d.t.Context(), nil, s)
}

// artifact takes a file through inspect and convert.
func (d *desk) artifact(s Source) Artifact {
	d.t.Helper()
	found, err := d.inspect(s)
	must(d.t, err)
	made, err := d.folders.Convert(d.t.Context(), nil, ConvertInput{Path: s.Path, SHA256: s.SHA256, Kind: found.Kind, Title: found.Title})
	must(d.t, err)
	return made
}

func (d *desk) publish(a Artifact) Published {
	d.t.Helper()
	p, err := d.folders.Publish(d.t.Context(), nil, a)
	must(d.t, err)
	return p
}

func (d *desk) read(p Published) []byte {
	d.t.Helper()
	content, err := os.ReadFile(filepath.Join(d.out, filepath.FromSlash(p.File)))
	must(d.t, err)
	return content
}

func (d *desk) names(folder string) []string {
	d.t.Helper()
	entries, err := os.ReadDir(filepath.Join(d.out, folder))
	must(d.t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// code is the code of a permanent failure, "retryable" for any other error and "" for none.
func code(err error) string {
	if err == nil {
		return ""
	}
	if file, ok := errors.AsType[*FileError](err); ok {
		return file.Code
	}
	return "retryable"
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
