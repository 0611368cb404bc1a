package definition

import "fmt"

// contains reports whether other stands somewhere inside n.
func (n *Node) contains(other *Node) bool {
	for p := other.Parent; p != nil; p = p.Parent {
		if p == n {
			return true
		}
	}
	return false
}

// depth is 1 in the outermost body.
func (n *Node) depth() int {
	depth := 0
	for p := n; p != nil; p = p.Parent {
		depth++
	}
	return depth
}

// outermost returns the ancestor of n, or n itself, that is a direct child of
// parent (nil: of the document).
func outermost(n, parent *Node) *Node {
	for n.Parent != parent {
		n = n.Parent
	}
	return n
}

// armName names an arm as messages do.
func (n *Node) armName(part int) string {
	if n.Branch != nil && part < len(n.Branch.Cases) {
		return fmt.Sprintf("case %d", part)
	}
	return "the default"
}

// Has reports whether the document has a node of a kind.
func (d *Definition) Has(kind Kind) bool {
	for _, n := range d.order {
		if n.Kind == kind {
			return true
		}
	}
	return false
}
