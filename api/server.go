package api

import (
	"context"
	"database/sql"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/telemetry"
	"github.com/orbitrun/orbit/api/tx"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// Options are what a node's shell is built from. Everything but the defaults named is required.
type Options struct {
	Reader   *sql.DB // single-statement reads; tx.OpenReader
	Writer   *tx.DB
	Verifier *auth.Verifier
	Service  *auth.Service
	Queues   *Queues
	Pulse    Pulse
	Weave    Weave
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
	Build    httpapi.Version

	Ready        func(context.Context) error   // what /readyz asks; default: a ping of Reader
	QueueChanged func(namespace, queue uint64) // called after a queue's settings changed, to wake its claims; may be nil

	BulkBegun func() // called after a bulk operation has begun, to start on it at once; may be nil

	InFlightMax int           // requests at the same time; default 8192
	Timeout     time.Duration // of one operation, long polls on top; default 30 s
	BodyTime    time.Duration // how long a body may trickle in; default 10 s
}

// Server is the HTTP shell of one node.
type Server struct {
	Options
	spec     *description
	echo     *echo.Echo
	inFlight atomic.Int64
	sockets  atomic.Int64

	followers followers
	draining  atomic.Bool
	drain     context.Context // ends when long polls must end
	endPolls  context.CancelFunc
	stream    *streamHints // wakes waiting pulls
}

// New builds the shell. It fails when the description holds something the shell would not enforce.
func New(o Options) (*Server, error) {
	if o.InFlightMax == 0 {
		o.InFlightMax = 8192
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.BodyTime == 0 {
		o.BodyTime = 10 * time.Second
	}
	if o.Ready == nil {
		o.Ready = o.Reader.PingContext
	}
	spec, err := readSpec(Description)
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, spec: spec}
	s.drain, s.endPolls = context.WithCancel(context.Background())
	s.stream = newStreamHints(s.streamHead)
	s.echo = s.routes()
	return s, o.Metrics.Sockets(s.sockets.Load)
}

func (s *Server) routes() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = echo.ExtractIPDirect() // a proxy's header is nobody's word until configured otherwise
	e.Binder = &binder{}
	e.HTTPErrorHandler = s.fail
	e.Use(s.guard, s.authenticate, s.check)
	httpapi.RegisterHandlers(e, httpapi.NewStrictHandler(s, []httpapi.StrictMiddlewareFunc{s.answer}))
	return e
}

// Handler serves the public surface.
func (s *Server) Handler() http.Handler { return s.echo }

// HTTP wraps a handler with the limits of the house: headers in 5 s and 16 KiB, idle connections 2 min, and an answer
// within the longest long poll plus the time-out. Bodies have a clock of their own (bind_body.go).
func (s *Server) HTTP(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute,
		WriteTimeout: s.Timeout + 60*time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
}

// Serve answers on a listener until ctx ends, then drains: /readyz turns 503 and long polls return at once; for
// notice the node still takes requests, so that a balancer can look away; then open requests get up to grace to end.
func (s *Server) Serve(ctx context.Context, l net.Listener, notice, grace time.Duration) error {
	server := s.HTTP(s.echo)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.Drain()
	select {
	case err := <-failed:
		return err
	case <-time.After(notice):
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		return err
	}
	return s.socketsEnd(stop)
}

// socketsEnd waits for the sockets, which the server no longer knows since they were upgraded: what they are answering
// is answered.
func (s *Server) socketsEnd(ctx context.Context) error {
	for s.sockets.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// Drain makes the node look unready and ends its long polls. It is safe to call twice.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.endPolls()
}
