package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/orbitrun/orbit/api/wire"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// frozen is a receipt: bytes that were written once and are answered the same way for ever. It satisfies the response
// interface of every operation that gives receipts.
type frozen struct {
	status   int
	body     []byte
	replayed bool
}

func (f frozen) write(w http.ResponseWriter) error {
	if f.replayed {
		w.Header().Set(headerReplayed, "true")
	}
	return send(w, f.status, "application/json", f.body)
}

func (f frozen) VisitSubmitTaskResponse(w http.ResponseWriter) error      { return f.write(w) }
func (f frozen) VisitCancelTaskResponse(w http.ResponseWriter) error      { return f.write(w) }
func (f frozen) VisitSignalInstanceResponse(w http.ResponseWriter) error  { return f.write(w) }
func (f frozen) VisitReviewTaskResponse(w http.ResponseWriter) error      { return f.write(w) }
func (f frozen) VisitRetryTaskResponse(w http.ResponseWriter) error       { return f.write(w) }
func (f frozen) VisitPublishWorkflowResponse(w http.ResponseWriter) error { return f.write(w) }
func (f frozen) VisitStartInstanceResponse(w http.ResponseWriter) error   { return f.write(w) }

// text is a document that is not JSON.
type text struct {
	kind string
	body []byte
}

// VisitGetOpenapiResponse writes the document.
func (t text) VisitGetOpenapiResponse(w http.ResponseWriter) error {
	return send(w, http.StatusOK, t.kind, t.body)
}

// answer writes models itself, because the generated writer would re-space payloads (package wire). Receipts and
// texts write themselves.
func (s *Server) answer(next httpapi.StrictHandlerFunc, _ string) httpapi.StrictHandlerFunc {
	return func(c echo.Context, request any) (any, error) {
		response, err := next(c, request)
		if err != nil {
			return nil, err
		}
		switch r := response.(type) {
		case frozen, text:
			return response, nil
		case socketResponse:
			return nil, s.serveSocket(c.Response(), c.Request(), r.name)
		}
		return nil, send(c.Response(), stateOf(c).op.success, "application/json", wire.Append(nil, response))
	}
}

func send(w http.ResponseWriter, status int, kind string, body []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone; what was committed stays committed
	return nil
}
