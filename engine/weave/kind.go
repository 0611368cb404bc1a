package weave

import "github.com/orbitrun/orbit/engine/weave/definition"

// behaviour is what one kind of node does. The planner calls it with the step in the state the method names.
type behaviour interface {
	// activate starts a WAITING step, or says which value could not be computed; then nothing was changed.
	activate(p *planner, n *definition.Node) *Trouble
	// walk looks below an ACTIVE step and says how far it is.
	walk(p *planner, n *definition.Node) progress
	// collect applies a result of the ACTIVE step's current activation.
	collect(p *planner, n *definition.Node, r *Result) Class
}

// kinds holds the kinds this release can run.
var kinds = map[definition.Kind]behaviour{
	definition.KindTask: task{}, definition.KindTimer: timer{}, definition.KindSignal: signal{}, definition.KindPoll: poll{},
}

// kindNumbers are the numbers of step.kind. 0 is the root.
var kindNumbers = map[definition.Kind]uint8{
	definition.KindTask: 1, definition.KindBranch: 2, definition.KindParallel: 3, definition.KindTimer: 4,
	definition.KindSignal: 5, definition.KindPoll: 6, definition.KindMap: 7, definition.KindChild: 8, definition.KindScope: 9,
}

// KindOf is the kind of a step's number; empty for the root.
func KindOf(number uint8) definition.Kind {
	for kind, n := range kindNumbers {
		if n == number {
			return kind
		}
	}
	return ""
}

// Runnable lists the kinds this release can run, for definition.Options.
func Runnable() map[definition.Kind]bool {
	out := map[definition.Kind]bool{}
	for kind := range kinds {
		out[kind] = true
	}
	return out
}

func (p *planner) node(no uint16) *definition.Node { return p.def.Node(p.steps[no].Name) }

func (p *planner) kind(no uint16) behaviour { return kinds[p.node(no).Kind] }
