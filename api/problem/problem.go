package problem

import (
	"errors"
	"strings"

	"github.com/orbitrun/orbit/engine"
)

// Problem is one RFC 9457 document before it is written. It is an error, so that a handler just returns it.
type Problem struct {
	Code      string
	Detail    string  // one sentence for a person
	Subject   string  // typed id of the object that stands in the way; empty when there is none
	Limit     int64   // the limit that was met; written when Limit or Current is not zero
	Current   int64   // the value that met it
	Errors    []Fault // the fields at fault, in document order
	RetryMS   int64   // overrides the table's advice when not zero, milliseconds
	RequestID string  // filled in by the sender
	Instance  string  // path of the request; filled in by the sender
	cause     error   // for the log only, never written
}

// Fault is one field of the request that was refused.
type Fault struct {
	Code    string // stable, from the same table
	Pointer string // JSON pointer (RFC 6901) into the body; "" is the whole body; parameters and headers use In
	In      string // body, path, query or header
	Detail  string
}

// New makes a problem of a code of the table. An unknown code is a bug of the server and becomes "internal".
func New(code, detail string) *Problem {
	if _, ok := table[code]; !ok {
		return &Problem{Code: CodeInternal, cause: errors.New("unlisted problem code " + code + ": " + detail)}
	}
	return &Problem{Code: code, Detail: detail}
}

// FromRefusal turns the engine's "no" into a problem.
func FromRefusal(r *engine.Refusal) *Problem {
	p := New(r.Code, r.Detail)
	p.Subject, p.Limit, p.Current = r.Subject, r.Limit, r.Current
	if r.Field != "" && p.Code == r.Code {
		p.Errors = []Fault{{Code: r.Code, Pointer: r.Field, In: "body", Detail: r.Detail}}
	}
	return p
}

// FromFaults makes one problem of the fields at fault. Its code is that of the first, so that a client can switch on
// one string; the rest stands in errors[].
func FromFaults(faults []Fault) *Problem {
	p := New(faults[0].Code, faults[0].Detail)
	p.Errors = faults
	return p
}

// Error is for logs and tests.
func (p *Problem) Error() string {
	text := p.Code + ": " + p.Detail
	for _, f := range p.Errors {
		text += " [" + f.In + " " + f.Pointer + " " + f.Code + "]"
	}
	return text
}

// Unwrap gives the cause to errors.Is; it is never sent.
func (p *Problem) Unwrap() error { return p.cause }

// WithCause keeps an error for the log.
func (p *Problem) WithCause(err error) *Problem { p.cause = err; return p }

// RetryAfter overrides the advice of the table, milliseconds.
func (p *Problem) RetryAfter(ms int64) *Problem { p.RetryMS = ms; return p }

// Status is the HTTP status of the problem.
func (p *Problem) Status() int { return table[p.Code].status }

// Title is the fixed sentence of the code.
func (p *Problem) Title() string { return table[p.Code].title }

// Type is the path of the code's page, relative to the server.
func Type(code string) string { return "/problems/" + code }

// RetryAfterMS is how long to wait before the same request may succeed, milliseconds; 0 when repeating it unchanged is
// useless or harmless at once.
func (p *Problem) RetryAfterMS() int64 {
	if p.RetryMS != 0 {
		return p.RetryMS
	}
	return table[p.Code].retryMS
}

// Missing is the "not found" of a kind of object: task, queue, workflow, version, instance, application, credential.
func Missing(kind string) *Problem {
	return New(kind+"_not_found", "there is no such "+strings.ReplaceAll(kind, "_", " ")+" in this application")
}
