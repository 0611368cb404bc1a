package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

const (
	backoffFirst = 50 * time.Millisecond
	backoffMax   = 5 * time.Second
	// answerBytesMax is above the largest answer: 64 claimed tasks of 256 KiB, plus their frames.
	answerBytesMax = 32 << 20
)

// call is one operation. build makes the request anew for every try from the same bytes, so that all tries carry the
// same key and content.
type call struct {
	operation string
	key       string // of a command; empty for a read, whose unanswered end is just an error
	build     func() (*http.Request, error)
	out       any // pointer the answer is decoded into
}

// do sends the call until it is answered (api.md, SDK: retries of ambiguous calls reuse the same key).
func (c *Client) do(ctx context.Context, l call) (http.Header, error) {
	started := time.Now()
	for try := 0; ; try++ {
		header, err := c.once(ctx, tryTimeout, l.build, l.out)
		if err == nil || !Repeatable(err) {
			return header, err
		}
		wait := pause(try, err)
		if ctx.Err() != nil || time.Since(started)+wait > c.retryFor || sleep(ctx, wait) != nil {
			return nil, l.unanswered(err)
		}
		c.log.DebugContext(ctx, "orbit: repeating a call", "operation", l.operation, "key", l.key, "try", try+2, "error", err)
	}
}

// unanswered tells a command whose fate is open from one that was plainly refused: 429 is an answer.
func (l call) unanswered(err error) error {
	if refusal, ok := errors.AsType[*Error](err); l.key == "" || ok && refusal.Status == http.StatusTooManyRequests {
		return err
	}
	return &UnknownError{Operation: l.operation, Key: l.key, Err: err}
}

// Repeatable reports whether the same request may get another answer: the connection failed, or the server or a gateway
// said so (408, 429, 502, 503, 504). It says nothing about what the failed request did.
func Repeatable(err error) bool {
	if err == nil {
		return false
	}
	refusal, ok := errors.AsType[*Error](err)
	if !ok {
		_, broken := errors.AsType[*brokenError](err)
		return broken
	}
	switch refusal.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// brokenError is a request that got no whole answer.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return "orbit: no answer: " + e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// pause is what the server asked for, or a growing random wait when it asked for nothing.
func pause(try int, err error) time.Duration {
	most := min(backoffFirst<<min(try, 10), backoffMax)
	wait := most/2 + rand.N(most/2+1)
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.RetryAfter > wait {
		return refusal.RetryAfter
	}
	return wait
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// once sends one request and decodes its answer into out. The whole body is read, so that the connection is used again.
func (c *Client) once(ctx context.Context, timeout time.Duration, build func() (*http.Request, error), out any) (http.Header, error) {
	request, err := build()
	if err != nil {
		return nil, fmt.Errorf("orbit: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request = request.WithContext(ctx)
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Accept", "application/json, application/problem+json")
	if c.trace != nil {
		c.trace(request)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, &brokenError{err}
	}
	defer func() { _ = response.Body.Close() }() // all of it was read, or it failed and the failure is returned
	buffer := buffers.Get().(*bytes.Buffer)
	defer recycle(buffer)
	if _, err := buffer.ReadFrom(io.LimitReader(response.Body, answerBytesMax)); err != nil {
		return nil, &brokenError{err}
	}
	return response.Header, decode(response, buffer.Bytes(), out)
}

func decode(response *http.Response, body []byte, out any) error {
	if response.StatusCode/100 != 2 {
		return refusalOf(response, body)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return &brokenError{fmt.Errorf("the answer is not what the operation promises: %w", err)}
	}
	return nil
}

// recycle keeps ordinary buffers and drops the rare huge one.
func recycle(b *bytes.Buffer) {
	if b.Cap() <= 1<<20 {
		b.Reset()
		buffers.Put(b)
	}
}

// jsonBody is the content type of every command.
const jsonBody = "application/json"

func replayed(h http.Header) bool { return h.Get("Orbit-Replayed") == "true" }
