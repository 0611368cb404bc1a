package definition

import "github.com/orbitrun/orbit/engine/exact"

func (b *builder) task(v exact.Value, at place, n *Node) *Task {
	t := b.work(v, at, n, roleEntry)
	if undo, ok := v.Get("compensation"); ok && undo.Kind() == exact.KindObject {
		t.Compensation = b.work(undo, at.member("compensation"), n, roleCompensation)
	}
	return t
}

// work reads the nine fields a TASK, a POLL round and a compensation share.
func (b *builder) work(v exact.Value, at place, n *Node, role role) *Task {
	t := &Task{
		Queue: str(v, "queue"), Handler: str(v, "handler"), HandlerVersion: str(v, "handler_version"),
		at:    at,
		queue: refTo(v, at, "queue"), policy: refTo(v, at, "policy"),
	}
	b.def.works = append(b.def.works, t)
	b.contract(v, at, "input_contract", &t.InputContract, nil)
	b.contract(v, at, "output_contract", &t.OutputContract, nil)
	t.Input = b.template(v, at, "input", &site{node: n, role: role, want: wantContract, contract: &t.InputContract})
	t.BusinessKey = b.key(v, at, "business_key", &site{node: n, role: role})
	t.ResourceKey = b.key(v, at, "resource_key", &site{node: n, role: role})
	return t
}

func (b *builder) branch(v exact.Value, at place, n *Node) *Branch {
	branch := &Branch{}
	b.contract(v, at, "output_contract", &branch.OutputContract, func() bool { return !branch.HasOutput() })
	cases, _ := v.Get("cases")
	for i, one := range itemsOf(cases) {
		branch.Cases = append(branch.Cases, b.arm(one, at.member("cases").item(i), n, branch, i))
	}
	if last, ok := v.Get("default"); ok && last.Kind() == exact.KindObject {
		branch.Default = b.arm(last, at.member("default"), n, branch, len(branch.Cases))
	}
	return branch
}

func (b *builder) arm(v exact.Value, at place, n *Node, branch *Branch, part int) *Arm {
	a := &Arm{Fail: str(v, "fail"), Review: str(v, "review"), at: at}
	a.When = b.template(v, at, "when", &site{node: n, role: roleEntry, want: wantBoolean, expression: true})
	if list, ok := v.Get("body"); ok && list.Kind() == exact.KindArray {
		a.Runs = true
		a.Body = b.body(v, at, "body", n, part)
	}
	if a.Runs {
		a.Output = b.template(v, at, "output", &site{node: n, arm: a, role: roleArm, want: wantContract, contract: &branch.OutputContract})
	}
	return a
}

func (b *builder) parallel(v exact.Value, at place, n *Node) *Parallel {
	p := &Parallel{}
	branches, _ := v.Get("branches")
	for i, one := range itemsOf(branches) {
		p.Branches = append(p.Branches, &Lane{
			Label: str(one, "label"), Body: b.body(one, at.member("branches").item(i), "body", n, i),
		})
	}
	return p
}

func (b *builder) timer(v exact.Value, at place, n *Node) *Timer {
	t := &Timer{DelayMS: num(v, "delay_ms")}
	if raw, ok := v.Get("delay_ms"); ok && raw.Kind() == exact.KindString {
		t.Delay = b.template(v, at, "delay_ms", &site{node: n, role: roleEntry, want: wantNumber, expression: true})
	}
	return t
}

func (b *builder) signal(v exact.Value, at place, n *Node) *Signal {
	s := &Signal{DeadlineMS: num(v, "deadline_ms")}
	b.receive(&s.Receive, v, at, n)
	if expiry, ok := v.Get("on_expiry"); ok && expiry.Kind() == exact.KindObject {
		s.ExpiryOutput = b.template(expiry, at.member("on_expiry"), "output",
			&site{node: n, role: roleEntry, want: wantContract, contract: &s.ContentContract})
	}
	return s
}

func (b *builder) receive(r *Receive, v exact.Value, at place, n *Node) {
	r.Signal, r.SignalVersion = str(v, "signal"), str(v, "signal_version")
	b.contract(v, at, "content_contract", &r.ContentContract, nil)
	r.Correlation = b.template(v, at, "correlation", &site{node: n, role: roleEntry, want: wantString, bytesMax: CorrelationBytesMax})
}

func (b *builder) poll(v exact.Value, at place, n *Node) *Poll {
	p := &Poll{IntervalMS: num(v, "interval_ms"), MaxRounds: num(v, "max_rounds"), DeadlineMS: num(v, "deadline_ms")}
	b.contract(v, at, "output_contract", &p.OutputContract, nil)
	if work, ok := v.Get("task"); ok && work.Kind() == exact.KindObject {
		p.Task = b.work(work, at.member("task"), n, roleEntry)
	}
	b.classify(&p.Classify, v, at, n, roleResult)
	p.Output = b.template(v, at, "output", &site{node: n, role: roleResult, want: wantContract, contract: &p.OutputContract})
	if final, ok := v.Get("final_signal"); ok && final.Kind() == exact.KindObject {
		p.FinalSignal = b.finalSignal(final, at.member("final_signal"), n, p)
	}
	return p
}

func (b *builder) finalSignal(v exact.Value, at place, n *Node, p *Poll) *FinalSignal {
	f := &FinalSignal{}
	b.receive(&f.Receive, v, at, n)
	b.classify(&f.Classify, v, at, n, roleSignal)
	f.Output = b.template(v, at, "output", &site{node: n, role: roleSignal, want: wantContract, contract: &p.OutputContract})
	return f
}

func (b *builder) classify(c *Classify, v exact.Value, at place, n *Node, role role) {
	raw, _ := v.Get("classify")
	at = at.member("classify")
	c.Value = b.template(raw, at, "value", &site{node: n, role: role, want: wantScalar, expression: true, listed: &c.listed})
	for name, list := range map[string]*[]exact.Value{"pending": &c.Pending, "done": &c.Done, "failed": &c.Failed, "review": &c.Review} {
		values, _ := raw.Get(name)
		*list = itemsOf(values)
	}
	c.at = at
}

func (b *builder) mapNode(v exact.Value, at place, n *Node) *Map {
	m := &Map{MaxItems: num(v, "max_items"), MaxActive: num(v, "max_active")}
	b.contract(v, at, "item_contract", &m.ItemContract, nil)
	m.Items = b.template(v, at, "items", &site{node: n, role: roleEntry, want: wantArray, expression: true})
	m.Body = b.body(v, at, "body", n, 0)
	m.ItemOutput = b.template(v, at, "item_output", &site{node: n, role: roleItem, want: wantContract, contract: &m.ItemContract})
	return m
}

func (b *builder) child(v exact.Value, at place, n *Node) *Child {
	c := &Child{
		Definition: str(v, "definition"), Version: num(v, "version"), DeadlineMS: num(v, "deadline_ms"),
	}
	c.Input = b.template(v, at, "input", &site{node: n, role: roleEntry, want: wantContract, contract: &c.inputContract})
	c.BusinessKey = b.key(v, at, "business_key", &site{node: n, role: roleEntry})
	return c
}
