package api_test

import (
	"testing"

	"github.com/orbitrun/orbit/api/problem"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// Every code has a page under the type that its problems carry, and a key is not needed to read it.
func TestEveryProblemTypeLeadsToItsPage(t *testing.T) {
	n := newNode(t)
	for _, code := range problem.Codes() {
		var page httpapi.ProblemPage
		n.do(call{method: "GET", path: problem.Type(code), key: "none"}).is(200).into(&page)
		if page.Code != code || page.Title == "" || page.Cause == "" || page.Fix == "" || page.Repeat == "" || page.Status < 400 {
			t.Errorf("%s: %+v", code, page)
		}
	}
	if p := n.do(call{method: "GET", path: "/problems/no_such_code", key: "none"}).is(404).problem(); p.Code != "route_not_found" {
		t.Error(p.Code)
	}
}
