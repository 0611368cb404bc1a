package api

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/orbitrun/orbit/api/problem"
)

const (
	headerRequestID = "X-Request-Id"
	headerReplayed  = "Orbit-Replayed"
	contextState    = "orbit"
)

// state is what the shell keeps of one request.
type state struct {
	op        *operation
	requestID string
	trace     string // valid W3C traceparent of the request, or empty
	body      *body
	problem   *problem.Problem
}

func stateOf(c echo.Context) *state {
	st, _ := c.Get(contextState).(*state)
	return st
}

type stateKey struct{}

// bodyOf is the checked body of the request an operation is answering.
func bodyOf(ctx context.Context) *body {
	return ctx.Value(stateKey{}).(*state).body
}

// traceOf is the request's trace context, handed to the worker with what it submits.
func traceOf(ctx context.Context) string { return ctx.Value(stateKey{}).(*state).trace }

// guard is the outermost layer: nothing that happens inside may escape as anything but a response.
func (s *Server) guard(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		start := time.Now()
		st := &state{op: s.spec.of(c.Request().Method, c.Path()), requestID: requestID(c.Request()), trace: traceparent(c.Request().Header)}
		c.Set(contextState, st)
		secure(c.Response().Header(), st.requestID)
		ctx, cancel := context.WithTimeout(context.WithValue(c.Request().Context(), stateKey{}, st), s.limit(st.op))
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		defer s.inFlight.Add(-1)
		defer func() {
			if cause := recover(); cause != nil {
				s.Log.Error("panic", "request_id", st.requestID, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
				err = nil
				s.fail(problem.New(problem.CodeInternal, ""), c)
			}
			s.observe(st, c.Response().Status, time.Since(start))
		}()
		if s.inFlight.Add(1) > int64(s.InFlightMax) {
			s.fail(problem.New("node_full", "the node has as many requests open as it takes"), c)
			return nil
		}
		if err := next(c); err != nil {
			s.fail(err, c)
		}
		return nil
	}
}

// limit is how long an operation may take; long polls wait on top of it, and sockets live as long as they may.
func (s *Server) limit(op *operation) time.Duration {
	switch {
	case op == nil:
	case op.id == "openSubscriptionSocket":
		return socketLife
	case op.id == "claimTasks" || op.id == "pullSubscription":
		return s.Timeout + 30*time.Second
	}
	return s.Timeout
}

// requestID takes the caller's id when it is a plain short token, else makes one.
func requestID(r *http.Request) string {
	id := r.Header.Get(headerRequestID)
	if len(id) == 0 || len(id) > 128 {
		return uuid.Must(uuid.NewV7()).String()
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return uuid.Must(uuid.NewV7()).String()
		}
	}
	return id
}

// secure sets the headers every response carries.
func secure(h http.Header, requestID string) {
	h.Set(headerRequestID, requestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

func (s *Server) observe(st *state, status int, took time.Duration) {
	name := "unrouted"
	if st.op != nil {
		name = st.op.id
	}
	code := ""
	if st.problem != nil {
		code = st.problem.Code
	}
	s.Metrics.Request(name, status, code, took)
}
