package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

const (
	// socketLife ends every socket now and then, so that nodes share their consumers anew; the consumer goes on where it was.
	socketLife = time.Hour
	// socketPing is how often a key is judged again and a peer asked whether it lives.
	socketPing = 10 * time.Second
	// socketsMax bounds the sockets of a node: each is three goroutines and some kilobytes.
	socketsMax = 10_000
	// socketWait is one wait for results; the key is judged again at least as often.
	socketWait = 10_000
)

// OpenSubscriptionSocket consumes over a WebSocket. It is pull, acks and nacks of the same subscription, carried by
// frames: the same plans, rows and refusals, and no state that a cut could lose. Refuses: upgrade_required.
func (s *Server) OpenSubscriptionSocket(ctx context.Context, r httpapi.OpenSubscriptionSocketRequestObject) (httpapi.OpenSubscriptionSocketResponseObject, error) {
	if _, err := s.readSubscription(ctx, r.Subscription); err != nil {
		return nil, err
	}
	return socketResponse{name: r.Subscription}, nil
}

// socketResponse is answered by what the connection becomes (strict.go).
type socketResponse struct{ name string }

// VisitOpenSubscriptionSocketResponse is never reached: the shell serves the socket itself, because it needs the request.
func (socketResponse) VisitOpenSubscriptionSocketResponse(http.ResponseWriter) error {
	return errors.New("a socket is served by the shell")
}

// socket is one connection. Deliveries are pushed by one goroutine, requests are answered in order by another, and a
// third is the only reader.
type socket struct {
	*Server
	conn   *websocket.Conn
	name   string
	frames *frames

	mu      sync.Mutex
	out     map[int64]time.Time // pushed here and not settled here, with the end of their time
	credit  int
	holding int64
	freed   chan struct{} // something was settled
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, name string) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return problem.New("upgrade_required", "this route speaks WebSocket; send a handshake, or use pull, acks and nacks")
	}
	defer s.sockets.Add(-1)
	if s.sockets.Add(1) > socketsMax {
		return problem.New("node_full", "the node has as many sockets open as it takes")
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return nil // Accept has answered
	}
	s.inFlight.Add(-1) // a socket mostly waits; sockets have a bound of their own
	defer s.inFlight.Add(1)
	conn.SetReadLimit(s.spec.frames.max)
	k := &socket{Server: s, conn: conn, name: name, frames: s.spec.frames, out: map[int64]time.Time{}, freed: make(chan struct{}, 1)}
	ctx, cancel := s.polling(r.Context())
	defer cancel()
	k.end(k.serve(ctx, r.Context()))
	return nil
}

// serve answers requests until the peer goes, the node drains or a refusal ends it. request outlives ctx at a drain, so
// that what is under way is answered.
func (k *socket) serve(ctx, request context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	incoming := make(chan []byte)
	go func() { stop(k.read(ctx, request, incoming)) }()
	go func() { stop(k.ping(ctx)) }()
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	var pushing sync.WaitGroup
	defer pushing.Wait()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case text := <-incoming:
			f, err := k.frames.parse(text)
			switch {
			case err == nil && f.follow != nil && k.begin(f.follow):
				defer k.replace(ctx, f.follow.Consumer, stop)()
				pushing.Go(func() {
					if err := k.push(request, following, f.follow.Consumer); err != nil {
						stop(err)
					}
				})
			case err == nil && f.stop:
				unfollow()
				pushing.Wait() // what was handed out meanwhile stands before the answer
				err = k.write(request, stoppedFrame(f.id))
			default:
				err = k.answer(request, f, err)
			}
			if err != nil {
				return err
			}
		}
	}
}

func (k *socket) read(ctx, request context.Context, incoming chan<- []byte) error {
	for {
		kind, text, err := k.conn.Read(request)
		if err != nil {
			return peerGone{err}
		}
		if kind != websocket.MessageText {
			return problem.New("frame_invalid", "frames are JSON texts")
		}
		select {
		case incoming <- text:
		case <-ctx.Done():
			return nil
		}
	}
}

