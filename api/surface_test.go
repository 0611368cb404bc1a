package api_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/api"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files")

// The surface is a golden text: a new, changed or lost operation shows in a review. Routes, description and golden
// list must agree (C58).
func TestSurface(t *testing.T) {
	var described, routed []string
	for _, o := range api.Surface(t) {
		line := fmt.Sprintf("%-4s %-55s %-26s %s", o.Method, o.Path, o.ID, o.Access)
		described = append(described, strings.TrimRight(line, " "))
		if o.Access != "admin port" {
			routed = append(routed, o.Method+" "+o.Path)
		}
	}
	slices.SortFunc(described, func(a, b string) int { return strings.Compare(a[5:], b[5:]) })
	text := strings.Join(described, "\n") + "\n"
	const golden = "testdata/operations.txt"
	if *rewrite {
		must(t, os.WriteFile(golden, []byte(text), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if text != string(want) {
		t.Errorf("the surface changed; check it and run with -rewrite:\n%s", text)
	}
	slices.Sort(routed)
	if got := api.Routes(t); !slices.Equal(got, routed) {
		t.Errorf("routes  %v\ndescribed %v", got, routed)
	}
}
