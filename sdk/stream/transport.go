package stream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// Transport is how a consumer speaks to the server. Rules, proofs and outcomes are the same on both.
type Transport string

// The transports. Auto tries a WebSocket, over which results are pushed, and takes HTTP where none can be had.
const (
	Auto   Transport = ""
	Socket Transport = "websocket"
	HTTP   Transport = "http"
)

// carrier is a transport at work.
type carrier interface {
	// pull waits for results; nil when none came in time.
	pull(ctx context.Context) (*orbit.Pulled, error)
	ack(ctx context.Context, ds []orbit.Delivery) ([]orbit.DeliveryOutcome, error)
	nack(ctx context.Context, nacks []orbit.Nack) ([]orbit.DeliveryOutcome, error)
	// pushes says whether pull only takes what was pushed, so that acknowledgements may still be under way.
	pushes() bool
	// stop ends the handing out and returns what came and was not pulled.
	stop(ctx context.Context) []orbit.Delivery
	// reset says that what was handed out is no longer in hand: it is to come again.
	reset()
}

func carrierOf(client *orbit.Client, subscription string, o *Options) carrier {
	over := &overHTTP{client, subscription, o}
	push := &overSocket{overHTTP: over}
	switch o.Transport {
	case HTTP:
		return over
	case Socket:
		return push
	}
	return &either{http: over, push: push, log: o.Logger}
}

type overHTTP struct {
	client       *orbit.Client
	subscription string
	o            *Options
}

func (h *overHTTP) pull(ctx context.Context) (*orbit.Pulled, error) {
	return h.client.Pull(ctx, h.subscription, orbit.PullRequest{Consumer: h.o.Name, Max: h.o.Prefetch, WaitMS: h.o.PollWait.Milliseconds()})
}

func (h *overHTTP) ack(ctx context.Context, ds []orbit.Delivery) ([]orbit.DeliveryOutcome, error) {
	return h.client.Ack(ctx, h.subscription, ds...)
}

func (h *overHTTP) nack(ctx context.Context, nacks []orbit.Nack) ([]orbit.DeliveryOutcome, error) {
	return h.client.Nack(ctx, h.subscription, nacks...)
}

func (h *overHTTP) pushes() bool { return false }

func (h *overHTTP) stop(context.Context) []orbit.Delivery { return nil }

func (h *overHTTP) reset() {}

// overSocket opens a socket when it needs one. What a broken socket left open is asked again over HTTP, which is
// repeated until it is answered.
type overSocket struct {
	*overHTTP
	socket atomic.Pointer[orbit.Socket]
}

func (s *overSocket) pull(ctx context.Context) (*orbit.Pulled, error) {
	socket := s.socket.Load()
	if socket == nil {
		var err error
		socket, err = s.client.Follow(ctx, s.subscription, orbit.FollowRequest{Consumer: s.o.Name, Credit: s.o.Prefetch})
		if err != nil {
			return nil, &noSocketError{err}
		}
		s.socket.Store(socket)
	}
	waiting, cancel := context.WithTimeout(ctx, s.o.PollWait)
	defer cancel()
	got, err := socket.Next(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	return got, err
}

func (s *overSocket) ack(ctx context.Context, ds []orbit.Delivery) ([]orbit.DeliveryOutcome, error) {
	if socket := s.socket.Load(); socket != nil {
		if out, err := socket.Ack(ctx, ds...); err == nil || !orbit.Repeatable(err) {
			return out, err
		}
	}
	return s.overHTTP.ack(ctx, ds)
}

func (s *overSocket) nack(ctx context.Context, nacks []orbit.Nack) ([]orbit.DeliveryOutcome, error) {
	if socket := s.socket.Load(); socket != nil {
		if out, err := socket.Nack(ctx, nacks...); err == nil || !orbit.Repeatable(err) {
			return out, err
		}
	}
	return s.overHTTP.nack(ctx, nacks)
}

// pushes is false while there is no socket: it is opened with an empty hand.
func (s *overSocket) pushes() bool { return s.socket.Load() != nil }

func (s *overSocket) stop(ctx context.Context) []orbit.Delivery {
	socket := s.socket.Load()
	if socket == nil {
		return nil
	}
	left, _ := socket.Stop(ctx) // a socket that fails now is closed next; what it handed out comes again when its time is over
	return left
}

func (s *overSocket) reset() {
	if socket := s.socket.Swap(nil); socket != nil {
		socket.Close()
	}
}

// noSocketError is a socket that could not be opened.
type noSocketError struct{ err error }

func (e *noSocketError) Error() string { return "stream: no socket: " + e.err.Error() }
func (e *noSocketError) Unwrap() error { return e.err }

// between reports whether something between client and server may have refused the socket, and not the server itself.
func (e *noSocketError) between() bool {
	refusal, ok := errors.AsType[*orbit.Error](e.err)
	return !ok || strings.HasPrefix(refusal.Code, "http_") || refusal.Code == "route_not_found" || refusal.Code == "upgrade_required"
}

// httpFor is how long HTTP is used before a socket is tried again.
const httpFor = time.Minute

// either prefers the socket.
type either struct {
	http  *overHTTP
	push  *overSocket
	log   *slog.Logger
	until time.Time // before it HTTP is used
}

func (e *either) pull(ctx context.Context) (*orbit.Pulled, error) {
	if time.Now().Before(e.until) {
		return e.http.pull(ctx)
	}
	got, err := e.push.pull(ctx)
	if failed, ok := errors.AsType[*noSocketError](err); ok && failed.between() && ctx.Err() == nil {
		e.log.Info("stream: no WebSocket can be had, HTTP is used", "subscription", e.http.subscription, "error", failed.err)
		e.until = time.Now().Add(httpFor)
		return e.http.pull(ctx)
	}
	return got, err
}

func (e *either) ack(ctx context.Context, ds []orbit.Delivery) ([]orbit.DeliveryOutcome, error) {
	return e.push.ack(ctx, ds)
}

func (e *either) nack(ctx context.Context, nacks []orbit.Nack) ([]orbit.DeliveryOutcome, error) {
	return e.push.nack(ctx, nacks)
}

func (e *either) pushes() bool { return e.push.pushes() }

func (e *either) stop(ctx context.Context) []orbit.Delivery { return e.push.stop(ctx) }

func (e *either) reset() { e.push.reset() }
