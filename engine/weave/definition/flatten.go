package definition

import "sort"

// Step is one row of an instance: what Start writes before anything runs.
type Step struct {
	Number   int    // 0 is $root, then document order
	Name     string // "$root" for the instance itself
	Kind     Kind   // "" for $root
	Parent   int    // number of the enclosing step, −1 for $root
	Part     int    // arm or branch of the parent
	Position int    // index in its body
	Node     *Node  // nil for $root
}

// RootName is the internal step of the whole instance. It is kept out of what
// users see, and no user step can have its name.
const RootName = "$root"

// JoinName is the internal name of the point where a PARALLEL ends.
func JoinName(parallel string) string { return "$join." + parallel }

// Flatten lists the steps in document order, $root first. Parents come before
// their children, so the list can be written top down.
func (d *Definition) Flatten() []Step {
	steps := []Step{{Name: RootName, Parent: -1}}
	for _, n := range d.order {
		parent := 0
		if n.Parent != nil {
			parent = n.Parent.Number
		}
		steps = append(steps, Step{n.Number, n.Name, n.Kind, parent, n.Part, n.Position, n})
	}
	return steps
}

// Queues lists the distinct queues in byte order, which is the order their
// locks are taken in.
func (d *Definition) Queues() []string {
	seen := map[string]bool{}
	var queues []string
	for _, t := range d.works {
		if t.Queue != "" && !seen[t.Queue] {
			seen[t.Queue] = true
			queues = append(queues, t.Queue)
		}
	}
	sort.Strings(queues)
	return queues
}
