package conversion

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// A published version is immutable, so a change of the document must be meant: it is accepted with -update, together
// with a higher Version once the old one was released.
func TestDefinitionIsPinned(t *testing.T) {
	definition, err := Define("file_conversion")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/file_conversion.golden.json"
	if *update {
		if err := os.WriteFile(golden, definition.JSON(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(definition.JSON(), want) {
		t.Errorf("the document differs from %s:\n%s", golden, definition.JSON())
	}
}

// Two jobs on one server are kept apart by their names.
func ExampleHandlersOf() {
	for _, name := range []string{"file_conversion", "nightly_scan"} {
		h := HandlersOf(name)
		fmt.Println(h.Inspect.Queue(), h.Inspect.Name(), h.Convert.Name(), h.Publish.Name())
	}
	// Output:
	// file-conversion file.inspect file.convert file.publish
	// nightly-scan file.inspect file.convert file.publish
}
