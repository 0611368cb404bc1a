package definition

import "github.com/orbitrun/orbit/engine/exact"

// Template is a JSON value of the document whose strings may be expressions.
type Template struct {
	Source  exact.Value
	Pointer string
}

func (t *Template) isNull() bool { return t != nil && t.Source.IsNull() }

// Contract is what a value must look like.
type Contract struct {
	Name   string
	source exact.Value
	at     place
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
	expression bool // only an expression may stand here
	condition  bool
	at         place
}
