package api

import (
	"context"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
)

// authenticate enforces the security requirement the description gives the operation.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := stateOf(c).op
		if op == nil || op.public { // unrouted requests end in 404 or 405 and tell nobody anything
			return next(c)
		}
		values := c.Request().Header.Values("Authorization")
		if len(values) == 0 {
			return problem.New("credential_missing", "send the header Authorization: Bearer <key>")
		}
		scheme, key, _ := strings.Cut(values[0], " ")
		if len(values) != 1 || !strings.EqualFold(scheme, "Bearer") {
			return problem.New("credential_invalid", "send exactly one header Authorization: Bearer <key>")
		}
		caller, refused := s.Verifier.Verify(c.Request().Context(), key, op.scope)
		if refused != nil {
			return refused
		}
		ctx := auth.WithJudge(auth.WithCaller(c.Request().Context(), caller), func(ctx context.Context) *problem.Problem {
			_, refused := s.Verifier.Verify(ctx, key, op.scope)
			return refused
		})
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}
