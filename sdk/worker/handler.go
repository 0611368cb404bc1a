package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/flow"
)

// HandlerFunc is a handler without types: it reads the input of the task and returns the output as JSON, which is sent
// byte for byte.
type HandlerFunc func(context.Context, *Task) (json.RawMessage, error)

// Middleware wraps every handler of a worker, for tracing, metrics or limits.
type Middleware func(HandlerFunc) HandlerFunc

// Handle registers the handler that runs name in version. The input is decoded into In (numbers that meet an interface
// stay json.Number); one that does not fit is a permanent failure with code input_invalid, and the handler is not
// called. json.RawMessage as In or Out passes the bytes through. Register before Run.
func Handle[In, Out any](w *Worker, name, version string, handle func(context.Context, *Task, In) (Out, error)) {
	w.register(name, version, func(ctx context.Context, t *Task) (json.RawMessage, error) {
		in, err := orbit.Decode[In](t.Input)
		if err != nil {
			return nil, Permanent(err, "input_invalid")
		}
		out, err := handle(ctx, t, in)
		if err != nil {
			return nil, err
		}
		raw, err := orbit.JSON(out)
		if err != nil {
			return nil, &statedError{err, sayUnknown, "output_invalid"} // the work is done, only its output cannot be told
		}
		return raw, nil
	})
}

// HandleRef registers the handler of a flow.Handler, so that the definition and the worker agree at compile time, and
// adds its queue to the worker's.
func HandleRef[In, Out any](w *Worker, ref flow.HandlerRef[In, Out], handle func(context.Context, *Task, In) (Out, error)) {
	if !slices.Contains(w.o.Queues, ref.Queue()) {
		w.o.Queues = append(w.o.Queues, ref.Queue())
	}
	Handle(w, ref.Name(), ref.Version(), handle)
}

// HandleFunc registers a handler without types.
func HandleFunc(w *Worker, name, version string, handle HandlerFunc) {
	w.register(name, version, handle)
}

func (w *Worker) register(name, version string, h HandlerFunc) {
	ref := orbit.HandlerRef{Handler: name, HandlerVersion: version}
	if _, twice := w.handlers[ref]; twice {
		w.mistake = fmt.Errorf("worker: handler %s version %s is registered twice", name, version)
		return
	}
	for _, m := range slices.Backward(w.o.Middleware) {
		h = m(h)
	}
	w.handlers[ref], w.refs = h, append(w.refs, ref)
}
