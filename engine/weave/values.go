package weave

import (
	"fmt"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// value computes a template from the input and the outputs that exist now. Only what the template reads is parsed.
func (p *planner) value(t *definition.Template) (exact.Value, *Trouble) {
	return p.valueIn(t, expr.Scope{})
}

// valueIn computes a template that also reads what its scope holds already.
func (p *planner) valueIn(t *definition.Template, scope expr.Scope) (exact.Value, *Trouble) {
	scope.Steps, scope.Instance = p.outputs, p.instance
	for _, ref := range t.Refs() {
		switch ref.Path.Root {
		case expr.RootInput:
			scope.Input = p.inputValue()
		case expr.RootSteps:
			p.outputValue(ref.Path.Step)
		}
	}
	v, bad := t.Eval(&scope, expr.BudgetMax)
	if bad != nil {
		return v, &Trouble{Reason: bad.Reason, Pointer: bad.Pointer, Offset: bad.Offset, Detail: found(bad)}
	}
	return v, nil
}

func found(bad *expr.EvalError) string {
	switch {
	case bad.Path != "" && bad.Found != "":
		return bad.Path + " is " + bad.Found
	case bad.Path != "":
		return bad.Path
	}
	return bad.Found
}

// inputValue and outputValue read stored JSON, which was checked when it was accepted.
func (p *planner) inputValue() exact.Value {
	if p.input == nil {
		v, bad := exact.Parse(p.now.Input, exact.PayloadLimits)
		if bad != nil {
			panic("weave: a stored input is not JSON: " + bad.Error())
		}
		p.input = &v
	}
	return *p.input
}

func (p *planner) outputValue(name string) {
	if _, ok := p.outputs[name]; ok {
		return
	}
	n := p.def.Node(name)
	if n == nil || p.steps[n.Number].State != StepSucceeded {
		return
	}
	v, bad := exact.Parse(p.steps[n.Number].Output, exact.PayloadLimits)
	if bad != nil {
		panic("weave: a stored output is not JSON: " + bad.Error())
	}
	p.outputs[name] = v
}

// obeys holds a computed value against its contract; nil accepts anything.
func obeys(c *definition.Contract, v exact.Value, t *definition.Template, reason string) *Trouble {
	if c == nil {
		return nil
	}
	broken := c.Schema.Validate(v)
	if len(broken) == 0 {
		return nil
	}
	return &Trouble{Reason: reason, Pointer: t.Pointer, Offset: -1, Detail: broken[0].String()}
}

// key computes an optional key. Empty means a person must look, never "no key" (definition.md 2).
func (p *planner) key(t *definition.Template) (string, *Trouble) {
	if t == nil {
		return "", nil
	}
	return p.text(t, "a key", engine.KeyBytesMax)
}

// text computes a text that things are told apart by: neither empty nor longer than bytesMax.
func (p *planner) text(t *definition.Template, what string, bytesMax int) (string, *Trouble) {
	v, trouble := p.value(t)
	if trouble != nil {
		return "", trouble
	}
	reason := ""
	switch {
	case v.Kind() != exact.KindString:
		reason = expr.ReasonTypeMismatch
	case v.Str() == "":
		reason = "key_empty"
	case len(v.Str()) > bytesMax:
		reason = expr.ReasonTooLarge
	}
	if reason != "" {
		return "", &Trouble{Reason: reason, Pointer: t.Pointer, Offset: -1, Detail: fmt.Sprintf("%s is a text of 1 to %d bytes", what, bytesMax)}
	}
	return v.Str(), nil
}
