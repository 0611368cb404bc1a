package flow

import (
	"fmt"
	"reflect"
	"slices"
	"time"
)

// PollNode is a POLL: it asks a handler again and again until the answer is
// final.
type PollNode[Out any] struct {
	leaf
	call  taskCall
	spec  pollSpec
	final *finalSignal
}

// PollSpec says how often to ask and what an answer means. Value picks the
// member that is classified, NumberValue is its numeric form; exactly one is
// set. Output maps the DONE answer to the poll's output; nil gives the whole
// answer. Interval is 1 s to 24 h, MaxRounds 1 to 1000, Deadline counts from
// the first round. A value in none of the lists goes to review.
type PollSpec[S any] struct {
	Interval    time.Duration
	MaxRounds   int
	Deadline    time.Duration
	Value       func(Value[S]) Value[string]
	NumberValue func(Value[S]) Value[Number]
	Pending     []Constant
	Done        []Constant
	Failed      []Constant
	Review      []Constant
	Output      func(Value[S]) Object
}

// SignalSpec says what the final signal's content means, as PollSpec does for
// an answer; a signal is never pending.
type SignalSpec[S any] struct {
	Value       func(Value[S]) Value[string]
	NumberValue func(Value[S]) Value[Number]
	Done        []Constant
	Failed      []Constant
	Review      []Constant
	Output      func(Value[S]) Object
}

// Constant is a scalar of a classification: string, Number, integer, bool or
// nil.
type Constant any

// Values lists the constants of one class.
func Values(constants ...Constant) []Constant { return constants }

// Poll asks the handler at once and then every Interval. In and S come from
// the handler; Out is named by the caller.
func Poll[Out, In, S any](name string, h HandlerRef[In, S], p Policy, input any, spec PollSpec[S]) *PollNode[Out] {
	return &PollNode[Out]{
		leaf: leaf{newStep(name)},
		call: taskCall{handler: h.handler(), policy: p, input: input},
		spec: pollSpec{
			interval: spec.Interval, maxRounds: spec.MaxRounds, deadline: spec.Deadline,
			classify: newClassify("result", spec.Value, spec.NumberValue, spec.Output,
				class{"pending", spec.Pending}, class{"done", spec.Done}, class{"failed", spec.Failed}, class{"review", spec.Review}),
		},
	}
}

// Out is the output mapped from the DONE answer or the final signal.
func (n *PollNode[Out]) Out() Value[Out] { return outputOf[Out](&n.step) }

// BusinessKey sets the business key of every round.
func (n *PollNode[Out]) BusinessKey(key Value[string]) *PollNode[Out] {
	n.call.businessKey = key
	return n
}

// ResourceKey sets the resource key of every round.
func (n *PollNode[Out]) ResourceKey(key Value[string]) *PollNode[Out] {
	n.call.resourceKey = key
	return n
}

// Describe sets the description (at most 512 characters).
func (n *PollNode[Out]) Describe(text string) *PollNode[Out] {
	n.description = text
	return n
}

// FinalSignal lets an outside message end the poll; the first of the two by
// time wins. spec is a SignalSpec of the signal's content type.
func (n *PollNode[Out]) FinalSignal(s AnySignal, correlation Value[string], spec FinalSpec) *PollNode[Out] {
	n.final = &finalSignal{s.signal(), correlation, spec.final()}
	return n
}

// FinalSpec is a SignalSpec of any content type.
type FinalSpec interface{ final() classify }

func (s SignalSpec[S]) final() classify {
	return newClassify("signal", s.Value, s.NumberValue, s.Output,
		class{"done", s.Done}, class{"failed", s.Failed}, class{"review", s.Review})
}

type pollSpec struct {
	interval, deadline time.Duration
	maxRounds          int
	classify           classify
}

type finalSignal struct {
	signal      signalName
	correlation Value[string]
	classify    classify
}

// classify is PollSpec and SignalSpec without their type: the expressions over
// one local root, and the classes in printing order.
type classify struct {
	root    string
	content anyValue
	value   anyValue // nil when the author set none or both
	output  any
	classes []class
}

type class struct {
	name   string
	values []Constant
}

func newClassify[S any](name string, text func(Value[S]) Value[string], number func(Value[S]) Value[Number],
	output func(Value[S]) Object, classes ...class) classify {
	local := root[S](name)
	local.e.roots = []string{name}
	c := classify{root: name, content: local, output: local, classes: classes}
	switch {
	case text != nil && number == nil:
		c.value = text(local)
	case number != nil && text == nil:
		c.value = number(local)
	}
	if output != nil {
		c.output = output(local)
	}
	return c
}

func (n *PollNode[Out]) print(b *builder) object {
	at, spec := b.at(&n.step, ""), n.spec
	if kindOf(n.call.handler.out) == kindAny || kindOf(n.call.handler.out) == kindNone {
		b.fail("contract_unknown", at+"output_contract", "a poll's handler needs an output type to classify")
	}
	o := n.start("POLL").
		with("task", n.call.print(b, at)).
		with("interval_ms", b.positive(at+"interval", spec.interval)).
		with("max_rounds", integer(spec.maxRounds)).
		with("deadline_ms", b.positive(at+"deadline", spec.deadline)).
		with("classify", spec.classify.print(b, at))
	contract := b.contracts.reference(reflect.TypeFor[Out]())
	o = o.with("output", b.template(at+"output", spec.classify.output, reflect.TypeFor[Out](), "result")).with("output_contract", contract)
	if n.final == nil {
		return o.with("final_signal", null)
	}
	return o.with("final_signal", n.printFinal(b, at+"final_signal."))
}

func (n *PollNode[Out]) printFinal(b *builder, where string) object {
	f := n.final
	if content := f.classify.content.goType(); content != f.signal.content {
		b.fail("type_mismatch", where+"spec", fmt.Sprintf("SignalSpec[%s] for a signal of %s", typeName(content), typeName(f.signal.content)))
	}
	o := f.signal.print(b, where, f.correlation).with("classify", f.classify.print(b, where))
	return o.with("output", b.template(where+"output", f.classify.output, reflect.TypeFor[Out](), "signal"))
}

func (c classify) print(b *builder, where string) object {
	where += "classify."
	if c.value == nil {
		b.fail("field_missing", where+"value", "exactly one of Value and NumberValue is set")
		return object{}
	}
	o := object{{"value", b.value(where+"value", c.value, nil, false, []string{c.root})}}
	var seen []string
	for _, class := range c.classes {
		o = o.with(class.name, c.printClass(b, where+class.name, class, &seen))
	}
	return o
}

// printClass checks what Go can: type, enum and that no value has two
// meanings. Numbers are compared as spelled; the server compares their value.
func (c classify) printClass(b *builder, where string, class class, seen *[]string) array {
	list := array{}
	for _, constant := range class.values {
		e := literalFor(constant, c.value.goType())
		if why := unlisted(c.value.expression(), e); why != "" {
			e.fail("poll_value_not_in_contract", "%s", why)
		}
		if slices.Contains(*seen, e.text) {
			e.fail("poll_values_overlap", "%s is listed twice", e.text)
		}
		*seen = append(*seen, e.text)
		b.report(where, e)
		list = append(list, e.constant)
	}
	if len(list) == 0 && (class.name == "pending" || class.name == "done") {
		b.fail("field_value", where, "needs at least one value")
	}
	return list
}
