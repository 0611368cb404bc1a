package pulse

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"regexp"
	"strings"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Submission is one task to accept. TaskID and Queue are found by the caller before the transaction; the id becomes
// the task's only if no receipt exists for the key.
type Submission struct {
	Credential, Application uint64
	TaskID                  engine.ID
	Key                     string // submit key, exact bytes, unique per application
	QueueName               string
	Queue                   uint64
	Handler, HandlerVersion string
	Input                   []byte   // exact JSON
	InputDigest             [32]byte // structural digest of Input
	BusinessKey             string   // empty: none
	ResourceKey             string   // empty: none
	Priority                uint8
	DelayMS                 int64
	DeadlineMS              int64
	AttemptTimeoutMS        int64
	Retry                   Retry
	Lost                    LostPolicy
	OutputContract          []byte // nil: none
	Traceparent             string
	Slot                    SlotRule    // zero: none
	Attributes              []Attribute // by name; each is found again by ListTasks

	// Set by the platform only, for tasks owned by a workflow or a schedule.
	Source      Source
	Owner, Gate engine.ID
	DeadlineAt  time.Time // zero: now + DeadlineMS
}

// Attribute is one search attribute of a task: exact bytes, bounded, indexed. At is its place in the request.
type Attribute struct {
	Name, Value string
	At          int
}

func invalid(pointer, detail string) *engine.Refusal {
	return engine.Refuse("request_invalid", detail).At(pointer)
}

// Check refuses what can be judged without a row. Field names are those of the API.
func (s *Submission) Check() *engine.Refusal {
	for _, f := range s.sizes() {
		if len(f.value) < f.min || len(f.value) > f.max {
			return invalid(f.pointer, fmt.Sprintf("length is %d to %d bytes, here %d", f.min, f.max, len(f.value)))
		}
	}
	limit := engine.DeadlineMax.Milliseconds()
	switch {
	case s.Priority > engine.PriorityMax:
		return invalid("/priority", "priority is 0 to 9")
	case s.DelayMS < 0 || s.DelayMS > limit:
		return invalid("/delay_ms", "delay_ms is 0 to 366 days")
	case s.DeadlineMS < 1 || s.DeadlineMS > limit:
		return invalid("/deadline_ms", "deadline_ms is 1 ms to 366 days")
	case s.DelayMS >= s.DeadlineMS:
		return invalid("/delay_ms", "the deadline covers the delay, so delay_ms must be below deadline_ms")
	case s.AttemptTimeoutMS < 1 || s.AttemptTimeoutMS > s.DeadlineMS:
		return invalid("/attempt_timeout_ms", "attempt_timeout_ms is 1 ms to deadline_ms")
	case s.Lost != LostReview && s.Lost != LostRetry:
		return invalid("/lost_policy", "lost_policy is REVIEW or RETRY")
	}
	if refusal := s.Slot.check(s); refusal != nil {
		return refusal
	}
	if refusal := checkAttributes(s.Attributes); refusal != nil {
		return refusal
	}
	return s.Retry.Check()
}

type sized struct {
	pointer, value string
	min, max       int
}

func (s *Submission) sizes() []sized {
	return []sized{
		{"/submit_key", s.Key, 1, engine.KeyBytesMax},
		{"/handler", s.Handler, 1, engine.HandlerBytesMax},
		{"/handler_version", s.HandlerVersion, 1, engine.HandlerVersionBytesMax},
		{"/business_key", s.BusinessKey, 0, engine.KeyBytesMax},
		{"/resource_key", s.ResourceKey, 0, engine.KeyBytesMax},
		{"/input", string(s.Input), 1, engine.PayloadBytesMax},
		{"/output_contract", string(s.OutputContract), 0, engine.ContractBytesMax},
	}
}

// Digest is the structural digest of the request: same key and same digest is the same request. A field added later
// counts only when it is not zero, so old digests never change (pulse.md Task).
func (s *Submission) Digest() [32]byte {
	h := sha256.New()
	field(h, "queue", s.QueueName)
	field(h, "handler", s.Handler)
	field(h, "handler_version", s.HandlerVersion)
	field(h, "input", string(s.InputDigest[:]))
	field(h, "business_key", s.BusinessKey)
	field(h, "resource_key", s.ResourceKey)
	number(h, "priority", int64(s.Priority))
	number(h, "delay_ms", s.DelayMS)
	number(h, "deadline_ms", s.DeadlineMS)
	number(h, "attempt_timeout_ms", s.AttemptTimeoutMS)
	field(h, "retry_policy", string(s.Retry.Text()))
	number(h, "lost_policy", int64(s.Lost))
	field(h, "output_contract", string(s.OutputContract))
	s.Slot.digest(h)
	for _, a := range s.Attributes {
		field(h, "attribute "+a.Name, "="+a.Value)
	}
	return [32]byte(h.Sum(nil))
}

// checkAttributes bounds the attributes and refuses a name twice; they come sorted by name.
func checkAttributes(list []Attribute) *engine.Refusal {
	if len(list) > engine.AttributesMax {
		return invalid("/attributes", fmt.Sprintf("a task has at most %d attributes, here %d", engine.AttributesMax, len(list)))
	}
	for i, a := range list {
		at := fmt.Sprintf("/attributes/%d", a.At)
		switch {
		case !attributeName.MatchString(a.Name):
			return invalid(at, "an attribute's name is a lower-case letter and up to 47 of a-z, 0-9 and _")
		case len(a.Value) == 0 || len(a.Value) > engine.AttributeValueBytesMax:
			return invalid(at, fmt.Sprintf("an attribute's value is 1 to %d bytes, here %d", engine.AttributeValueBytesMax, len(a.Value)))
		case i > 0 && list[i-1].Name == a.Name:
			return invalid(at, "an attribute has one value")
		}
	}
	return nil
}

var attributeName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

func field(h hash.Hash, name, value string) {
	if value == "" {
		return
	}
	for _, part := range []string{name, value} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		h.Write([]byte(part))
	}
}

func number(h hash.Hash, name string, value int64) {
	if value != 0 {
		field(h, name, string(binary.BigEndian.AppendUint64(nil, uint64(value))))
	}
}

// Time renders a time of the platform: RFC 3339, UTC, microseconds.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// receipt is the frozen answer to a submission, byte for byte what every replay returns.
func (s *Submission) receipt(t *Task, now time.Time) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"task_id":%q,"queue":%q,"state":"QUEUED","accepted_at":%q,"available_at":%q,"deadline_at":%q}`,
		t.ID.Text("task"), s.QueueName, Time(now), Time(t.AvailableAt), Time(t.DeadlineAt))
	return []byte(b.String())
}
