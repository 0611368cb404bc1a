package weave

// InstanceState is where an instance stands. The numbers are those of instance.state.
type InstanceState uint8

// States of an instance (weave.md Instance).
const (
	InstanceRunning    InstanceState = 1
	InstanceSucceeded  InstanceState = 2
	InstanceFailed     InstanceState = 3
	InstanceCancelled  InstanceState = 4
	InstanceReview     InstanceState = 5
	InstanceCancelling InstanceState = 6
)

var instanceNames = map[InstanceState]string{
	InstanceRunning: "RUNNING", InstanceSucceeded: "SUCCEEDED", InstanceFailed: "FAILED",
	InstanceCancelled: "CANCELLED", InstanceReview: "NEEDS_REVIEW", InstanceCancelling: "CANCELLING",
}

func (s InstanceState) String() string { return instanceNames[s] }

// Terminal reports whether no transition leaves the state.
func (s InstanceState) Terminal() bool {
	return s == InstanceSucceeded || s == InstanceFailed || s == InstanceCancelled
}

// StepState is where a step stands. The numbers are those of step.state.
type StepState uint8

// States of a step. Skipped means that a branch or a stop made it unreachable.
const (
	StepWaiting   StepState = 1
	StepActive    StepState = 2
	StepSucceeded StepState = 3
	StepFailed    StepState = 4
	StepCancelled StepState = 5
	StepReview    StepState = 6
	StepSkipped   StepState = 7
)

var stepNames = map[StepState]string{
	StepWaiting: "WAITING", StepActive: "ACTIVE", StepSucceeded: "SUCCEEDED", StepFailed: "FAILED",
	StepCancelled: "CANCELLED", StepReview: "NEEDS_REVIEW", StepSkipped: "SKIPPED",
}

func (s StepState) String() string { return stepNames[s] }

// Settled reports whether the step has its outcome; a step in review waits for a person and has none yet.
func (s StepState) Settled() bool {
	return s == StepSucceeded || s == StepFailed || s == StepCancelled || s == StepSkipped
}

// StopKind is the target of the first stop; once set it never changes. The numbers are those of instance.stop_kind.
type StopKind uint8

// A user's cancel, or the failure of a step under FAIL_AFTER_SETTLED.
const (
	StopNone    StopKind = 0
	StopCancel  StopKind = 1
	StopFailure StopKind = 2
)
