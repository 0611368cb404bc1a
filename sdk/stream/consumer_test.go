package stream_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/stream"
)

var quick = stream.Options{PollWait: 10 * time.Millisecond, BackoffMin: 5 * time.Millisecond}

// run consumes until all results are settled or five seconds are over, and returns the numbers in the order the handler
// finished them.
func run(t *testing.T, s *server, o stream.Options, handler stream.Handler) ([]int64, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var done []int64
	c, err := stream.New(s.Client, "s", func(ctx context.Context, r stream.Result) error {
		if handler != nil {
			if err := handler(ctx, r); err != nil {
				return err
			}
		}
		done = append(done, r.Seq)
		if r.Seq == int64(len(s.results)) {
			cancel()
		}
		return nil
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Run(ctx)
	return done, err
}

func inOrder(t *testing.T, done []int64, n int) {
	t.Helper()
	if len(done) != n {
		t.Errorf("%d results were handled, want %d: %v", len(done), n, done)
	}
	for i, seq := range done {
		if seq != int64(i+1) {
			t.Fatalf("out of order: %v", done)
		}
	}
}

// transports runs a test over HTTP, over a socket, and where the consumer finds out that there is no socket.
func transports(t *testing.T, test func(*testing.T, func(results int) *server, stream.Options)) {
	for name, c := range map[string]struct {
		sockets bool
		via     stream.Transport
	}{"http": {true, stream.HTTP}, "socket": {true, stream.Socket}, "fallback": {false, stream.Auto}} {
		t.Run(name, func(t *testing.T) {
			o := quick
			o.Transport = c.via
			test(t, func(results int) *server {
				s := newServer(t, results)
				s.sockets = c.sockets
				return s
			}, o)
		})
	}
}

func TestResultsComeInOrderAndAreAcknowledged(t *testing.T) {
	transports(t, func(t *testing.T, with func(int) *server, o stream.Options) {
		s := with(100)
		done, err := run(t, s, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		inOrder(t, done, 100)
		if s.settled != 100 || s.opened == 0 && s.pulls > 10 || s.opened > 1 || (s.opened == 1) != (o.Transport == stream.Socket) {
			t.Errorf("%d settled in %d pulls over %d sockets", s.settled, s.pulls, s.opened)
		}
	})
}

// A socket that is cut goes on where it was: what was handled and not acknowledged may come twice, nothing is skipped.
func TestACutSocketGoesOn(t *testing.T) {
	s := newServer(t, 60)
	s.sockets, s.cutAt = true, 20
	seen := map[int64]bool{}
	done, err := run(t, s, stream.Options{PollWait: quick.PollWait, Transport: stream.Auto}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, seq := range done {
		if !seen[seq] && len(seen) != int(seq)-1 {
			t.Fatalf("skipped to %d: %v", seq, done[:i+1])
		}
		seen[seq] = true
	}
	if len(seen) != 60 || s.settled != 60 || s.opened != 2 {
		t.Errorf("%d seen, %d settled over %d sockets", len(seen), s.settled, s.opened)
	}
}

func TestARefusedResultHoldsUpTheRestAndComesAgain(t *testing.T) {
	transports(t, func(t *testing.T, with func(int) *server, o stream.Options) {
		s := with(40)
		failures := 0
		done, err := run(t, s, o, func(_ context.Context, r stream.Result) error {
			if r.Seq == 7 && r.Generation < 3 {
				failures++
				return errors.New("closed")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		inOrder(t, done, 40)
		if failures != 2 || s.returned == 0 {
			t.Errorf("%d failures, %d given back", failures, s.returned)
		}
	})
}

// An acknowledgement whose answer is lost is repeated; the server says the same again.
func TestALostAnswerIsAskedForAgain(t *testing.T) {
	transports(t, func(t *testing.T, with func(int) *server, o stream.Options) {
		s := with(20)
		faults := 0
		s.loseAck = true
		s.fault = func(string) int {
			if faults++; faults%7 == 3 {
				return http.StatusServiceUnavailable
			}
			return 0
		}
		done, err := run(t, s, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		inOrder(t, done, 20)
		if s.settled != 20 {
			t.Errorf("%d settled", s.settled)
		}
	})
}

func TestAGapEndsTheConsumerAndAcknowledgesNothing(t *testing.T) {
	transports(t, func(t *testing.T, with func(int) *server, o stream.Options) {
		for name, spoil := range map[string]func(*server){
			"missing":   func(s *server) { s.results = append(s.results[:4:4], s.results[5:]...) },
			"changed":   func(s *server) { s.results[4].State = "FAILED" },
			"reordered": func(s *server) { s.results[4], s.results[5] = s.results[5], s.results[4] },
			"relinked":  func(s *server) { s.results[4].PreviousHash = s.results[1].Hash; relink(&s.results[4]) },
		} {
			s := with(10)
			spoil(s)
			done, err := run(t, s, o, nil)
			if !errors.Is(err, stream.ErrGap) || len(done) != 0 || s.settled != 0 {
				t.Errorf("%s: %v after %v", name, err, done)
			}
		}
	})
}

func relink(d *orbit.Delivery) { d.Hash, _ = stream.Link(d) }

// Stopping lets the running handler finish, acknowledges it and gives the rest back at once.
func TestAStopIsGraceful(t *testing.T) {
	transports(t, func(t *testing.T, with func(int) *server, o stream.Options) {
		s := with(10)
		ctx, cancel := context.WithCancel(t.Context())
		handled := 0
		c, err := stream.New(s.Client, "s", func(ctx context.Context, _ stream.Result) error {
			handled++
			cancel()
			time.Sleep(20 * time.Millisecond)
			return ctx.Err()
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if handled != 1 || s.settled != 1 || s.returned != 9 || s.holder != "" {
			t.Errorf("%d handled, %d settled, %d given back, held by %q", handled, s.settled, s.returned, s.holder)
		}
	})
}

// A refusal that stays ends the consumer.
func TestARefusalOfTheServerEndsTheConsumer(t *testing.T) {
	s := newServer(t, 1)
	s.fault = func(string) int { return http.StatusForbidden }
	if _, err := run(t, s, quick, nil); err == nil {
		t.Error("a refused consumer goes on")
	}
}
