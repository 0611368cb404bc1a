package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

// Refusal is a problem document (RFC 9457) as a person should read it: the
// code, what is wrong, each field, what to do next, and whom to quote.
type Refusal struct {
	client.Problem
	RetryAfter time.Duration // zero: the server gave no advice
}

// refusal reads the answer of a request that was not served. An answer that is
// no problem document came from something between here and the node.
func refusal(status int, header http.Header, body []byte) *Refusal {
	r := &Refusal{}
	if json.Unmarshal(body, &r.Problem) != nil || r.Code == "" {
		detail := "the answer is not from a node of Orbit; is the address right, or a proxy in between?"
		r.Problem = client.Problem{Code: "http_" + fmt.Sprint(status), Status: int32(status), Title: http.StatusText(status), Detail: &detail}
	}
	r.Status = int32(status)
	if r.RetryAfterMs != nil {
		r.RetryAfter = time.Duration(*r.RetryAfterMs) * time.Millisecond
	} else if seconds, err := time.ParseDuration(header.Get("Retry-After") + "s"); err == nil {
		r.RetryAfter = seconds
	}
	if id := header.Get("X-Request-Id"); id != "" && r.RequestId == nil {
		r.RequestId = &id
	}
	return r
}

// ItemRefusal reads the problem of one item of a batch.
func ItemRefusal(raw json.RawMessage) *Refusal {
	r := &Refusal{}
	if json.Unmarshal(raw, &r.Problem) != nil {
		r.Code = "internal"
	}
	return r
}

// ExitCode tells what is worth repeating from what is not.
func (r *Refusal) ExitCode() int {
	if r.Status == http.StatusTooManyRequests || r.Status >= 500 {
		return ExitUnavailable
	}
	return ExitRefused
}

// Error is the whole story on several lines.
func (r *Refusal) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Code, render.Clean(text(r.Detail, r.Title)))
	faults := value(r.Errors)
	for _, f := range faults {
		same := len(faults) == 1 && f.Code == r.Code && f.Detail == value(r.Detail) // one field at fault: only its place is new
		if same && f.Pointer == "" {
			continue
		}
		fmt.Fprintf(&b, "\n  %s %s", f.In, render.Clean(f.Pointer))
		if !same {
			fmt.Fprintf(&b, "  %s: %s", f.Code, render.Clean(f.Detail))
		}
	}
	if r.Subject != nil {
		fmt.Fprintf(&b, "\n  in the way: %s", render.Clean(*r.Subject))
	}
	if r.Limit != nil && r.Current != nil {
		fmt.Fprintf(&b, "\n  limit %d, now %d", *r.Limit, *r.Current)
	}
	if next := Advice(r.Code, int(r.Status)); next != "" {
		fmt.Fprintf(&b, "\n  next: %s", next)
	}
	if r.RequestId != nil {
		fmt.Fprintf(&b, "\n  request id: %s", render.Clean(*r.RequestId))
	}
	return b.String()
}

// Line is the refusal on one line, for items of a batch.
func (r *Refusal) Line() string {
	line := r.Code + ": " + text(r.Detail, r.Title)
	for _, f := range value(r.Errors) {
		line += fmt.Sprintf(" [%s %s]", f.Pointer, f.Code)
	}
	return render.Clean(line)
}

// Unreachable is a request that got no answer at all.
type Unreachable struct {
	URL   string
	Cause error
}

func (u *Unreachable) Error() string {
	return fmt.Sprintf("no answer from %s: %v\n  next: is the node running there? --url, ORBIT_URL or the profile say where it is; repeating with the same key is safe", u.URL, u.Cause)
}

func (u *Unreachable) Unwrap() error { return u.Cause }

// ExitCode is that of an unreachable server.
func (u *Unreachable) ExitCode() int { return ExitUnavailable }

func text(detail *string, title string) string {
	if detail != nil && *detail != "" {
		return *detail
	}
	return title
}

// value reads an optional field; absent is the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
