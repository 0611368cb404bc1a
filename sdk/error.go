package orbit

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Error is a refusal by the server (RFC 9457). Switch on Code, which is stable; Detail is for people and may change.
type Error struct {
	Code       string        // stable name, such as "queue_full"; "http_502" when a gateway answered instead of the server
	Status     int           // HTTP status
	Title      string        // fixed sentence of the code
	Detail     string        // one sentence about this case
	Fields     []FieldError  // the fields at fault, in the order of the text
	Subject    string        // id of the object that stands in the way; empty when there is none
	Limit      int64         // the limit that was met
	Current    int64         // the value that met it
	RetryAfter time.Duration // when the same request may succeed; 0 when waiting does not help
	RequestID  string        // to quote when asking for help
}

// FieldError is one field at fault.
type FieldError struct {
	Code    string `json:"code"`
	In      string `json:"in"`      // body, path, query or header
	Pointer string `json:"pointer"` // JSON pointer into the body, or the name of the parameter or header
	Detail  string `json:"detail"`
}

// Error is one line with all that the server said.
func (e *Error) Error() string {
	text := fmt.Sprintf("orbit: %s (%d)", e.Code, e.Status)
	if said := firstOf(e.Detail, e.Title); said != "" {
		text += ": " + said
	}
	for _, f := range e.Fields {
		text += fmt.Sprintf("; %s %s: %s", f.In, f.Pointer, f.Detail)
	}
	if e.RequestID != "" {
		text += " [request " + e.RequestID + "]"
	}
	return text
}

// HasCode reports whether err is, or wraps, an *Error with one of the codes.
func HasCode(err error, codes ...string) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(codes, refusal.Code)
}

// UnknownError ends a command that was never answered: it may have been carried out or not. The same call with Key gives
// the answer, whatever happened.
type UnknownError struct {
	Operation string // such as "submitTask"
	Key       string // submit key, start key or idempotency key of the command
	Err       error  // what went wrong last
}

// Error names the key, because it is what the caller needs next.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("orbit: the outcome of %s with key %q is unknown, ask again with the same key: %v", e.Operation, e.Key, e.Err)
}

// Unwrap gives the last fault.
func (e *UnknownError) Unwrap() error { return e.Err }

// problemWire is the document as it is sent.
type problemWire struct {
	Title        string       `json:"title"`
	Status       int          `json:"status"`
	Code         string       `json:"code"`
	Detail       string       `json:"detail"`
	RequestID    string       `json:"request_id"`
	Subject      string       `json:"subject"`
	Limit        int64        `json:"limit"`
	Current      int64        `json:"current"`
	RetryAfterMS int64        `json:"retry_after_ms"`
	Errors       []FieldError `json:"errors"`
}

func (p problemWire) refusal() *Error {
	return &Error{
		Code: p.Code, Status: p.Status, Title: p.Title, Detail: p.Detail, Fields: p.Errors, Subject: p.Subject,
		Limit: p.Limit, Current: p.Current, RetryAfter: time.Duration(p.RetryAfterMS) * time.Millisecond, RequestID: p.RequestID,
	}
}

// UnmarshalJSON reads a problem document, so that the items of a batch carry ready errors.
func (e *Error) UnmarshalJSON(text []byte) error {
	var p problemWire
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	*e = *p.refusal()
	return nil
}

// refusalOf reads an answer that is no success. A body that is no problem document comes from something between client
// and server; only its status means anything.
func refusalOf(response *http.Response, body []byte) *Error {
	var e Error
	if json.Unmarshal(body, &e) != nil || e.Code == "" {
		e = Error{Code: "http_" + strconv.Itoa(response.StatusCode), Title: http.StatusText(response.StatusCode)}
	}
	e.Status = response.StatusCode
	e.RequestID = firstOf(e.RequestID, response.Header.Get("X-Request-Id"))
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && e.RetryAfter == 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return &e
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// refusalFrom reads a problem document that came in a frame.
func refusalFrom(text []byte) error {
	var e Error
	if err := json.Unmarshal(text, &e); err != nil {
		return &brokenError{fmt.Errorf("a problem document cannot be read: %w", err)}
	}
	return &e
}
