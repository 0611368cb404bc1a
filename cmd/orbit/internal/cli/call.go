package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

const (
	// answerBytesMax bounds what is read of one answer: 200 items with a payload each.
	answerBytesMax = 64 << 20
	// requestTimeout is for one request; a long poll of 30 s fits.
	requestTimeout = 45 * time.Second
)

// UserAgent names this program to the server; main sets the version.
var UserAgent = "orbit"

// Session is one command talking to one node.
type Session struct {
	API *client.Client
	Out *render.Printer // the result
	Err io.Writer       // everything else
	In  io.Reader

	url     string
	sign    client.RequestEditorFn
	doer    *http.Client
	retries int
	limit   time.Duration
}

// Online wraps the body of a command that needs a server.
func (s *Settings) Online(run func(ctx context.Context, on *Session, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		on, err := s.open(cmd)
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if s.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.Timeout)
			defer cancel()
		}
		return run(ctx, on, args)
	}
}

func (s *Settings) open(cmd *cobra.Command) (*Session, error) {
	t, err := s.target(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	sign := func(_ context.Context, r *http.Request) error {
		if t.key != "" {
			r.Header.Set("Authorization", "Bearer "+t.key)
		}
		r.Header.Set("User-Agent", UserAgent)
		return nil
	}
	// A node never redirects; following one would take a command elsewhere.
	doer := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	api, err := client.NewClient(t.url, client.WithHTTPClient(doer), client.WithRequestEditorFn(sign))
	if err != nil {
		return nil, Usage("%v", err)
	}
	return &Session{API: api, Out: s.Printer(cmd), Err: cmd.ErrOrStderr(), In: cmd.InOrStdin(), url: t.url, sign: sign, doer: doer, retries: s.Retries, limit: s.Timeout}, nil
}

// Answer is what a node said.
type Answer struct {
	Body     []byte
	Replayed bool // an earlier answer to the same key
}

// Request is one attempt; it builds its body anew each time.
type Request func(ctx context.Context) (*http.Response, error)

// Once sends a request that must not be repeated blindly. It returns
// *Refusal, *Unreachable or a *Failure for time-out and interruption.
func (on *Session) Once(ctx context.Context, request Request) (Answer, error) {
	attempt, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	response, err := request(attempt)
	if err != nil {
		return Answer{}, on.noAnswer(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return Answer{}, on.noAnswer(ctx, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return Answer{}, refusal(response.StatusCode, response.Header, body)
	}
	return Answer{body, response.Header.Get("Orbit-Replayed") == "true"}, nil
}

// Again sends a request that may be repeated: a read, or a command that
// carries its key. Only trouble that may pass is repeated.
func (on *Session) Again(ctx context.Context, request Request) (Answer, error) {
	for attempt := 0; ; attempt++ {
		answer, err := on.Once(ctx, request)
		if attempt >= on.retries || !Passing(err) {
			return answer, err
		}
		if Sleep(ctx, Backoff(attempt, err)) != nil {
			return answer, on.ended(ctx)
		}
	}
}

// Passing reports trouble that may be over soon.
func Passing(err error) bool {
	var refused *Refusal
	var unreachable *Unreachable
	if errors.As(err, &refused) {
		// A fault of the server (500) does not pass by asking again.
		return refused.Status == http.StatusTooManyRequests || refused.Status > http.StatusNotImplemented
	}
	return errors.As(err, &unreachable)
}

// Backoff doubles from 100 ms to 5 s, with jitter so that many clients do not
// come back together, and obeys the server's advice when that is longer.
func Backoff(attempt int, err error) time.Duration {
	d := min(100*time.Millisecond<<min(attempt, 10), 5*time.Second)
	d = d/2 + rand.N(d/2+1)
	var refused *Refusal
	if errors.As(err, &refused) {
		advised := min(refused.RetryAfter, 30*time.Second)
		d = max(d, advised+rand.N(advised/4+1)) // never earlier than advised
	}
	return d
}

// Sleep waits, or returns the context's error when that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (on *Session) noAnswer(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return on.ended(ctx)
	}
	return &Unreachable{on.url, cause}
}

// Ended turns the end of a context met while waiting into the failure it is.
func (on *Session) Ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return on.ended(ctx)
	}
	return err
}

// ended tells a time-out given by the user from an interruption.
func (on *Session) ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && on.limit == 0 {
		return &Unreachable{on.url, ctx.Err()} // a limit of the command's own
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Failure{ExitTimedOut, fmt.Sprintf("timed out after %s (--timeout); a command may have been done, repeat it with the same key to see", on.limit)}
	}
	return &Failure{ExitInterrupted, "interrupted"}
}

// Read sends a repeatable request and decodes its answer.
func Read[T any](ctx context.Context, on *Session, request Request) (T, Answer, error) {
	var out T
	answer, err := on.Again(ctx, request)
	if err == nil {
		err = decode(answer.Body, &out)
	}
	return out, answer, err
}

func decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return &Failure{ExitUnavailable, fmt.Sprintf("the answer cannot be read: %v\n  next: orbit version --server shows whether node and command fit together", err)}
	}
	return nil
}

// Decode reads an answer of Once.
func Decode[T any](answer Answer) (v T, err error) {
	err = decode(answer.Body, &v)
	return v, err
}
