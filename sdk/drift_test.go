package orbit

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// The public types are written by hand, so that users see Go and not a generator. This test holds them to the document:
// every member of a schema is in its type, and nothing else is.
func TestTypesHaveTheMembersOfTheDocument(t *testing.T) {
	for _, pair := range []struct {
		own, generated any
		extra          string // members that are written beside the struct, as exact payloads
	}{
		{submissionWire{}, rest.TaskSubmission{}, "input output_contract"},
		{retryWire{}, rest.RetryPolicy{}, ""},
		{startWire{}, rest.InstanceStart{}, "input"},
		{signalWire{}, rest.SignalRequest{}, "content"},
		{SignalReceipt{}, rest.SignalReceipt{}, ""},
		{SignalStatus{}, rest.Signal{}, ""},
		{StepWait{}, rest.Wait{}, ""},
		{completionWire{}, rest.Completion{}, "output failure"},
		{renewalWire{}, rest.Renewal{}, "progress"},
		{Progress{}, rest.Progress{}, "detail"},
		{TaskProgress{}, rest.TaskProgress{}, ""},
		{uniqueWire{}, rest.UniqueRule{}, ""},
		{debounceWire{}, rest.DebounceRule{}, ""},
		{Attribute{}, rest.Attribute{}, ""},
		{ClaimRequest{}, rest.ClaimRequest{}, ""},
		{ClaimedTask{}, rest.ClaimedTask{}, ""},
		{RenewalOutcome{}, rest.RenewalOutcome{}, ""},
		{CompletionOutcome{}, rest.CompletionOutcome{}, ""},
		{CompletionAnswer{}, rest.CompletionOutcomes{}, ""},
		{TaskReceipt{}, rest.TaskReceipt{}, ""},
		{TaskSummary{}, rest.TaskSummary{}, ""},
		{Task{}, rest.Task{}, ""},
		{TaskResult{}, rest.TaskResult{}, ""},
		{Attempt{}, rest.Attempt{}, ""},
		{TaskEvent{}, rest.TaskEvent{}, ""},
		{LateEvidence{}, rest.LateEvidence{}, ""},
		{TaskSource{}, rest.TaskSource{}, ""},
		{Failure{}, rest.Failure{}, ""},
		{CancelReceipt{}, rest.CancelReceipt{}, ""},
		{reviewWire{}, rest.ReviewRequest{}, "evidence output failure"},
		{ReviewReceipt{}, rest.ReviewReceipt{}, ""},
		{TaskReview{}, rest.TaskReview{}, ""},
		{retryTaskWire{}, rest.RetryRequest{}, ""},
		{RetryReceipt{}, rest.RetryReceipt{}, ""},
		{TaskBlocker{}, rest.TaskBlocker{}, ""},
		{TaskBlockers{}, rest.TaskBlockers{}, ""},
		{Queue{}, rest.Queue{}, ""},
		{QueueDepth{}, rest.QueueDepth{}, ""},
		{QueueSettings{}, rest.QueueSettings{}, ""},
		{QueueRate{}, rest.QueueRate{}, ""},
		{QueueRateState{}, rest.QueueRateState{}, ""},
		{QueueHold{}, rest.QueueHold{}, ""},
		{TaskFailure{}, rest.TaskFailure{}, ""},
		{FailureGroup{}, rest.FailureGroup{}, ""},
		{FailureGroups{}, rest.FailureGroups{}, ""},
		{BulkFilter{}, rest.BulkFilter{}, ""},
		{BulkRequest{}, rest.BulkOperationRequest{}, ""},
		{BulkReceipt{}, rest.BulkOperationReceipt{}, ""},
		{BulkOperation{}, rest.BulkOperation{}, ""},
		{BulkItem{}, rest.BulkItem{}, ""},
		{Whoami{}, rest.Whoami{}, ""},
		{WorkflowReceipt{}, rest.WorkflowReceipt{}, ""},
		{Workflow{}, rest.Workflow{}, ""},
		{WorkflowVersion{}, rest.WorkflowVersion{}, ""},
		{validation{}, rest.WorkflowValidation{}, ""},
		{Finding{}, rest.WorkflowFinding{}, ""},
		{InstanceReceipt{}, rest.InstanceReceipt{}, ""},
		{InstanceSummary{}, rest.InstanceSummary{}, ""},
		{InstanceStatus{}, rest.Instance{}, ""},
		{Step{}, rest.Step{}, ""},
		{Revision{}, rest.Revision{}, ""},
		{batchOutcome{}, rest.TaskBatchOutcome{}, ""},
		{batchOutcome{}, rest.InstanceBatchOutcome{}, ""},
		{Subscription{}, rest.Subscription{}, ""},
		{subscriptionWire{}, rest.SubscriptionSettings{}, ""},
		{Delivery{}, rest.Delivery{}, ""},
		{PullRequest{}, rest.PullRequest{}, ""},
		{Pulled{}, rest.Pulled{}, ""},
		{ackWire{}, rest.Ack{}, ""},
		{nackWire{}, rest.Nack{}, ""},
		{DeliveryOutcome{}, rest.DeliveryOutcome{}, ""},
		{deliveryOutcomes{}, rest.DeliveryOutcomes{}, ""},
		{DeadLetter{}, rest.DeadLetter{}, ""},
		{problemWire{}, rest.Problem{}, "type instance"},
		{FieldError{}, rest.Fault{}, ""},
	} {
		own := append(members(reflect.TypeOf(pair.own)), strings.Fields(pair.extra)...)
		document := members(reflect.TypeOf(pair.generated))
		slices.Sort(own)
		slices.Sort(document)
		if !slices.Equal(own, document) {
			t.Errorf("%T has %v,\nthe document %v", pair.own, own, document)
		}
	}
}

func members(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, members(f.Type)...)
		case name != "-" && name != "":
			names = append(names, name)
		}
	}
	return names
}
