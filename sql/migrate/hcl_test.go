package migrate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ariga.io/atlas/schemahcl"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

type hclEnv struct {
	Name      string `spec:",name"`
	Src       string `spec:"src"`
	URL       string `spec:"url"`
	Dev       string `spec:"dev"`
	Migration struct {
		Dir string `spec:"dir"`
	} `spec:"migration"`
	schemahcl.DefaultExtension
}

// atlas.hcl is for the stock CLI, which no test here can run: at least it must
// evaluate, take its addresses from the environment and point at the real folders.
func TestAtlasProjectFile(t *testing.T) {
	t.Setenv("ORBIT_DATABASE_URL", "mysql://a")
	t.Setenv("ORBIT_DEV_URL", "mysql://b")
	getenv := function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(os.Getenv(args[0].AsString())), nil
		},
	})
	var project struct {
		Envs []*hclEnv `spec:"env"`
		schemahcl.DefaultExtension
	}
	reader := schemahcl.New(schemahcl.WithFunctions(map[string]function.Function{"getenv": getenv}))
	root := filepath.Join("..", "..")
	must(t, reader.EvalFiles([]string{filepath.Join(root, "atlas.hcl")}, &project, nil))
	if len(project.Envs) != 1 || project.Envs[0].Name != "local" {
		t.Fatalf("environments: %+v", project.Envs)
	}
	local := project.Envs[0]
	if local.URL != "mysql://a" || local.Dev != "mysql://b" {
		t.Errorf("addresses %q and %q do not come from the environment", local.URL, local.Dev)
	}
	for _, folder := range []string{local.Src, local.Migration.Dir} {
		if _, err := os.Stat(filepath.Join(root, strings.TrimPrefix(folder, "file://"))); err != nil {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
