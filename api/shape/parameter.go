package shape

import (
	"strings"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/exact"
)

// CheckText compares the text of a path, query or header parameter with its schema. It returns the code and the
// sentence of the fault, or two empty texts.
func (n *Node) CheckText(s string) (code, detail string) {
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return "text_encoding", "must be valid UTF-8 without NUL"
	}
	if n.kind == exact.KindNumber {
		if !exact.ValidNumber(s) {
			return "parameter_invalid", "must be an integer"
		}
		code, detail = n.checkNumber(s)
	} else {
		code, detail = n.checkText(s)
	}
	if code != "" && code != "id_invalid" {
		code = "parameter_invalid"
	}
	return code, detail
}
