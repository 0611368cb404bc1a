package expr

import (
	"fmt"
	"strconv"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// template judges one part against what its place wants.
func (c *checker) template(p *part, want *contract.Contract) Type {
	switch {
	case p.constant:
		c.at(p.pointer)
		c.constant(p, want)
		return constantType(p.value)
	case p.expr != nil:
		c.at(p.pointer)
		return c.marked(p, want)
	case p.kind == exact.KindArray:
		return c.array(p, want)
	}
	return c.object(p, want)
}

func (c *checker) at(pointer string) { c.pointer, c.whole = pointer, false }

// constant runs the contract itself; only here do ranges and lengths count.
func (c *checker) constant(p *part, want *contract.Contract) {
	if want == nil {
		return
	}
	for _, v := range want.Validate(p.value) {
		c.pointer, c.whole = p.pointer+v.Pointer, true
		c.refuse(CodeBreaksContract, 0, "the constant "+v.Detail, "")
	}
}

func (c *checker) marked(p *part, want *contract.Contract) Type {
	out := c.expression(p.expr)
	if want == nil || out.broken {
		return out
	}
	for _, s := range out.sources {
		if f := fits(s, want, ""); f != nil {
			subject := "it"
			if f.where != "" {
				subject = "its " + f.where
			}
			c.refuse(f.code, 0, subject+" "+f.detail, f.hint)
			break
		}
	}
	return out
}

func (c *checker) array(p *part, want *contract.Contract) Type {
	var items *contract.Contract
	if want != nil {
		c.container(p, want, contract.Array)
		items = want.Items()
		if least, most := want.ItemCount(); len(p.parts) < least || len(p.parts) > most {
			c.breaks(p.pointer, fmt.Sprintf("the array has %d items, outside what the contract allows", len(p.parts)))
		}
	}
	for i := range p.parts {
		c.template(&p.parts[i], items)
	}
	return computed(contract.Array)
}

func (c *checker) breaks(pointer, detail string) {
	c.pointer, c.whole = pointer, true
	c.refuse(CodeBreaksContract, 0, detail, "")
}

func (c *checker) container(p *part, want *contract.Contract, t contract.Types) {
	if !want.Types().Has(t) {
		c.breaks(p.pointer, fmt.Sprintf("this is %s; the contract wants %s", t, want.Types()))
	}
}

func (c *checker) object(p *part, want *contract.Contract) Type {
	if want != nil {
		c.container(p, want, contract.Object)
		c.shape(p, want)
	}
	for i := range p.parts {
		c.template(&p.parts[i], memberOf(want, p.names[i]))
	}
	return computed(contract.Object)
}

// shape checks which members are there, must be there or may not be.
func (c *checker) shape(p *part, want *contract.Contract) {
	certain, possible := 0, len(p.parts)
	state := map[string]bool{} // name to certainly there
	for i, name := range p.names {
		state[name] = p.parts[i].expr == nil || !p.parts[i].expr.omit
		if state[name] {
			certain++
		}
		if _, ok := want.Member(name); !ok && want.Closed() {
			c.breaks(p.parts[i].pointer, strconv.Quote(name)+" is not a member of the contract")
		}
	}
	for _, m := range want.Members() {
		there, written := state[m.Name]
		switch {
		case !m.Required || there:
		case written:
			c.breaks(exact.Join(p.pointer, m.Name), "the contract requires "+strconv.Quote(m.Name)+", and omit may leave it out")
		default:
			c.breaks(p.pointer, "the contract requires "+strconv.Quote(m.Name))
		}
	}
	if least, most := want.MemberCount(); possible < least || certain > most {
		c.breaks(p.pointer, fmt.Sprintf("the object has %d members, outside what the contract allows", possible))
	}
}

func memberOf(want *contract.Contract, name string) *contract.Contract {
	if want == nil {
		return nil
	}
	if m, ok := want.Member(name); ok {
		return m.Contract
	}
	return want.Additional()
}

// misfit is why a copied value cannot satisfy a contract; where leads from the
// value to the fault.
type misfit struct{ code, where, detail, hint string }

// fits compares what a value is known to be with what is wanted. It refuses
// what the contracts can tell: types, members, listed values. Ranges, lengths
// and patterns are left to run time unless the value is a constant.
func fits(s source, want *contract.Contract, where string) *misfit {
	if want == nil {
		return nil
	}
	if s.constant != nil {
		if found := want.Validate(*s.constant); len(found) > 0 {
			return &misfit{CodeBreaksContract, where + found[0].Pointer, found[0].Detail, ""}
		}
		return nil
	}
	if want.Unknown() {
		return nil
	}
	overlap, excess := s.types&want.Types(), s.types&^want.Types()
	switch {
	case overlap == contract.None:
		return &misfit{CodeBreaksContract, where, fmt.Sprintf("is %s; the contract wants %s", s.types, want.Types()), ""}
	case s.unknown || excess == contract.None:
	case excess == contract.Null:
		return &misfit{CodeMayBeNull, where, fmt.Sprintf("may be null; the contract wants %s", want.Types()), "?? gives a default for null"}
	default:
		return &misfit{CodeMismatch, where, fmt.Sprintf("may be %s; the contract wants %s", excess, want.Types()), ""}
	}
	if s.contract == nil {
		return nil
	}
	return contractFits(s, want, where)
}

func contractFits(s source, want *contract.Contract, where string) *misfit {
	if values, ok := s.contract.Enum(); ok {
		for _, v := range values {
			if s.types.Has(contract.TypeOf(v)) && want.Accepts(v) {
				return nil
			}
		}
		return &misfit{CodeBreaksContract, where, "has only values the contract does not accept", ""}
	}
	if s.types.Has(contract.Array) && want.Types().Has(contract.Array) && s.contract.Items() != nil {
		if f := fits(asSource(s.contract.Items()), want.Items(), where+"/*"); f != nil {
			return f
		}
	}
	if s.types.Has(contract.Object) && want.Types().Has(contract.Object) {
		return membersFit(s.contract, want, where)
	}
	return nil
}

func asSource(c *contract.Contract) source {
	return source{types: c.Types(), unknown: c.Types() == contract.Any, contract: c}
}

func membersFit(from, want *contract.Contract, where string) *misfit {
	open := len(from.Members()) == 0 && !from.Closed() && from.Additional() == nil
	for _, m := range want.Members() {
		have, declared := from.Member(m.Name)
		if m.Required && !open && (!declared || !have.Required) {
			return &misfit{CodeBreaksContract, exact.Join(where, m.Name), "may be missing; the contract requires it", ""}
		}
	}
	for _, m := range from.Members() {
		_, declared := want.Member(m.Name)
		if !declared && want.Closed() && m.Required {
			return &misfit{CodeBreaksContract, exact.Join(where, m.Name), "is not a member of the contract", ""}
		}
		if f := fits(asSource(m.Contract), memberOf(want, m.Name), exact.Join(where, m.Name)); f != nil {
			return f
		}
	}
	return nil
}
