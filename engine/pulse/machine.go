package pulse

// Event is what happens to a task; the machine below says what it makes of each state.
type Event string

// What can happen to an open task.
const (
	OnStart     Event = "start"
	OnSucceed   Event = "succeed"
	OnBroken    Event = "contract broken"
	OnRetry     Event = "fail, will retry"
	OnFail      Event = "fail, final"
	OnUnknown   Event = "unknown, to review"
	OnReturn    Event = "return"
	OnStopped   Event = "stopped on request"
	OnCancel    Event = "cancel"
	OnExpire    Event = "deadline"
	OnApprove   Event = "review: succeeded"
	OnDisprove  Event = "review: failed"
	OnAskCancel Event = "ask running to stop"
)

// Machine is the whole life of a task: state × event → next public state. What is missing is refused. It is printed
// into the documentation and tested cell by cell.
var Machine = map[Public]map[Event]Public{
	PublicQueued: {
		OnStart:  PublicRunning,
		OnCancel: PublicCancelled,
		OnExpire: PublicFailed,
		// a wait that follows an unknown attempt ends with a person, never silently
		OnUnknown: PublicReview,
	},
	PublicRunning: {
		OnSucceed:   PublicSucceeded,
		OnBroken:    PublicReview,
		OnRetry:     PublicQueued,
		OnFail:      PublicFailed,
		OnUnknown:   PublicReview,
		OnReturn:    PublicQueued,
		OnStopped:   PublicCancelled,
		OnAskCancel: PublicRunning,
	},
	PublicReview: {
		OnApprove:  PublicSucceeded,
		OnDisprove: PublicFailed,
	},
}

// Next is the machine as a function.
func Next(from Public, on Event) (Public, bool) {
	to, ok := Machine[from][on]
	return to, ok
}
