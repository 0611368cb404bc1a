package definition

import (
	"fmt"
	"regexp"

	"github.com/orbitrun/orbit/engine/exact"
)

var nameSyntax = regexp.MustCompile(namePattern)

// reserved words may not name steps: steps.NAME must never be mistaken for a
// root, a literal or a function (definition.md §3).
var reserved = map[string]bool{
	"input": true, "steps": true, "instance": true, "result": true, "signal": true, "item": true, "index": true,
	"true": true, "false": true, "null": true, "in": true, "has": true, "must": true, "omit": true,
}

// names checks every name and resolves every reference to what it names.
func (c *checker) names(text exact.Value) {
	c.nameSyntax(refTo(text, place{}, "definition"))
	c.dictionaryNames()
	c.stepNames()
	c.resolveReferences()
	if !c.refused() { // a reference that did not resolve is often the missing use
		c.unused()
	}
}

func (c *checker) nameSyntax(r nameRef) bool {
	if !r.given || nameSyntax.MatchString(r.name) {
		return true
	}
	c.add("name_syntax", r.at, quote(r.name)+" does not match "+namePattern, "lower-case letters, digits and _, at most 48")
	return false
}

func (c *checker) dictionaryNames() {
	for _, k := range c.def.Contracts {
		c.nameSyntax(nameRef{name: k.Name, given: true, at: k.at.key()})
	}
	for _, p := range c.def.Policies {
		c.nameSyntax(nameRef{name: p.Name, given: true, at: p.at.key()})
	}
}

func (c *checker) stepNames() {
	for _, n := range c.def.order {
		at := n.place().member("name")
		if !n.named || !c.nameSyntax(nameRef{name: n.Name, given: true, at: at}) {
			continue
		}
		if reserved[n.Name] {
			c.add("name_reserved", at, quote(n.Name)+" is a word of the language", "")
		}
		if first := c.def.nodes[n.Name]; first != n {
			c.add("name_duplicate", at, fmt.Sprintf("%s is already the step at %s", quote(n.Name), first.Pointer), "step names are unique in the whole document")
		}
	}
}

func (c *checker) resolveReferences() {
	for _, r := range c.def.refs {
		c.resolveContract(r)
	}
	for _, t := range c.def.works {
		if t.policy.given && t.Policy == nil && !c.broken("/policies") {
			c.add("policy_unknown", t.policy.at, "there is no policy "+quote(t.policy.name), didYouMean(t.policy.name, c.def.policyNames()))
		}
		if t.queue.given && c.opts.Queues != nil && !c.broken(t.queue.at.pointer) && !c.opts.Queues(t.Queue) {
			c.add("queue_unknown", t.queue.at, "the application has no queue "+quote(t.Queue), "create it first, or correct the name")
		}
	}
}

func (c *checker) resolveContract(r *contractRef) {
	switch {
	case r.given && *r.target == nil && !c.broken("/contracts"):
		c.add("contract_unknown", r.at, "there is no contract "+quote(r.name), didYouMean(r.name, c.def.contractNames()))
	case r.isNull && (r.silent == nil || !r.silent()):
		c.add("contract_unchecked", r.at, "without a contract any JSON passes", "")
	}
}

func (c *checker) unused() {
	usedContracts, usedPolicies := map[string]bool{}, map[string]bool{}
	for _, r := range c.def.refs {
		usedContracts[r.name] = true
	}
	for _, t := range c.def.works {
		usedPolicies[t.policy.name] = true
	}
	for _, k := range c.def.Contracts {
		if !usedContracts[k.Name] {
			c.add("contract_unused", k.at.key(), "nothing refers to contract "+quote(k.Name), "")
		}
	}
	for _, p := range c.def.Policies {
		if !usedPolicies[p.Name] {
			c.add("policy_unused", p.at.key(), "nothing refers to policy "+quote(p.Name), "")
		}
	}
}

func (d *Definition) contract(name string) *Contract {
	for _, k := range d.Contracts {
		if k.Name == name {
			return k
		}
	}
	return nil
}

func (d *Definition) policy(name string) *Policy {
	for _, p := range d.Policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (d *Definition) contractNames() (names []string) {
	for _, k := range d.Contracts {
		names = append(names, k.Name)
	}
	return names
}

func (d *Definition) policyNames() (names []string) {
	for _, p := range d.Policies {
		names = append(names, p.Name)
	}
	return names
}

func (d *Definition) stepNames() (names []string) {
	for _, n := range d.order {
		names = append(names, n.Name)
	}
	return names
}
