package api

import (
	"context"

	"github.com/orbitrun/orbit/api/problem"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetProblem is where the type of every problem leads: what the code means and what ends it. Public, from the one table.
func (s *Server) GetProblem(_ context.Context, r httpapi.GetProblemRequestObject) (httpapi.GetProblemResponseObject, error) {
	advice, ok := problem.AdviceOf(r.Code)
	if !ok {
		return nil, problem.New("route_not_found", "there is no such code; the table of all is in the documentation, api/errors.md")
	}
	p := problem.New(r.Code, "")
	return httpapi.GetProblem200JSONResponse{
		Code: r.Code, Status: int32(p.Status()), Title: p.Title(), Cause: advice.Cause, Fix: advice.Fix, Repeat: p.Repeat(),
	}, nil
}
