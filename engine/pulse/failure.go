package pulse

// Action is something that may be done next about a task that ended badly or waits for a person.
type Action string

// What the rules allow; each names the operation that would take it.
const (
	ActionReview    Action = "REVIEW"           // decide about it
	ActionRetry     Action = "RETRY"            // repeat it by hand, alone or with a bulk operation
	ActionSuccessor Action = "FOLLOW_SUCCESSOR" // it was repeated; look at its successor
	ActionSubmit    Action = "SUBMIT_NEW"       // an effect is unknown: submit a new task once it may happen again
	ActionRecover   Action = "RECOVER_INSTANCE" // its workflow instance decides about it
	ActionTrigger   Action = "TRIGGER_SCHEDULE" // its schedule makes another
)

// Standstill is what the next actions about a task are judged by. Unknown: an attempt ended UNKNOWN.
type Standstill struct {
	State   Public
	Source  Source
	Unknown bool
	Retried bool
}

// NextActions are the legal next actions, by the very rules of reviews and manual retries; none for what needs none.
func NextActions(s Standstill) []Action {
	switch {
	case s.State != PublicReview && s.State != PublicFailed && s.State != PublicCancelled:
		return nil
	case s.Source == SourceWorkflow:
		return []Action{ActionRecover}
	case s.State == PublicReview:
		return []Action{ActionReview}
	case s.Retried:
		return []Action{ActionSuccessor}
	case s.Unknown && s.Source == SourceSchedule:
		return []Action{ActionSubmit, ActionTrigger}
	case s.Source == SourceSchedule:
		return []Action{ActionTrigger}
	case s.Unknown:
		return []Action{ActionSubmit}
	}
	return []Action{ActionRetry}
}
