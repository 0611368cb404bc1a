package flow

import (
	"fmt"
	"reflect"
	"slices"
	"time"
)

// OnFailure says what a failed step does to the instance.
type OnFailure string

// Review stops and asks a person. FailAfterSettled lets running work settle,
// then fails the instance.
const (
	Review           OnFailure = "REVIEW"
	FailAfterSettled OnFailure = "FAIL_AFTER_SETTLED"
)

// Settings are the document's own fields. Deadline counts from the start of an
// instance and is never extended (whole milliseconds, at most 366 days).
type Settings struct {
	Description string
	Deadline    time.Duration
	OnFailure   OnFailure
}

// Definition is a finished document.
type Definition struct {
	name    string
	version int
	text    []byte
}

// Name is the definition's name.
func (d *Definition) Name() string { return d.name }

// Version is the publisher's version.
func (d *Definition) Version() int { return d.version }

// JSON is the document to publish: UTF-8, stable layout, a trailing newline.
// The same Go source always gives the same bytes. The caller owns the copy.
func (d *Definition) JSON() []byte { return slices.Clone(d.text) }

// MarshalJSON is JSON, so that a Definition can be embedded in a request.
func (d *Definition) MarshalJSON() ([]byte, error) { return d.JSON(), nil }

// Define checks and prints a definition whose instances take In and give Out.
// version is 1 to 2147483647, chosen by the publisher and immutable once
// accepted. output is evaluated after the body; nil is null. All problems are
// reported together as *DefinitionError.
func Define[In, Out any](name string, version int, s Settings, body []Node, output any) (*Definition, error) {
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	b := newBuilder()
	checkName(name, "definition", func(code, detail string) { b.fail(code, "definition", detail) })
	if version < 1 || version > 2147483647 {
		b.fail("field_range", "version", fmt.Sprintf("%d is not 1 to 2147483647", version))
	}
	if s.OnFailure != Review && s.OnFailure != FailAfterSettled {
		b.fail("field_value", "Settings.OnFailure", fmt.Sprintf("%q is neither flow.Review nor flow.FailAfterSettled", s.OnFailure))
	}
	b.input = in
	b.place(body)
	o := object{{"schema_version", integer(1)}, {"definition", quote(name)}, {"version", integer(version)}}.
		withText("description", s.Description).
		with("input_contract", b.contracts.reference(in)).
		with("output_contract", b.contracts.reference(out)).
		with("deadline_ms", b.positive("Settings.Deadline", s.Deadline)).
		with("on_failure", quote(string(s.OnFailure)))
	if len(body) == 0 {
		b.fail("body_empty", "body", "a definition has at least one node")
	}
	steps := b.body(body)
	result := b.template("output", output, out)
	o = o.with("contracts", b.contracts.printed).with("policies", b.policies).
		with("body", steps).with("output", result)
	if len(b.problems) > 0 {
		return nil, &DefinitionError{name, b.problems}
	}
	return &Definition{name, version, layout(o)}, nil
}
