package pulse

import (
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
)

// brokenContract checks a successful output against the task's frozen contract and names the first violation. An
// output that breaks it is a case for a person, not a success (pulse.md Task).
func brokenContract(text, output []byte) string {
	if len(text) == 0 {
		return ""
	}
	schema, err := exact.Parse(text, exact.PayloadLimits)
	if err != nil {
		return "the stored contract cannot be read: " + err.Detail
	}
	compiled, problems := contract.Compile(schema)
	if len(problems) > 0 {
		return "the stored contract is not valid: " + problems[0].Detail
	}
	value, err := exact.Parse(output, exact.PayloadLimits)
	if err != nil {
		return "the output cannot be read: " + err.Detail
	}
	if broken := compiled.Validate(value); len(broken) > 0 {
		return broken[0].Pointer + " " + broken[0].Keyword + ": " + broken[0].Detail
	}
	return ""
}
