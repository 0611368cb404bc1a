package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
)

// wrapperDepth is how much deeper than a payload the request around it may nest: object, list, item.
const wrapperDepth = 4

// body is a request body that passed every check: its text, its exact tree, and the items that failed on their own.
type body struct {
	text  *bytes.Buffer
	tree  exact.Value
	items map[int][]problem.Fault // batch items at fault, by index
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// release gives the text back. The tree keeps a copy of its own, and decoded payloads are copies too.
func (b *body) release() {
	if b != nil && b.text.Cap() <= 1<<20 {
		b.text.Reset()
		buffers.Put(b.text)
	}
}

// readBody reads and judges the body of an operation, text first and shape second; nil when the operation takes none.
func readBody(op *operation, c echo.Context, within time.Duration) (*body, error) {
	r := c.Request()
	if op.body == nil {
		return nil, refuseBody(r)
	}
	if err := headers(r); err != nil {
		return nil, err
	}
	b := &body{text: buffers.Get().(*bytes.Buffer)}
	if err := receive(c, op.bodyMax, within, b.text); err != nil {
		b.release()
		return nil, err
	}
	if err := b.judge(op); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func refuseBody(r *http.Request) error {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	return problem.New("body_unexpected", "the operation takes no body")
}

func headers(r *http.Request) error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return problem.New("content_encoding_unsupported", "send the body uncompressed")
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset, stated := params["charset"]
	if err != nil || kind != "application/json" || stated && charset != "utf-8" && charset != "UTF-8" {
		return problem.New("content_type_unsupported", "send Content-Type: application/json")
	}
	return nil
}

// receive reads at most limit bytes in the time given. A body that says beforehand that it is too large is not read.
// The clock is stopped only for a body that arrived: net/http reads on behind a refusal, and must not wait there.
func receive(c echo.Context, limit int64, within time.Duration, into *bytes.Buffer) error {
	r, clock := c.Request(), http.NewResponseController(c.Response().Writer)
	_ = clock.SetReadDeadline(time.Now().Add(within)) // not supported by test recorders, which do not trickle either
	n := limit + 1
	var err error
	if r.ContentLength <= limit {
		n, err = io.Copy(into, io.LimitReader(r.Body, limit+1))
	}
	if refused := received(n, limit, r.ContentLength, err); refused != nil {
		c.Response().Header().Set("Connection", "close")
		return refused
	}
	_ = clock.SetReadDeadline(time.Time{})
	return nil
}

// received judges a body by its length and the error that ended it; a typed nil never leaves.
func received(n, limit, announced int64, err error) error {
	switch {
	case n > limit:
		tooLarge := problem.New("body_too_large", fmt.Sprintf("the operation takes at most %d bytes", limit))
		tooLarge.Limit, tooLarge.Current = limit, max(announced, n)
		return tooLarge
	case isTimeout(err):
		return problem.New("request_timeout", "the body did not arrive in time")
	case err != nil:
		return problem.New("body_missing", "the body ended early").WithCause(err)
	case n == 0:
		return problem.New("body_missing", "send a JSON body")
	}
	return nil
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func (b *body) judge(op *operation) error {
	tree, bad := exact.Parse(b.text.Bytes(), exact.Limits{SizeBytesMax: int(op.bodyMax), DepthMax: engine.PayloadDepthMax + wrapperDepth})
	if bad != nil {
		return problem.FromFaults([]problem.Fault{{Code: bad.Code, In: "body", Pointer: bad.Pointer, Detail: bad.Detail}})
	}
	report := op.body.Check(tree)
	if len(report.Faults) > 0 {
		return problem.FromFaults(report.Faults)
	}
	b.tree, b.items = tree, report.Items
	return nil
}

// decodable is the text with failed items replaced by null, so that the others can be decoded where they stand.
func (b *body) decodable() []byte {
	if len(b.items) == 0 {
		return b.text.Bytes()
	}
	text := slices.Clone(b.text.Bytes())
	list, _ := b.tree.Get("items")
	for i := len(list.Items()) - 1; i >= 0; i-- {
		if b.items[i] == nil {
			continue
		}
		start := list.Items()[i].Offset()
		var item json.RawMessage
		_ = json.NewDecoder(bytes.NewReader(text[start:])).Decode(&item) // the text has been parsed already
		text = slices.Replace(text, start, start+len(item), []byte("null")...)
	}
	return text
}

// item is one entry of a batch, as it was checked.
func (b *body) item(i int) exact.Value {
	list, _ := b.tree.Get("items")
	return list.Items()[i]
}

// itemProblem is the refusal of a batch item that failed its checks; nil when it passed.
func (b *body) itemProblem(i int) *problem.Problem {
	if faults := b.items[i]; faults != nil {
		return problem.FromFaults(faults)
	}
	return nil
}

// binder gives the generated binding the body that was checked. Names match exactly: the shape has refused every
// other spelling, which encoding/json alone would accept.
type binder struct{}

func (binder) Bind(into any, c echo.Context) error {
	return json.Unmarshal(stateOf(c).body.decodable(), into)
}
