package api

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/orbitrun/orbit/api/problem"
)

// fail is the one sender of refusals. Whatever an error says, only a row of the problem table leaves the server.
func (s *Server) fail(err error, c echo.Context) {
	p := fromEcho(err)
	if p == nil {
		p = problem.FromError(err)
	}
	st := stateOf(c)
	if st == nil { // Echo itself refused before the guard ran
		st = &state{requestID: requestID(c.Request())}
		secure(c.Response().Header(), st.requestID)
	}
	out := *p // a problem may be a shared value; the request's own fields go on a copy
	out.RequestID, out.Instance = st.requestID, c.Request().URL.Path
	st.problem = &out
	if out.Status() >= 500 {
		s.Log.Error("request failed", "request_id", st.requestID, "method", c.Request().Method, "path", c.Path(), "code", out.Code, "cause", errors.Unwrap(p))
	}
	if !c.Response().Committed {
		out.Send(c.Response())
	}
}

// fromEcho translates what the router and the generated binding say.
func fromEcho(err error) *problem.Problem {
	var he *echo.HTTPError
	if !errors.As(err, &he) {
		return nil
	}
	switch he.Code {
	case http.StatusNotFound:
		return problem.New("route_not_found", "see /openapi.yaml for the routes")
	case http.StatusMethodNotAllowed:
		return problem.New("method_not_allowed", "see /openapi.yaml for the methods")
	case http.StatusBadRequest:
		return problem.New("parameter_invalid", "a parameter could not be read")
	}
	return problem.New(problem.CodeInternal, "").WithCause(err)
}
