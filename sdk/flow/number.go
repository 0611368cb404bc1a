package flow

import (
	"encoding/json"
	"fmt"
	"regexp"
)

// Number is a JSON number kept as its text: 1.10 stays 1.10 and integers
// beyond 2^53 keep every digit. The zero value is written as 0.
type Number string

var numberSyntax = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// MarshalJSON writes the text as a number token; other text is an error.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("0"), nil
	}
	if !numberSyntax.MatchString(string(n)) {
		return nil, fmt.Errorf("flow.Number %q is not a JSON number", string(n))
	}
	return []byte(n), nil
}

// UnmarshalJSON keeps the token as written. A null leaves n unchanged, as
// encoding/json does for every scalar; a quoted number is an error.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if !numberSyntax.Match(text) {
		return fmt.Errorf("flow.Number cannot hold %s", text)
	}
	*n = Number(text)
	return nil
}

// Any is any JSON value, kept as its text. As a type argument it prints a null
// contract: nothing is checked and reads into it are unchecked.
type Any = json.RawMessage

// None says that there is nothing: a branch without output, a handler without
// input or output. Its JSON is null, its contract null.
type None struct{}

// MarshalJSON writes null.
func (None) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// UnmarshalJSON accepts anything and keeps nothing.
func (*None) UnmarshalJSON([]byte) error { return nil }

// Contract marks a struct with contract-wide settings through its flow tag:
//
//	_ flow.Contract `flow:"name=grant,closed" description:"What was granted."`
//
// name replaces the name derived from the Go type; closed refuses members the
// struct does not declare.
type Contract struct{}
