package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest   = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	writtenTest = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	promiseRow  = regexp.MustCompile(`(?m)^\| (T\d+) .*$`)
)

// TestPromisesNameTests holds the table of promises to the tests there are: all 22 ids, each with a test or with words
// about what is open, and no test that does not exist.
func TestPromisesNameTests(t *testing.T) {
	written := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // our own tree
		for _, m := range writtenTest.FindAllStringSubmatch(string(text), -1) {
			written[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, row := range promiseRow.FindAllStringSubmatch(read(t, "85-promises.md"), -1) {
		ids[row[1]] = true
		named := namedTest.FindAllStringSubmatch(row[0], -1)
		for _, m := range named {
			if !written[m[1]] {
				t.Errorf("%s names %s, which does not exist", row[1], m[1])
			}
		}
		if len(named) == 0 {
			t.Errorf("%s names no test", row[1])
		}
	}
	if len(ids) != 22 {
		t.Errorf("%d promises are listed, there are 22", len(ids))
	}
}
