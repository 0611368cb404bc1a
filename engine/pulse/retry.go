package pulse

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// RetryKind names one of the four frozen retry policies.
type RetryKind string

// The four policies (pulse.md Task).
const (
	RetryFixed       RetryKind = "FIXED"
	RetryLinear      RetryKind = "LINEAR"
	RetryExponential RetryKind = "EXPONENTIAL"
	RetryList        RetryKind = "LIST"
)

// Retry is a task's frozen retry policy. Delays are milliseconds; MaxAttempts counts the first attempt too.
type Retry struct {
	Kind          RetryKind `json:"kind"`
	MaxAttempts   uint16    `json:"max_attempts"`
	JitterPercent uint8     `json:"jitter_percent,omitempty"`
	DelayMS       int64     `json:"delay_ms,omitempty"`
	StepMS        int64     `json:"step_ms,omitempty"`
	Factor        int64     `json:"factor,omitempty"`
	MaxDelayMS    int64     `json:"max_delay_ms,omitempty"`
	DelaysMS      []int64   `json:"delays_ms,omitempty"`
}

// ParseRetry reads a stored policy. Stored policies were validated when they were accepted.
func ParseRetry(text []byte) (Retry, error) {
	var r Retry
	err := json.Unmarshal(text, &r)
	return r, err
}

// Text is the frozen spelling.
func (r Retry) Text() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // a struct of integers always marshals
	}
	return text
}

// Check refuses a policy that is not complete or goes beyond a bound.
func (r Retry) Check() *engine.Refusal {
	if r.MaxAttempts < 1 || r.MaxAttempts > engine.RetryAttemptsMax {
		return invalid("/retry_policy/max_attempts", "max_attempts is 1 to 100")
	}
	if r.JitterPercent > engine.RetryJitterMax {
		return invalid("/retry_policy/jitter_percent", "jitter_percent is 0 to 50")
	}
	if bad := r.checkDelays(); bad != "" {
		return invalid("/retry_policy", bad)
	}
	return nil
}

func (r Retry) checkDelays() string {
	limit := engine.DeadlineMax.Milliseconds()
	for _, ms := range append([]int64{r.DelayMS, r.StepMS, r.MaxDelayMS}, r.DelaysMS...) {
		if ms < 0 || ms > limit {
			return "a delay is 0 ms to 366 days"
		}
	}
	switch r.Kind {
	case RetryFixed:
		return ""
	case RetryLinear:
		return want(r.MaxDelayMS >= r.DelayMS, "LINEAR needs delay_ms, step_ms and max_delay_ms ≥ delay_ms")
	case RetryExponential:
		return want(r.Factor >= 2 && r.Factor <= engine.RetryFactorMax && r.MaxDelayMS >= r.DelayMS,
			"EXPONENTIAL needs delay_ms, factor 2 to 10 and max_delay_ms ≥ delay_ms")
	case RetryList:
		return want(len(r.DelaysMS) == int(r.MaxAttempts)-1, "LIST needs delays_ms with exactly max_attempts − 1 items")
	}
	return "kind is FIXED, LINEAR, EXPONENTIAL or LIST"
}

func want(ok bool, otherwise string) string {
	if ok {
		return ""
	}
	return otherwise
}

// Delay is how long to wait after the used-th attempt has failed. The jitter is drawn from the task id and the
// attempt, so a plan that is made again is the same plan.
func (r Retry) Delay(task engine.ID, used uint16) time.Duration {
	base := r.base(int64(used))
	return time.Duration(base+jitter(base, r.JitterPercent, task, used)) * time.Millisecond
}

func (r Retry) base(used int64) int64 {
	switch r.Kind {
	case RetryLinear:
		return min(r.DelayMS+r.StepMS*(used-1), r.MaxDelayMS)
	case RetryExponential:
		ms := r.DelayMS
		for i := int64(1); i < used && ms < r.MaxDelayMS; i++ {
			ms *= r.Factor
		}
		return min(ms, r.MaxDelayMS)
	case RetryList:
		if used < 1 || int(used) > len(r.DelaysMS) {
			return 0
		}
		return r.DelaysMS[used-1]
	}
	return r.DelayMS
}

// jitter adds between 0 and percent of the base.
func jitter(base int64, percent uint8, task engine.ID, used uint16) int64 {
	if percent == 0 || base == 0 {
		return 0
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint16(task[:], used))
	share := binary.BigEndian.Uint64(sum[:8]) % 10001 // hundredths of a percent of the span
	return int64(uint64(base) * uint64(percent) / 100 * share / 10000)
}
