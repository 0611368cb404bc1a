package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

var namedRequest = regexp.MustCompile("`(GET|POST|PUT|PATCH|DELETE) (/[^` ]*)`")

// TestRequestsExist looks up every request the documents name in the description.
func TestRequestsExist(t *testing.T) {
	description, err := openapi3.NewLoader().LoadFromFile(root(t, "api/openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range documents(t) {
		for _, m := range namedRequest.FindAllStringSubmatch(codeFence.ReplaceAllString(read(t, path), ""), -1) {
			seen++
			route, _, _ := strings.Cut(m[2], "?")
			item := description.Paths.Find(route)
			if item == nil || item.GetOperation(m[1]) == nil {
				t.Errorf("%s: there is no request `%s %s`", path, m[1], m[2])
			}
		}
	}
	if seen == 0 {
		t.Fatal("no request was found: the pattern is broken")
	}
}
