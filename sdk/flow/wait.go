package flow

import "time"

// TimerNode is a TIMER: it waits and gives nothing.
type TimerNode struct {
	leaf
	delay time.Duration
	value *Value[Number]
}

// Timer waits a fixed delay of whole milliseconds.
func Timer(name string, delay time.Duration) *TimerNode {
	return &TimerNode{leaf: leaf{newStep(name)}, delay: delay}
}

// TimerFor waits as many milliseconds as the value says; checked to be a
// positive integer when the timer is reached.
func TimerFor(name string, delayMS Value[Number]) *TimerNode {
	return &TimerNode{leaf: leaf{newStep(name)}, value: &delayMS}
}

// Describe sets the description (at most 512 characters).
func (n *TimerNode) Describe(text string) *TimerNode {
	n.description = text
	return n
}

func (n *TimerNode) print(b *builder) object {
	where := b.at(&n.step, "delay")
	if n.value != nil {
		return n.start("TIMER").with("delay_ms", b.value(where, n.value, numberType, false, nil))
	}
	return n.start("TIMER").with("delay_ms", b.positive(where, n.delay))
}

// SignalNode is a SIGNAL: it waits for an outside message.
type SignalNode[T any] struct {
	leaf
	signal      signalName
	correlation Value[string]
	deadline    time.Duration
	expiry      Expiry
}

// Signal waits for the first signal with this correlation (1–512 bytes,
// compared exactly), at most deadline. Its output is the content.
func Signal[T any](name string, s SignalRef[T], correlation Value[string], deadline time.Duration, expiry Expiry) *SignalNode[T] {
	return &SignalNode[T]{leaf{newStep(name)}, s.signal(), correlation, deadline, expiry}
}

// Expiry says what happens when a Signal's own deadline passes.
type Expiry struct {
	output any
	given  bool
}

// ExpireReview hands an unanswered wait to a person.
var ExpireReview = Expiry{}

// ExpireWith goes on with this output, as if it had been the content. It only
// applies to the signal's own deadline, never to the instance's.
func ExpireWith(output any) Expiry { return Expiry{output, true} }

// Out is the signal's content.
func (n *SignalNode[T]) Out() Value[T] { return outputOf[T](&n.step) }

// Describe sets the description (at most 512 characters).
func (n *SignalNode[T]) Describe(text string) *SignalNode[T] {
	n.description = text
	return n
}

func (n *SignalNode[T]) print(b *builder) object {
	o := append(n.start("SIGNAL"), n.signal.print(b, b.at(&n.step, ""), n.correlation)...)
	o = o.with("deadline_ms", b.positive(b.at(&n.step, "deadline"), n.deadline))
	if !n.expiry.given {
		return o.with("on_expiry", quote("REVIEW"))
	}
	output := b.template(b.at(&n.step, "on_expiry.output"), n.expiry.output, n.signal.content)
	return o.with("on_expiry", object{{"output", output}})
}

func (s signalName) print(b *builder, where string, correlation anyValue) object {
	b.checkSyntax(signalSyntax, s.name, where+"signal")
	if len(s.version) < 1 || len(s.version) > 32 {
		b.fail("field_value", where+"signal_version", "has 1 to 32 characters")
	}
	return object{
		{"signal", quote(s.name)},
		{"signal_version", quote(s.version)},
		{"content_contract", b.contracts.reference(s.content)},
		{"correlation", b.value(where+"correlation", correlation, stringType, false, nil)},
	}
}
