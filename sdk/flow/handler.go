package flow

import (
	"reflect"
	"time"
)

// HandlerRef names a task handler with the Go types of its input and output.
// It is a package variable shared by the definition and the worker, so both
// sides agree at compile time.
type HandlerRef[In, Out any] struct{ queue, name, version string }

// Handler is the handler name in a version, reached through a queue. All three
// match [A-Za-z0-9._-]: queue and name 1–128, version 1–64 characters.
func Handler[In, Out any](queue, name, version string) HandlerRef[In, Out] {
	return HandlerRef[In, Out]{queue, name, version}
}

// Queue is the queue its tasks go to.
func (h HandlerRef[In, Out]) Queue() string { return h.queue }

// Name is the handler name.
func (h HandlerRef[In, Out]) Name() string { return h.name }

// Version is the handler version, a string.
func (h HandlerRef[In, Out]) Version() string { return h.version }

func (h HandlerRef[In, Out]) handler() handler {
	return handler{h.queue, h.name, h.version, reflect.TypeFor[In](), reflect.TypeFor[Out]()}
}

// AnyHandler is a HandlerRef of any types.
type AnyHandler interface{ handler() handler }

type handler struct {
	queue, name, version string
	in, out              reflect.Type
}

// SignalRef names an outside signal with the Go type of its content.
type SignalRef[T any] struct{ name, version string }

// SignalType is the signal name ([a-z0-9._-], 1–64) in a version (1–32
// characters); T is its content.
func SignalType[T any](name, version string) SignalRef[T] { return SignalRef[T]{name, version} }

// Name is the signal name.
func (s SignalRef[T]) Name() string { return s.name }

// Version is the signal version.
func (s SignalRef[T]) Version() string { return s.version }

func (s SignalRef[T]) signal() signalName { return signalName{s.name, s.version, reflect.TypeFor[T]()} }

// AnySignal is a SignalRef of any content.
type AnySignal interface{ signal() signalName }

type signalName struct {
	name, version string
	content       reflect.Type
}

// Lost is what happens when a worker disappears and nobody knows whether the
// work was done.
type Lost string

// LostReview asks a person. LostRetry tries again: the author declares the
// handler safe to repeat.
const (
	LostReview Lost = "REVIEW"
	LostRetry  Lost = "RETRY"
)

// Policy is a named task policy. Every field is printed; there is no
// inheritance and no override, so a task that differs has its own policy.
// Priority is 0–9; durations are whole milliseconds, AttemptTimeout at most
// Deadline.
type Policy struct {
	Name           string
	Priority       int
	Deadline       time.Duration
	AttemptTimeout time.Duration
	Lost           Lost
	Retry          Retry
}

// Retry is Fixed, Linear, Exponential or List. MaxAttempts counts the first
// attempt (1–100), JitterPercent is 0–50.
type Retry interface {
	retry(ms func(field string, d time.Duration) token) object
}

// Fixed waits Delay before every retry.
type Fixed struct {
	MaxAttempts   int
	Delay         time.Duration
	JitterPercent int
}

// Linear waits Delay, then Step longer each time, at most MaxDelay.
type Linear struct {
	MaxAttempts           int
	Delay, Step, MaxDelay time.Duration
	JitterPercent         int
}

// Exponential waits Delay, then Factor (2–10) times longer each time, at most
// MaxDelay.
type Exponential struct {
	MaxAttempts   int
	Delay         time.Duration
	Factor        int
	MaxDelay      time.Duration
	JitterPercent int
}

// List waits as listed; there is one attempt more than delays.
type List struct {
	Delays        []time.Duration
	JitterPercent int
}

type millis = func(field string, d time.Duration) token

func (r Fixed) retry(ms millis) object {
	return retryObject("FIXED", r.MaxAttempts, r.JitterPercent, object{{"delay_ms", ms("Delay", r.Delay)}})
}

func (r Linear) retry(ms millis) object {
	return retryObject("LINEAR", r.MaxAttempts, r.JitterPercent, object{
		{"delay_ms", ms("Delay", r.Delay)}, {"step_ms", ms("Step", r.Step)}, {"max_delay_ms", ms("MaxDelay", r.MaxDelay)}})
}

func (r Exponential) retry(ms millis) object {
	return retryObject("EXPONENTIAL", r.MaxAttempts, r.JitterPercent, object{
		{"delay_ms", ms("Delay", r.Delay)}, {"factor", integer(r.Factor)}, {"max_delay_ms", ms("MaxDelay", r.MaxDelay)}})
}

func (r List) retry(ms millis) object {
	delays := array{}
	for _, d := range r.Delays {
		delays = append(delays, ms("Delays", d))
	}
	return retryObject("LIST", len(r.Delays)+1, r.JitterPercent, object{{"delays_ms", delays}})
}

func retryObject(kind string, attempts, jitter int, own object) object {
	o := object{{"kind", quote(kind)}, {"max_attempts", integer(attempts)}}
	return append(append(o, own...), member{"jitter_percent", integer(jitter)})
}
