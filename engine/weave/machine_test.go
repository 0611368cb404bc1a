package weave

import "testing"

// The machines again, written as a person reads them: a dot is a refusal. Every cell is compared.
func TestInstanceMachine(t *testing.T) {
	want := map[InstanceState][]string{
		//                  complete     review          stop          failed     cancelled    continue
		InstanceRunning:    {"SUCCEEDED", "NEEDS_REVIEW", "CANCELLING", ".", ".", "."},
		InstanceReview:     {".", "NEEDS_REVIEW", "CANCELLING", ".", ".", "RUNNING"},
		InstanceCancelling: {".", "CANCELLING", "CANCELLING", "FAILED", "CANCELLED", "."},
		InstanceSucceeded:  {".", ".", ".", ".", ".", "."},
		InstanceFailed:     {".", ".", ".", ".", ".", "."},
		InstanceCancelled:  {".", ".", ".", ".", ".", "."},
	}
	for state := range instanceNames {
		for i, on := range InstanceEvents {
			got := "."
			if to, ok := InstanceMachine[state][on]; ok {
				got = to.String()
			}
			if got != want[state][i] {
				t.Errorf("%s on %s: %s, not %s", state, on, got, want[state][i])
			}
		}
		if state.Terminal() != (len(InstanceMachine[state]) == 0) {
			t.Errorf("%s: terminal is %v", state, state.Terminal())
		}
	}
}

func TestStepMachine(t *testing.T) {
	want := map[StepState][]string{
		//             activate   succeed      fail      cancel       review          skip       resolve ok   resolve bad  retry
		StepWaiting:   {"ACTIVE", ".", ".", ".", "NEEDS_REVIEW", "SKIPPED", ".", ".", "."},
		StepActive:    {".", "SUCCEEDED", "FAILED", "CANCELLED", "NEEDS_REVIEW", ".", ".", ".", "."},
		StepReview:    {".", ".", ".", ".", ".", ".", "SUCCEEDED", "FAILED", "ACTIVE"},
		StepFailed:    {".", ".", ".", ".", ".", ".", "SUCCEEDED", ".", "ACTIVE"},
		StepCancelled: {".", ".", ".", ".", ".", ".", "SUCCEEDED", ".", "ACTIVE"},
		StepSucceeded: {".", ".", ".", ".", ".", ".", ".", ".", "."},
		StepSkipped:   {".", ".", ".", ".", ".", ".", ".", ".", "."},
	}
	for state := range stepNames {
		for i, on := range StepEvents {
			got := "."
			if to, ok := StepMachine[state][on]; ok {
				got = to.String()
			}
			if got != want[state][i] {
				t.Errorf("%s on %s: %s, not %s", state, on, got, want[state][i])
			}
		}
	}
}
