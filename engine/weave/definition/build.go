package definition

import (
	"strconv"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// builder turns the JSON tree into the typed tree. It never reports: a field
// the shape phase refused is simply left empty, and later phases stay silent
// about what is empty.
type builder struct {
	def   *Definition
	sites []*site
	lost  bool // some step could not be read, so a name nobody has may be its
}

// nameRef is a name written where something else is meant: a contract, a
// policy, a queue.
type nameRef struct {
	name   string
	isNull bool
	given  bool
	at     place
}

func (b *builder) document(v exact.Value) *Definition {
	at := place{}
	d := &Definition{
		Name: str(v, "definition"), Version: num(v, "version"), Description: str(v, "description"),
		DeadlineMS: num(v, "deadline_ms"), OnFailure: OnFailure(str(v, "on_failure")),
		nodes: map[string]*Node{},
	}
	b.def = d
	b.contracts(v, at)
	b.policies(v, at)
	d.Body = b.body(v, at, "body", nil, 0)
	d.Output = b.template(v, at, "output", &site{role: roleDocument, want: wantContract, contract: &d.OutputContract})
	b.contract(v, at, "input_contract", &d.InputContract, nil)
	b.contract(v, at, "output_contract", &d.OutputContract, func() bool { return d.Output.isNull() })
	b.resolve()
	return d
}

func (b *builder) contracts(v exact.Value, at place) {
	all, _ := v.Get("contracts")
	for _, m := range membersOf(all) {
		schema, problems := contract.Compile(m.Value)
		b.def.Contracts = append(b.def.Contracts, &Contract{
			Name: m.Name, Schema: schema, source: m.Value, problems: problems, at: at.member("contracts").member(m.Name),
		})
	}
}

func (b *builder) policies(v exact.Value, at place) {
	all, _ := v.Get("policies")
	for _, m := range membersOf(all) {
		here := at.member("policies").member(m.Name)
		retry, _ := m.Value.Get("retry")
		b.def.Policies = append(b.def.Policies, &Policy{
			Name: m.Name, Priority: num(m.Value, "priority"), DeadlineMS: num(m.Value, "deadline_ms"),
			AttemptTimeoutMS: num(m.Value, "attempt_timeout_ms"), Lost: Lost(str(m.Value, "lost")),
			Retry: buildRetry(retry, here.member("retry")), at: here,
		})
	}
}

func buildRetry(v exact.Value, at place) Retry {
	r := Retry{
		Kind: RetryKind(str(v, "kind")), MaxAttempts: num(v, "max_attempts"), JitterPercent: num(v, "jitter_percent"),
		DelayMS: num(v, "delay_ms"), StepMS: num(v, "step_ms"), Factor: num(v, "factor"), MaxDelayMS: num(v, "max_delay_ms"),
		at: at,
	}
	delays, _ := v.Get("delays_ms")
	for _, one := range itemsOf(delays) {
		r.DelaysMS = append(r.DelaysMS, integerOf(one))
	}
	return r
}

func (b *builder) body(v exact.Value, at place, name string, parent *Node, part int) []*Node {
	items, _ := v.Get(name)
	var nodes []*Node
	b.lost = b.lost || len(itemsOf(items)) == 0 && parent == nil
	for i, one := range itemsOf(items) {
		if one.Kind() != exact.KindObject {
			b.lost = true
			continue
		}
		nodes = append(nodes, b.node(one, at.member(name).item(i), parent, part, i))
	}
	return nodes
}

func (b *builder) node(v exact.Value, at place, parent *Node, part, position int) *Node {
	at.step = str(v, "name")
	spelled := refTo(v, at, "name")
	n := &Node{
		Name: at.step, Kind: Kind(str(v, "kind")), Description: str(v, "description"),
		Pointer: at.pointer, Parent: parent, Part: part, Position: position,
		Number: len(b.def.order) + 1, named: spelled.given,
	}
	b.lost = b.lost || !n.named || !n.Kind.known()
	b.def.order = append(b.def.order, n)
	if _, taken := b.def.nodes[n.Name]; !taken {
		b.def.nodes[n.Name] = n
	}
	switch n.Kind {
	case KindTask:
		n.Task = b.task(v, at, n)
	case KindBranch:
		n.Branch = b.branch(v, at, n)
	case KindParallel:
		n.Parallel = b.parallel(v, at, n)
	case KindTimer:
		n.Timer = b.timer(v, at, n)
	case KindSignal:
		n.Signal = b.signal(v, at, n)
	case KindPoll:
		n.Poll = b.poll(v, at, n)
	case KindMap:
		n.Map = b.mapNode(v, at, n)
	case KindChild:
		n.Child = b.child(v, at, n)
	case KindScope:
		n.Scope = &Scope{Body: b.body(v, at, "body", n, 0), CompensationDeadlineMS: num(v, "compensation_deadline_ms")}
	}
	return n
}

// template registers one place where the document computes something.
func (b *builder) template(v exact.Value, at place, name string, s *site) *Template {
	raw, ok := v.Get(name)
	if !ok {
		return nil
	}
	s.at = at.member(name)
	parse := expr.ParseTemplate
	if s.expression {
		parse = expr.ParseCondition
	}
	compiled, problems := parse(raw, s.at.pointer)
	s.template = &Template{Template: compiled, Source: raw, Pointer: s.at.pointer, problems: problems}
	b.sites = append(b.sites, s)
	return s.template
}

// key is a template of type string, or null for no key.
func (b *builder) key(v exact.Value, at place, name string, s *site) *Template {
	if raw, ok := v.Get(name); ok && raw.Kind() == exact.KindNull {
		return nil
	}
	s.want, s.bytesMax = wantString, KeyBytesMax
	return b.template(v, at, name, s)
}

func refTo(v exact.Value, at place, name string) nameRef {
	raw, ok := v.Get(name)
	if !ok {
		return nameRef{}
	}
	r := nameRef{at: at.member(name), isNull: raw.Kind() == exact.KindNull}
	if raw.Kind() == exact.KindString {
		r.name, r.given = raw.Str(), true
	}
	return r
}

func str(v exact.Value, name string) string {
	if m, ok := v.Get(name); ok && m.Kind() == exact.KindString {
		return m.Str()
	}
	return ""
}

func num(v exact.Value, name string) int64 {
	m, ok := v.Get(name)
	if !ok {
		return 0
	}
	return integerOf(m)
}

// integerOf is zero for whatever the shape phase refused.
func integerOf(v exact.Value) int64 {
	if v.Kind() != exact.KindNumber || !structuralInteger.MatchString(v.Token()) {
		return 0
	}
	n, err := strconv.ParseInt(v.Token(), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func itemsOf(v exact.Value) []exact.Value {
	if v.Kind() != exact.KindArray {
		return nil
	}
	return v.Items()
}

func membersOf(v exact.Value) []exact.Member {
	if v.Kind() != exact.KindObject {
		return nil
	}
	return v.Members()
}

// contractRef is a contract field: the name written and where the resolved
// contract goes.
type contractRef struct {
	nameRef
	target **Contract
	silent func() bool // no contract is what is right here
}

func (b *builder) contract(v exact.Value, at place, name string, target **Contract, silent func() bool) {
	b.def.refs = append(b.def.refs, &contractRef{refTo(v, at, name), target, silent})
}

// resolve turns names into pointers; what does not resolve stays nil and is
// reported by the names phase.
func (b *builder) resolve() {
	for _, r := range b.def.refs {
		*r.target = b.def.contract(r.name)
	}
	for _, t := range b.def.works {
		t.Policy = b.def.policy(t.policy.name)
	}
}
