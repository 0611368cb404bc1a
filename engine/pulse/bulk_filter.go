package pulse

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// BulkFilter says which tasks of a queue an operation is about. What is empty filters nothing; BusinessKey is exact.
type BulkFilter struct {
	State                         Public
	BusinessKey                   string
	Handler, HandlerVersion       string
	FailureCode                   string
	AttributeName, AttributeValue string
	From, Before                  time.Time // of acceptance, [From, Before)
}

// BulkRequest asks for a bulk operation.
type BulkRequest struct {
	Credential, Application uint64
	QueueName               string
	Queue                   uint64
	Key                     string
	Kind                    BulkKind
	Filter                  BulkFilter
	Reason                  string
	DryRun                  bool
}

// Check refuses what can be judged without a row. Field names are those of the API.
func (r *BulkRequest) Check() *engine.Refusal {
	f := &r.Filter
	switch {
	case !f.Before.IsZero() && !f.From.Before(f.Before):
		return invalid("/filter/created_before", "the range is empty: created_before must lie after created_from")
	case f.AttributeName != "" && f.BusinessKey != "":
		return invalid("/filter/attribute", "attribute and business_key are not combined: no index serves both")
	case f.HandlerVersion != "" && f.Handler == "":
		return invalid("/filter/handler_version", "a handler_version needs its handler")
	case f.FailureCode != "" && r.Kind != BulkRetry:
		return invalid("/filter/failure_code", "only tasks that ended have a failure_code; it filters what is retried")
	}
	for _, state := range r.Kind.States() {
		if f.State == state || f.State == 0 {
			return nil
		}
	}
	return invalid("/filter/state", fmt.Sprintf("this kind is about tasks that are %v", r.Kind.States()))
}

// States are what the kind is about.
func (k BulkKind) States() []Public {
	switch k {
	case BulkRetry:
		return []Public{PublicFailed, PublicCancelled}
	case BulkPurge:
		return []Public{PublicQueued}
	}
	return []Public{PublicQueued, PublicRunning}
}

// Digest identifies the content of a request.
func (r *BulkRequest) Digest() [32]byte {
	h := sha256.New()
	field(h, "queue", r.QueueName)
	number(h, "kind", int64(r.Kind))
	number(h, "state", int64(r.Filter.State))
	for _, f := range [][2]string{
		{"business_key", r.Filter.BusinessKey}, {"handler", r.Filter.Handler}, {"handler_version", r.Filter.HandlerVersion},
		{"failure_code", r.Filter.FailureCode}, {"attribute", r.Filter.AttributeName}, {"value", r.Filter.AttributeValue},
		{"from", Time(r.Filter.From)}, {"before", Time(r.Filter.Before)}, {"reason", r.Reason}, {"dry_run", fmt.Sprint(r.DryRun)},
	} {
		field(h, f[0], f[1])
	}
	return [32]byte(h.Sum(nil))
}

// BulkCandidate is one task that a scan met behind the cursor.
type BulkCandidate struct {
	Task                    engine.ID
	At                      time.Time // of acceptance
	State                   Public    // RUNNING by its open row
	Version                 uint32
	Handler, HandlerVersion string
	FailureCode             string
}

// Matches judges what no index has judged; the queue, the key, the attribute and the range are the index's.
func (f *BulkFilter) Matches(kind BulkKind, c *BulkCandidate) bool {
	if f.State != 0 && c.State != f.State || f.Handler != "" && c.Handler != f.Handler ||
		f.HandlerVersion != "" && c.HandlerVersion != f.HandlerVersion || f.FailureCode != "" && c.FailureCode != f.FailureCode {
		return false
	}
	for _, state := range kind.States() {
		if c.State == state {
			return true
		}
	}
	return false
}
