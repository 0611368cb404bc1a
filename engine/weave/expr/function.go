package expr

import (
	"slices"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// function is one row of the closed list (definition.md section 4.3). has and
// must are not here: they take a path, not a value.
type function struct {
	name     string
	min, max int
	argument contract.Types // of every argument
	result   contract.Types
	run      func(e *evaluator, n *node, args []exact.Value) (exact.Value, *EvalError)
}

var functions = map[string]*function{
	"size":       {"size", 1, 1, contract.String | contract.Array | contract.Object, contract.Number, runSize},
	"concat":     {"concat", 1, ArgumentsMax, contract.String, contract.String, runConcat},
	"text":       {"text", 1, 1, contract.Number | contract.Boolean, contract.String, runText},
	"startsWith": {"startsWith", 2, 2, contract.String, contract.Boolean, runStartsWith},
	"endsWith":   {"endsWith", 2, 2, contract.String, contract.Boolean, runEndsWith},
	"contains":   {"contains", 2, 2, contract.String, contract.Boolean, runContains},
}

// Functions lists the functions of the language, sorted.
func Functions() []string {
	out := []string{"has", "must"}
	for name := range functions {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
