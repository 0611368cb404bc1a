package definition

import "github.com/orbitrun/orbit/engine/exact"

// OnFailure is what an instance does after a step failed for good.
type OnFailure string

const (
	OnFailureReview OnFailure = "REVIEW"
	OnFailureFail   OnFailure = "FAIL_AFTER_SETTLED"
)

// Definition is one published version. It is immutable after Check or Load;
// everything the planner needs is resolved to pointers, so running never
// looks a name up.
type Definition struct {
	Name           string
	Version        int64
	Description    string
	InputContract  *Contract // nil: any JSON
	OutputContract *Contract
	DeadlineMS     int64
	OnFailure      OnFailure
	Contracts      []*Contract // document order
	Policies       []*Policy
	Body           []*Node
	Output         *Template
	Digest         [32]byte // structural, definition.md §5

	nodes map[string]*Node // first of each name
	order []*Node          // document order
	works []*Task          // every task, poll round and compensation
	refs  []*contractRef
}

// Node returns the step of a name, nil when there is none.
func (d *Definition) Node(name string) *Node { return d.nodes[name] }

// Kind is the kind of a node.
type Kind string

const (
	KindTask     Kind = "TASK"
	KindBranch   Kind = "BRANCH"
	KindParallel Kind = "PARALLEL"
	KindTimer    Kind = "TIMER"
	KindSignal   Kind = "SIGNAL"
	KindPoll     Kind = "POLL"
	KindMap      Kind = "MAP"
	KindChild    Kind = "CHILD"
	KindScope    Kind = "SCOPE"
)

// Kinds lists every kind of the language, reserved ones included.
var Kinds = []Kind{KindTask, KindBranch, KindParallel, KindTimer, KindSignal, KindPoll, KindMap, KindChild, KindScope}

func kindNames() []string {
	var names []string
	for _, k := range Kinds {
		names = append(names, string(k))
	}
	return names
}

// Node is one step. Exactly one of the pointers below Kind is set, the one its
// kind names.
type Node struct {
	Name        string
	Kind        Kind
	Description string
	Pointer     string // where it stands in the document
	Parent      *Node  // nil in the outermost body
	Part        int    // which arm or branch of the parent; the default arm comes after the cases
	Position    int    // index in its body
	Number      int    // 1… in document order; $root is 0

	Task     *Task
	Branch   *Branch
	Parallel *Parallel
	Timer    *Timer
	Signal   *Signal
	Poll     *Poll
	Map      *Map
	Child    *Child
	Scope    *Scope

	named bool // the document gives it a name
}

func (n *Node) place() place { return place{pointer: n.Pointer, step: n.Name} }

// Task is one Pulse task per activation.
type Task struct {
	Queue          string
	Handler        string
	HandlerVersion string
	Input          *Template
	InputContract  *Contract
	OutputContract *Contract
	Policy         *Policy
	BusinessKey    *Template // nil: no key
	ResourceKey    *Template
	Compensation   *Task // only inside SCOPE

	at            place
	queue, policy nameRef
}

// Branch runs the first arm whose condition is true; the choice is stored and
// never recomputed.
type Branch struct {
	Cases          []*Arm
	Default        *Arm
	OutputContract *Contract
}

// Arms returns the cases and then the default, as Node.Part numbers them.
func (b *Branch) Arms() []*Arm {
	arms := append([]*Arm(nil), b.Cases...)
	if b.Default != nil {
		arms = append(arms, b.Default)
	}
	return arms
}

// HasOutput reports whether the branch is a step with an output: every arm
// with a body gives one, or none does.
func (b *Branch) HasOutput() bool {
	for _, arm := range b.Arms() {
		if arm.Output != nil {
			return true
		}
	}
	return false
}

// Arm is what happens when its case is chosen: Body, or Fail, or Review.
type Arm struct {
	When   *Template // nil on the default
	Runs   bool      // the arm has a body, which may be empty
	Body   []*Node
	Output *Template
	Fail   string
	Review string
	at     place
}

// Parallel starts all branches together and joins all.
type Parallel struct {
	Branches []*Lane
}

// Lane is one branch of a PARALLEL.
type Lane struct {
	Label string
	Body  []*Node
}

// Timer waits. Exactly one of Delay and DelayMS is set.
type Timer struct {
	DelayMS int64
	Delay   *Template
}

// Signal waits for content sent from outside.
type Signal struct {
	Receive
	DeadlineMS   int64
	ExpiryOutput *Template // nil: expiry is a review
}

// Receive is what a wait for a signal freezes at activation.
type Receive struct {
	Signal          string
	SignalVersion   string
	ContentContract *Contract
	Correlation     *Template
}

// Poll asks one task per round until an answer is final.
type Poll struct {
	Task           *Task
	IntervalMS     int64
	MaxRounds      int64
	DeadlineMS     int64
	Classify       Classify
	Output         *Template
	OutputContract *Contract
	FinalSignal    *FinalSignal
}

// Classify sorts an answer by one scalar of it.
type Classify struct {
	Value                         *Template
	Pending, Done, Failed, Review []exact.Value

	listed []exact.Value // what the contract of Value lists, while judging
	at     place
}

// FinalSignal may end a POLL before a round answers.
type FinalSignal struct {
	Receive
	Classify Classify // Pending is empty
	Output   *Template
}

// Map runs its body once per item. Reserved.
type Map struct {
	Items        *Template
	MaxItems     int64
	MaxActive    int64
	Body         []*Node
	ItemOutput   *Template
	ItemContract *Contract
}

// Child runs another definition at a fixed version. Reserved.
type Child struct {
	Definition  string
	Version     int64
	Input       *Template
	BusinessKey *Template
	DeadlineMS  int64

	inputContract *Contract // the child's, while judging
}

// Scope undoes its succeeded tasks after a stop. Reserved.
type Scope struct {
	Body                   []*Node
	CompensationDeadlineMS int64
}
