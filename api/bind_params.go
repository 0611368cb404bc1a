package api

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/orbitrun/orbit/api/problem"
)

// check judges parameters and body against the description before the generated binding sees them.
func (s *Server) check(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		st := stateOf(c)
		if st.op == nil {
			return next(c)
		}
		faults, err := checkParams(st.op, c)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			return problem.FromFaults(faults)
		}
		if st.body, err = readBody(st.op, c, s.BodyTime); err != nil {
			return err
		}
		defer st.body.release()
		return next(c)
	}
}

func checkParams(op *operation, c echo.Context) ([]problem.Fault, error) {
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, problem.New("parameter_invalid", "the query string is not well formed")
	}
	var faults []problem.Fault
	for i := range op.params {
		p := &op.params[i]
		faults = append(faults, p.check(values(p, c, query))...)
		delete(query, p.name)
	}
	for name := range query {
		faults = append(faults, problem.Fault{Code: "parameter_unknown", In: "query", Pointer: name, Detail: "there is no such parameter"})
		if len(faults) >= 16 {
			break
		}
	}
	return faults, nil
}

// values are the texts a request gives for a parameter.
func values(p *parameter, c echo.Context, query url.Values) []string {
	switch p.in {
	case "path":
		return []string{c.Param(p.name)}
	case "header":
		return c.Request().Header.Values(p.name)
	}
	return query[p.name]
}

func (p *parameter) check(given []string) []problem.Fault {
	fault := func(code, detail string) []problem.Fault {
		return []problem.Fault{{Code: code, In: p.in, Pointer: p.name, Detail: detail}}
	}
	if len(given) == 0 {
		if p.required {
			return fault("parameter_missing", "is required")
		}
		return nil
	}
	if len(given) > 1 {
		return fault("parameter_invalid", "is given more than once")
	}
	code, detail := p.node.CheckText(given[0])
	if code == "" {
		return nil
	}
	return fault(code, detail)
}

// traceparent gives the W3C trace context of the request, or nothing when it is not valid: the standard demands that
// such a header be ignored, never refused.
func traceparent(h http.Header) string {
	text := h.Get("traceparent")
	if len(text) != 55 || text[:3] != "00-" || text[35] != '-' || text[52] != '-' {
		return ""
	}
	trace, span := text[3:35], text[36:52]
	if !lowerHex(trace) || !lowerHex(span) || !lowerHex(text[53:]) || zeros(trace) || zeros(span) {
		return ""
	}
	return text
}

func lowerHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func zeros(s string) bool {
	for _, c := range []byte(s) {
		if c != '0' {
			return false
		}
	}
	return true
}
