package flow

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"
)

// builder walks a document twice: place learns which nodes stand where, so
// that printing can tell a reference to a node nobody placed.
type builder struct {
	input     reflect.Type
	contracts contracts
	policies  object
	known     map[string]Policy
	placed    map[*step]bool
	scopes    int // enclosing Scopes
	problems  []Problem
}

func newBuilder() *builder {
	b := &builder{policies: object{}, known: map[string]Policy{}, placed: map[*step]bool{}}
	b.contracts = contracts{printed: object{}, types: map[string]reflect.Type{}, fail: b.fail}
	return b
}

func (b *builder) fail(code, where, detail string) {
	b.add(Problem{Code: code, Where: where, Detail: detail})
}

// add keeps a problem once: one wrong Get used in five places is one mistake.
func (b *builder) add(p Problem) {
	same := func(q Problem) bool {
		return q.Code == p.Code && q.Detail == p.Detail && q.Source == p.Source && (q.Where == p.Where || p.Source != "")
	}
	if !slices.ContainsFunc(b.problems, same) {
		b.problems = append(b.problems, p)
	}
}

func (b *builder) report(where string, e expression) {
	for _, p := range e.problems {
		p.Where = where
		b.add(p)
	}
}

// at is the Go-side name of a part of a node.
func (b *builder) at(s *step, part string) string { return fmt.Sprintf("step %q: %s", s.name, part) }

// check reports what is wrong with an expression in its place.
func (b *builder) check(where string, e expression, roots []string) {
	b.report(where, e)
	for _, s := range e.reads {
		switch {
		case !b.placed[s]:
			b.add(Problem{"scope_unknown_step", where, fmt.Sprintf("reads step %q, which stands in no body", s.name), s.source})
		case !s.output():
			b.add(Problem{"scope_no_output", where, fmt.Sprintf("reads step %q, which has no output", s.name), s.source})
		}
	}
	for _, t := range e.inputs {
		if t != b.input {
			b.fail("type_mismatch", where, fmt.Sprintf("flow.Input[%s] in a definition that takes %s", typeName(t), typeName(b.input)))
		}
	}
	for _, root := range e.roots {
		if !slices.Contains(roots, root) {
			b.fail("scope_root", where, root+" exists only inside its PollSpec or SignalSpec")
		}
	}
}

func isNil(n Node) bool {
	return n == nil || reflect.ValueOf(n).Kind() == reflect.Pointer && reflect.ValueOf(n).IsNil()
}

// place checks names and that each node stands in exactly one place.
func (b *builder) place(nodes []Node) {
	for _, n := range nodes {
		if isNil(n) {
			b.fail("field_missing", "body", "a node is nil")
			continue
		}
		s := n.base()
		if b.placed[s] {
			b.add(Problem{"node_placed_twice", fmt.Sprintf("step %q", s.name), "the same node stands in two places; make a second one", s.source})
			continue // its bodies are known already
		}
		b.nameStep(s)
		b.placed[s] = true
		for _, body := range n.bodies() {
			b.place(body)
		}
	}
}

func (b *builder) nameStep(s *step) {
	where := fmt.Sprintf("step %q", s.name)
	checkName(s.name, where, func(code, detail string) { b.add(Problem{code, where, detail, s.source}) })
	for other := range b.placed {
		if other.name == s.name {
			b.add(Problem{"name_duplicate", where, "another step has this name", s.source})
			return
		}
	}
}

func (b *builder) body(nodes []Node) array {
	printed := array{}
	for _, n := range nodes {
		if !isNil(n) {
			printed = append(printed, n.print(b))
		}
	}
	return printed
}

// policy is the policy's name; the policy is printed on first use.
func (b *builder) policy(p Policy, where string) token {
	known, used := b.known[p.Name]
	switch {
	case !used:
		b.known[p.Name] = p
		b.policies = b.policies.with(p.Name, b.printPolicy(p))
	case !reflect.DeepEqual(known, p):
		b.fail("policy_conflict", where, fmt.Sprintf("two different policies are named %q", p.Name))
	}
	return quote(p.Name)
}

func (b *builder) printPolicy(p Policy) object {
	where := fmt.Sprintf("policy %q: ", p.Name)
	checkName(p.Name, where, func(code, detail string) { b.fail(code, where+"Name", detail) })
	if p.Lost != LostReview && p.Lost != LostRetry {
		b.fail("field_value", where+"Lost", fmt.Sprintf("%q is neither flow.LostReview nor flow.LostRetry", p.Lost))
	}
	retry := object{}
	if p.Retry == nil {
		b.fail("field_missing", where+"Retry", "is flow.Fixed, Linear, Exponential or List")
	} else {
		retry = p.Retry.retry(func(field string, d time.Duration) token { return b.millis(where+"Retry."+field, d, 0) })
	}
	return object{
		{"priority", integer(p.Priority)},
		{"deadline_ms", b.positive(where+"Deadline", p.Deadline)},
		{"attempt_timeout_ms", b.positive(where+"AttemptTimeout", p.AttemptTimeout)},
		{"lost", quote(string(p.Lost))},
		{"retry", retry},
	}
}

func (b *builder) positive(where string, d time.Duration) token {
	return b.millis(where, d, time.Millisecond)
}

// millis is a duration in the language's unit. A fraction of a millisecond is
// refused, not rounded.
func (b *builder) millis(where string, d, least time.Duration) token {
	switch {
	case d%time.Millisecond != 0:
		b.fail("field_range", where, fmt.Sprintf("%s is not a whole number of milliseconds", d))
	case d < least:
		b.fail("field_range", where, fmt.Sprintf("%s is less than %s", d, least))
	}
	return integer(d.Milliseconds())
}

// The spellings the language fixes (definition.md §2, §3).
var (
	nameSyntax           = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
	handlerSyntax        = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)
	handlerVersionSyntax = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	signalSyntax         = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)
	reasonSyntax         = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	reservedNames        = []string{"input", "steps", "instance", "result", "signal", "item", "index",
		"true", "false", "null", "in", "has", "must", "omit"}
)

func (b *builder) checkSyntax(syntax *regexp.Regexp, text, where string) {
	if !syntax.MatchString(text) {
		b.fail("field_value", where, fmt.Sprintf("%q does not match %s", text, syntax))
	}
}

func checkName(name, where string, fail func(code, detail string)) {
	switch {
	case !nameSyntax.MatchString(name):
		fail("name_syntax", fmt.Sprintf("%q does not match %s", name, nameSyntax))
	case slices.Contains(reservedNames, name):
		fail("name_reserved", fmt.Sprintf("%q is a word of the language", name))
	}
}
