package problem

import (
	"net/http"
	"strconv"

	"github.com/orbitrun/orbit/engine/exact"
)

// ContentType of every problem (RFC 9457).
const ContentType = "application/problem+json"

// Append writes the document as JSON.
func (p *Problem) Append(dst []byte) []byte {
	members := []exact.Member{
		exact.Field("type", exact.String(Type(p.Code))),
		exact.Field("title", exact.String(p.Title())),
		exact.Field("status", exact.Int(int64(p.Status()))),
		exact.Field("code", exact.String(p.Code)),
	}
	members = p.optional(members)
	return exact.Object(members...).Append(dst)
}

func (p *Problem) optional(members []exact.Member) []exact.Member {
	text := func(name, value string) {
		if value != "" {
			members = append(members, exact.Field(name, exact.String(clean(value))))
		}
	}
	text("detail", p.Detail)
	text("instance", p.Instance)
	text("request_id", p.RequestID)
	text("subject", p.Subject)
	if p.Limit != 0 || p.Current != 0 {
		members = append(members, exact.Field("limit", exact.Int(p.Limit)), exact.Field("current", exact.Int(p.Current)))
	}
	if ms := p.RetryAfterMS(); ms > 0 {
		members = append(members, exact.Field("retry_after_ms", exact.Int(ms)))
	}
	if len(p.Errors) > 0 {
		members = append(members, exact.Field("errors", faults(p.Errors)))
	}
	return members
}

func faults(list []Fault) exact.Value {
	items := make([]exact.Value, len(list))
	for i, f := range list {
		items[i] = exact.Object(
			exact.Field("code", exact.String(f.Code)),
			exact.Field("in", exact.String(f.In)),
			exact.Field("pointer", exact.String(clean(f.Pointer))),
			exact.Field("detail", exact.String(clean(f.Detail))),
		)
	}
	return exact.Array(items...)
}

// MarshalJSON lets a problem stand inside a larger document, such as the outcome of one item of a batch.
func (p *Problem) MarshalJSON() ([]byte, error) { return p.Append(nil), nil }

// Send writes the whole response. Retry-After is in whole seconds, rounded up, as the header demands.
func (p *Problem) Send(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", ContentType)
	header.Set("Cache-Control", "no-store")
	if ms := p.RetryAfterMS(); ms > 0 {
		header.Set("Retry-After", strconv.FormatInt((ms+999)/1000, 10))
	}
	if p.Status() == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", `Bearer realm="orbit"`)
	}
	body := p.Append(nil)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status())
	_, _ = w.Write(body) // the client is gone; there is nobody to tell
}