// ping finds peers that are gone without a word, and keys that no longer count.
func (k *socket) ping(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(socketPing):
		}
		if refused := auth.JudgeAgain(ctx); refused != nil {
			return refused
		}
		alive, cancel := context.WithTimeout(ctx, k.Timeout) // behind the frame under way
		err := k.conn.Ping(alive)
		cancel()
		if err != nil {
			return peerGone{err}
		}
	}
}

// answer carries out one request under the key as it is now, and says what became of it.
func (k *socket) answer(ctx context.Context, f frame, refused error) error {
	if again := auth.JudgeAgain(ctx); again != nil {
		return again
	}
	var outcomes httpapi.DeliveryOutcomes
	err := refused
	switch {
	case err != nil:
	case f.follow != nil:
		err = problem.New("frame_unexpected", "a socket follows once; open another")
	case f.acks != nil:
		var done httpapi.AckDeliveriesResponseObject
		if done, err = k.AckDeliveries(ctx, httpapi.AckDeliveriesRequestObject{Subscription: k.name, Body: f.acks}); err == nil {
			outcomes = httpapi.DeliveryOutcomes(done.(httpapi.AckDeliveries200JSONResponse))
		}
	default:
		var done httpapi.NackDeliveriesResponseObject
		if done, err = k.NackDeliveries(ctx, httpapi.NackDeliveriesRequestObject{Subscription: k.name, Body: f.nacks}); err == nil {
			outcomes = httpapi.DeliveryOutcomes(done.(httpapi.NackDeliveries200JSONResponse))
		}
	}
	if err != nil {
		return k.write(ctx, problemFrame(f.id, problem.FromError(err)))
	}
	k.settled(f.seqs())
	return k.write(ctx, outcomesFrame(f.id, outcomes))
}

// push hands out results as long as there is credit, until following ends.
func (k *socket) push(request, following context.Context, consumer string) error {
	for following.Err() == nil {
		room, holding, again := k.room(time.Now())
		if room == 0 {
			select {
			case <-following.Done():
			case <-k.freed:
			case <-time.After(again):
			}
			continue
		}
		pulled, err := k.pull(request, following, k.name, &httpapi.PullRequest{
			Consumer: consumer, HoldingThrough: holding, Max: int32(min(room, pullMax)), WaitMs: socketWait,
		})
		if err != nil {
			return err
		}
		if len(pulled.Items) == 0 {
			continue
		}
		k.pushed(pulled.Items)
		for part := range parts(pulled) {
			if err := k.write(request, deliveriesFrame(part)); err != nil {
				return err
			}
		}
	}
	return nil
}

// peerGone is an end by the other side or by the network.
type peerGone struct{ error }

// write sends one frame. A peer that does not take it within the time of an operation is gone: it must not hold a
// goroutine and what was handed out to it.
func (k *socket) write(ctx context.Context, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, k.Timeout)
	defer cancel()
	if err := k.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return peerGone{err}
	}
	return nil
}

// end closes the connection; a refusal is said in a last frame, with a code that tells whether waiting helps.
func (k *socket) end(err error) {
	code, reason := websocket.StatusGoingAway, "the node ends this socket; open another"
	if _, gone := errors.AsType[peerGone](err); !gone && err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		refused := problem.FromError(err)
		code, reason = websocket.StatusPolicyViolation, refused.Code
		if status := refused.Status(); status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
			code = websocket.StatusTryAgainLater
		}
		if refused.Code == problem.CodeInternal {
			k.Log.Error("a socket ended", "subscription", k.name, "cause", err)
		}
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = k.write(last, problemFrame(0, refused)) // the peer may be gone
	}
	_ = k.conn.Close(code, reason) // the peer may be gone
}
