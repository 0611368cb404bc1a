package contract

import (
	"slices"
	"strings"

	"github.com/orbitrun/orbit/engine/exact"
)

// Problem is one reason why a contract is refused. Codes: contract_keyword,
// contract_pattern, contract_contradiction, contract_limit. Pointer starts at
// the contract itself; Offset is the byte in the text it was read from.
type Problem struct {
	Code    string
	Pointer string
	Offset  int
	Detail  string
	Hint    string
}

// Codes of a refused contract (definition.md section 6).
const (
	CodeKeyword       = "contract_keyword"
	CodePattern       = "contract_pattern"
	CodeContradiction = "contract_contradiction"
	CodeLimit         = "contract_limit"
)

// Compile reads a contract. The contract is nil when there is any problem;
// every problem is listed, in document order within each part.
func Compile(v exact.Value) (*Contract, []Problem) {
	c := &compiler{}
	out := c.contract(v, "", 1)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return out, nil
}

// compiler gathers problems; what it returns beside problems is never used.
type compiler struct{ problems []Problem }

func (c *compiler) refuse(code string, at string, v exact.Value, detail, hint string) {
	c.problems = append(c.problems, Problem{Code: code, Pointer: at, Offset: v.Offset(), Detail: detail, Hint: hint})
}

func (c *compiler) contract(v exact.Value, at string, depth int) *Contract {
	out := Anything()
	if v.Kind() != exact.KindObject {
		hint := ""
		if v.Kind() == exact.KindBool {
			hint = "write {} for anything"
		}
		c.refuse(CodeKeyword, at, v, "a contract is an object, not "+article(v.Kind().String()), hint)
		return out
	}
	if depth > DepthMax {
		c.refuse(CodeLimit, at, v, "contracts stand inside one another more than 16 levels deep", "")
		return out
	}
	before := len(c.problems)
	for _, m := range v.Members() {
		read, ok := keywords[m.Name]
		if !ok {
			c.refuseKeyword(m, at)
			continue
		}
		read(c, out, m.Value, place{exact.Join(at, m.Name), depth})
	}
	out.index()
	if len(c.problems) == before {
		c.contradictions(out, v, at)
	}
	return out
}

// place is where a keyword stands.
type place struct {
	pointer string
	depth   int
}

// index joins properties and required into the declared members and applies
// enum and const to the set of types.
func (c *Contract) index() {
	c.properties = len(c.members)
	c.byName = make(map[string]int, len(c.members)+len(c.required))
	for i, m := range c.members {
		c.byName[m.Name] = i
	}
	for _, name := range c.required {
		i, ok := c.byName[name]
		if !ok {
			i = len(c.members)
			c.members = append(c.members, Member{Name: name, Contract: c.undeclared()})
			c.byName[name] = i
		}
		c.members[i].Required = true
	}
	if values, ok := c.Enum(); ok {
		listed := None
		for _, v := range values {
			listed |= TypeOf(v)
		}
		c.types &= listed
	}
}

// undeclared is the contract of a member that is required but not described.
func (c *Contract) undeclared() *Contract {
	if c.additional != nil {
		return c.additional
	}
	return Anything()
}

// refusedKeywords tells authors of richer schemas what to do instead.
var refusedKeywords = map[string]string{
	"$ref": "write the contract out; nothing is ever loaded", "$id": "", "$dynamicRef": "", "$defs": "write the contract out",
	"$schema": "contracts are always JSON Schema 2020-12", "$comment": "use description",
	"oneOf": "use one object with optional members, or an enum", "anyOf": "use a list of types, or an enum",
	"allOf": "write the joined contract", "not": "list what is allowed", "if": "use a BRANCH",
	"default": "use ?? where the value is read", "format": "use pattern",
	"patternProperties": "use properties and additionalProperties", "prefixItems": "use an object with named members",
	"uniqueItems": "check it in a handler", "contains": "check it in a handler",
	"nullable": `use "type": ["string", "null"]`, "definitions": "write the contract out",
}

func (c *compiler) refuseKeyword(m exact.Member, at string) {
	hint, known := refusedKeywords[m.Name]
	if !known {
		for name := range keywords {
			if strings.EqualFold(name, m.Name) {
				hint = "did you mean " + name + "?"
			}
		}
	}
	c.problems = append(c.problems, Problem{Code: CodeKeyword, Pointer: exact.Join(at, m.Name), Offset: m.NameOffset,
		Detail: "contracts do not have the keyword \"" + m.Name + "\"", Hint: hint})
}

// Keywords lists the keywords of the subset, sorted, for schemas and editors.
func Keywords() []string {
	var out []string
	for name := range keywords {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	if noun == "null" {
		return noun
	}
	return "a " + noun
}
