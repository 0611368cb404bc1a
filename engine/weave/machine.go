package weave

// InstanceEvent is what happens to an instance.
type InstanceEvent string

// What can happen to an instance. Continue is a person's; everything else is decided by plans.
const (
	OnComplete  InstanceEvent = "complete"
	OnReview    InstanceEvent = "review"
	OnStop      InstanceEvent = "stop"
	OnFailed    InstanceEvent = "settled, failure"
	OnCancelled InstanceEvent = "settled, cancel"
	OnContinue  InstanceEvent = "continue"
)

// InstanceEvents lists every event, for the tests and the documentation.
var InstanceEvents = []InstanceEvent{OnComplete, OnReview, OnStop, OnFailed, OnCancelled, OnContinue}

// InstanceMachine is the whole life of an instance: state × event → next state. What is missing is refused. A review
// never withdraws a stop, and a second review keeps the first one's state.
var InstanceMachine = map[InstanceState]map[InstanceEvent]InstanceState{
	InstanceRunning: {
		OnComplete: InstanceSucceeded,
		OnReview:   InstanceReview,
		OnStop:     InstanceCancelling,
	},
	InstanceReview: {
		OnReview:   InstanceReview,
		OnStop:     InstanceCancelling,
		OnContinue: InstanceRunning,
	},
	InstanceCancelling: {
		OnReview:    InstanceCancelling,
		OnStop:      InstanceCancelling,
		OnFailed:    InstanceFailed,
		OnCancelled: InstanceCancelled,
	},
}

// StepEvent is what happens to a step.
type StepEvent string

// What can happen to a step. Resolutions and the retry are a person's.
const (
	StepOnActivate       StepEvent = "activate"
	StepOnSucceed        StepEvent = "succeed"
	StepOnFail           StepEvent = "fail"
	StepOnCancel         StepEvent = "cancel"
	StepOnReview         StepEvent = "review"
	StepOnSkip           StepEvent = "skip"
	StepOnResolveSuccess StepEvent = "resolve: succeeded"
	StepOnResolveFailure StepEvent = "resolve: failed"
	StepOnRetry          StepEvent = "retry"
)

// StepEvents lists every event, for the tests and the documentation.
var StepEvents = []StepEvent{
	StepOnActivate, StepOnSucceed, StepOnFail, StepOnCancel, StepOnReview, StepOnSkip,
	StepOnResolveSuccess, StepOnResolveFailure, StepOnRetry,
}

// StepMachine is the whole life of a step: state × event → next state. What is missing is refused: a settled step is
// never reopened by a result, and nothing retries a success.
var StepMachine = map[StepState]map[StepEvent]StepState{
	StepWaiting: {
		StepOnActivate: StepActive,
		StepOnReview:   StepReview, // its values could not be computed; nothing was started
		StepOnSkip:     StepSkipped,
	},
	StepActive: {
		StepOnSucceed: StepSucceeded,
		StepOnFail:    StepFailed,
		StepOnCancel:  StepCancelled,
		StepOnReview:  StepReview,
	},
	StepReview: {
		StepOnResolveSuccess: StepSucceeded,
		StepOnResolveFailure: StepFailed,
		StepOnRetry:          StepActive,
	},
	StepFailed: {
		StepOnResolveSuccess: StepSucceeded,
		StepOnRetry:          StepActive,
	},
	StepCancelled: {
		StepOnResolveSuccess: StepSucceeded,
		StepOnRetry:          StepActive,
	},
}
