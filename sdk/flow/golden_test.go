package flow_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/orbitrun/orbit/sdk/flow"
	"github.com/orbitrun/orbit/sdk/flow/internal/example/access"
	"github.com/orbitrun/orbit/sdk/flow/internal/example/conversion"
	"github.com/orbitrun/orbit/sdk/flow/internal/example/order"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

var examples = map[string]func() (*flow.Definition, error){
	"order_fulfilment":    order.OrderFulfilment,
	"access_request":      access.AccessRequest,
	"document_conversion": conversion.DocumentConversion,
	"every_construct":     everyConstruct,
}

// The printed text is part of the product: a change of one byte is a change
// somebody will see in a review, so it has to be asked for with -update.
func TestGolden(t *testing.T) {
	for name, define := range examples {
		t.Run(name, func(t *testing.T) {
			text := built(t, define)
			file := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(text, golden) {
				t.Errorf("printed text differs from %s (run with -update to accept):\n%s", file, text)
			}
			if again := built(t, define); !bytes.Equal(text, again) {
				t.Error("the same source printed two texts")
			}
		})
	}
}

// The language's own example documents were written by hand; the builder must
// say exactly the same, every number as spelled.
func TestLanguageExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/language/*.json")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d language examples, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".json")])
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, got := exact(t, text), exact(t, built(t, examples[name]))
			for key := range want {
				if !reflect.DeepEqual(got[key], want[key]) {
					t.Errorf("%s\n got %v\nwant %v", key, got[key], want[key])
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d members, want %d", len(got), len(want))
			}
		})
	}
}

func built(t *testing.T, define func() (*flow.Definition, error)) []byte {
	t.Helper()
	d, err := define()
	if err != nil {
		t.Fatal(err)
	}
	return d.JSON()
}

func exact(t *testing.T, text []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document map[string]any
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	return document
}
