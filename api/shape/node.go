package shape

import (
	"regexp"

	"github.com/orbitrun/orbit/engine/exact"
)

// Node is one compiled schema.
type Node struct {
	kind    exact.Kind
	any     bool // any JSON value
	integer bool

	// text
	enum                 []string
	pattern              *regexp.Regexp
	lenMin, lenMax       int // code points; lenMax 0: no bound
	bytesMax             int // bytes of UTF-8; 0: no bound
	time, id             bool
	numberMin, numberMax *int64

	// containers
	members            map[string]*Node
	required           []string
	items              *Node
	itemsMin, itemsMax int
	unique, perItem    bool

	// PayloadMax is the most bytes of a user payload; 0 when the value is not one.
	payloadMax int
}

// PerItem reports whether the member of that name is a list whose items stand for themselves: a fault in one must not
// refuse the others.
func (n *Node) PerItem(name string) bool {
	return n != nil && n.members[name] != nil && n.members[name].perItem
}
