package definition

import "fmt"

// child is the published definition a CHILD names, nil when it is not known.
func (c *checker) child(n *Node) *Definition {
	if c.opts.Children == nil || n.Child.Definition == "" || n.Child.Version == 0 {
		return nil
	}
	found, ok := c.opts.Children(n.Child.Definition, n.Child.Version)
	if !ok {
		return nil
	}
	return found
}

// children looks up every CHILD. Cycles cannot exist, because a version can
// only name versions published before it.
func (c *checker) children() {
	for _, n := range c.def.order {
		if n.Kind != KindChild || c.broken(n.Pointer) {
			continue
		}
		named := nameRef{name: n.Child.Definition, given: true, at: n.place().member("definition")}
		if !c.nameSyntax(named) || c.opts.Children == nil {
			continue
		}
		child := c.child(n)
		if child == nil {
			c.add("child_version_unknown", n.place().member("version"), fmt.Sprintf("%s version %d is not published", quote(n.Child.Definition), n.Child.Version), "publish it first")
			continue
		}
		n.Child.inputContract = child.InputContract
	}
}
