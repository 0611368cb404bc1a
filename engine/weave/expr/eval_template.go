package expr

import "github.com/orbitrun/orbit/engine/exact"

// Eval computes the template's value. Budget is BudgetMax or less; all
// expressions of the template share it. The value is bounded like a payload.
func (t *Template) Eval(scope *Scope, budget int) (exact.Value, *EvalError) {
	b := &builder{evaluator: evaluator{scope: scope, left: budget}}
	v, _, err := b.build(&t.root, 0)
	return v, err
}

// builder assembles a template's value and stops as soon as it grows beyond
// the bounds, not after.
type builder struct {
	evaluator
	bytes int
}

// build yields one part. Omitted asks the object around it to leave it out.
func (b *builder) build(p *part, depth int) (v exact.Value, omitted bool, err *EvalError) {
	switch {
	case p.constant:
		v = p.value
	case p.expr != nil:
		b.pointer, b.omitted = p.pointer, false
		if v, err = b.eval(p.expr.root); err != nil || b.omitted {
			return exact.Value{}, b.omitted, err
		}
		if err = b.spend(p.expr.root, v.Size()); err != nil {
			return exact.Value{}, false, err
		}
	case p.kind == exact.KindArray:
		v, err = b.array(p, depth)
		return v, false, err
	default:
		v, err = b.object(p, depth)
		return v, false, err
	}
	return v, false, b.admit(p, v.Size(), depth+v.Depth())
}

// admit counts bytes and levels; containers count their brackets, names and
// commas here and their children by themselves.
func (b *builder) admit(p *part, size, depth int) *EvalError {
	b.bytes += size
	if b.bytes > ValueBytesMax || depth > ValueDepthMax {
		return &EvalError{Reason: ReasonTooLarge, Pointer: p.pointer, Offset: -1}
	}
	return nil
}

func (b *builder) array(p *part, depth int) (exact.Value, *EvalError) {
	if err := b.admit(p, 1+len(p.parts), depth+1); err != nil {
		return exact.Value{}, err
	}
	items := make([]exact.Value, 0, len(p.parts))
	for i := range p.parts {
		v, _, err := b.build(&p.parts[i], depth+1)
		if err != nil {
			return exact.Value{}, err
		}
		items = append(items, v)
	}
	return exact.Array(items...), nil
}

func (b *builder) object(p *part, depth int) (exact.Value, *EvalError) {
	if err := b.admit(p, 1, depth+1); err != nil {
		return exact.Value{}, err
	}
	members := make([]exact.Member, 0, len(p.parts))
	for i := range p.parts {
		v, omitted, err := b.build(&p.parts[i], depth+1)
		if err != nil {
			return exact.Value{}, err
		}
		if omitted {
			continue
		}
		if err := b.admit(&p.parts[i], exact.String(p.names[i]).Size()+2, 0); err != nil {
			return exact.Value{}, err
		}
		members = append(members, exact.Field(p.names[i], v))
	}
	return exact.Object(members...), nil
}
