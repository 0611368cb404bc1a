package flow

// TaskNode is a TASK: one durable task, run by a worker.
type TaskNode[Out any] struct {
	leaf
	call taskCall
	undo *Compensation
}

// Task calls a handler. input is a Value, an Object or a constant of the
// handler's input type; it is evaluated once and reused by every retry.
func Task[In, Out any](name string, h HandlerRef[In, Out], p Policy, input any) *TaskNode[Out] {
	return &TaskNode[Out]{leaf: leaf{newStep(name)}, call: taskCall{handler: h.handler(), policy: p, input: input}}
}

// Out is the task's output.
func (t *TaskNode[Out]) Out() Value[Out] { return outputOf[Out](&t.step) }

// BusinessKey sets the business key (1–255 bytes).
func (t *TaskNode[Out]) BusinessKey(key Value[string]) *TaskNode[Out] {
	t.call.businessKey = key
	return t
}

// ResourceKey sets the resource the task holds alone (1–255 bytes).
func (t *TaskNode[Out]) ResourceKey(key Value[string]) *TaskNode[Out] {
	t.call.resourceKey = key
	return t
}

// Describe sets the description (at most 512 characters).
func (t *TaskNode[Out]) Describe(text string) *TaskNode[Out] {
	t.description = text
	return t
}

// Compensate adds the task that undoes this one when its Scope stops. Not yet
// runnable, as Scope.
func (t *TaskNode[Out]) Compensate(h AnyHandler, p Policy, input any) *Compensation {
	t.undo = &Compensation{taskCall{handler: h.handler(), policy: p, input: input}}
	return t.undo
}

func (t *TaskNode[Out]) print(b *builder) object {
	o := append(t.start("TASK"), t.call.print(b, b.at(&t.step, ""))...)
	if t.undo == nil {
		return o
	}
	where := b.at(&t.step, "compensation")
	if b.scopes == 0 {
		b.fail("field_unknown", where, "only a task inside a Scope can be compensated")
	}
	return o.with("compensation", t.undo.call.print(b, where+"."))
}

// Compensation is the undoing side of a task.
type Compensation struct{ call taskCall }

// BusinessKey sets the business key of the compensating task.
func (c *Compensation) BusinessKey(key Value[string]) *Compensation {
	c.call.businessKey = key
	return c
}

// ResourceKey sets the resource key of the compensating task.
func (c *Compensation) ResourceKey(key Value[string]) *Compensation {
	c.call.resourceKey = key
	return c
}

// taskCall is the nine fields TASK, compensation and POLL.task share.
type taskCall struct {
	handler     handler
	policy      Policy
	input       any
	businessKey anyValue
	resourceKey anyValue
}

func (c taskCall) print(b *builder, where string) object {
	h := c.handler
	b.checkSyntax(handlerSyntax, h.queue, where+"queue")
	b.checkSyntax(handlerSyntax, h.name, where+"handler")
	b.checkSyntax(handlerVersionSyntax, h.version, where+"handler_version")
	return object{
		{"queue", quote(h.queue)},
		{"handler", quote(h.name)},
		{"handler_version", quote(h.version)},
		{"input", b.template(where+"input", c.input, h.in)},
		{"input_contract", b.contracts.reference(h.in)},
		{"output_contract", b.contracts.reference(h.out)},
		{"policy", b.policy(c.policy, where+"policy")},
		{"business_key", b.key(where+"business_key", c.businessKey)},
		{"resource_key", b.key(where+"resource_key", c.resourceKey)},
	}
}

// key is a text template, or null when none was set.
func (b *builder) key(where string, key anyValue) any {
	if key == nil {
		return null
	}
	return b.value(where, key, stringType, false, nil)
}
