package definition

import (
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/contract"
	"github.com/orbitrun/orbit/engine/weave/expr"
)

// Template is a JSON value of the document whose strings may be expressions.
// The embedded template evaluates it.
type Template struct {
	*expr.Template
	Source   exact.Value
	Pointer  string
	problems []expr.Problem
}

func (t *Template) isNull() bool { return t != nil && t.Source.IsNull() }

// Contract is what a value must look like.
type Contract struct {
	Name     string
	Schema   *contract.Contract // nil only while a document is being judged
	source   exact.Value
	at       place
	problems []contract.Problem
}

// role says when a template is evaluated, and so what it may read.
type role uint8

const (
	roleEntry        role = iota // when its node is activated
	roleArm                      // when the body of its arm completed
	roleItem                     // when the body of a MAP completed for one item
	roleResult                   // when a round of its POLL answered
	roleSignal                   // when the final signal of its POLL arrived
	roleCompensation             // when its TASK is undone
	roleDocument                 // when the whole body completed
)

// want says what a template must yield.
type want uint8

const (
	wantContract want = iota // the contract beside it, or anything
	wantString
	wantNumber
	wantBoolean
	wantScalar
	wantArray
)

// site is one place where the document computes something.
type site struct {
	template   *Template
	node       *Node // nil for the document's output
	arm        *Arm  // for roleArm
	role       role
	want       want
	contract   **Contract
	expression bool           // only an expression may stand here
	bytesMax   int            // of a string
	listed     *[]exact.Value // receives the only values it can have
	at         place
	refused    bool // an earlier phase refused it; later ones leave it alone
}

// allows reports whether a root other than steps exists at this place.
func (s *site) allows(root string) bool {
	switch root {
	case expr.RootInput, expr.RootInstance:
		return true
	case expr.RootResult:
		return s.role == roleResult
	case expr.RootSignal:
		return s.role == roleSignal
	case expr.RootItem, expr.RootIndex:
		return s.role == roleItem || s.enclosingMap() != nil
	}
	return false
}

// enclosingMap is the innermost MAP whose body this place stands in.
func (s *site) enclosingMap() *Node {
	if s.role == roleItem {
		return s.node
	}
	if s.node != nil {
		for p := s.node.Parent; p != nil; p = p.Parent {
			if p.Kind == KindMap {
				return p
			}
		}
	}
	return nil
}
