// Package access is the example of a human approval: a signal with its own
// deadline, a deputy, and a cooling-off timer (definition.md 7.2).
package access

import (
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
)

// Request is the input.
type Request struct {
	_            flow.Contract `flow:"closed"`
	RequestID    string        `json:"request_id" flow:"minLength=1"`
	Approver     string        `json:"approver"`
	Deputy       string        `json:"deputy,omitempty" flow:"optional"`
	CoolingOffMS int64         `json:"cooling_off_ms" flow:"min=1,max=604800000"`
}

// The contracts of the handlers and of the signal.
type (
	AskIn struct {
		_         flow.Contract `flow:"name=ask"`
		Who       string        `json:"who"`
		RequestID string        `json:"request_id"`
	}
	Decision struct {
		Verdict string `json:"verdict" flow:"enum=APPROVED|REJECTED|NO_ANSWER"`
		By      string `json:"by,omitempty" flow:"optional"`
	}
	Approved struct {
		By string `json:"by"`
	}
	GrantOut struct {
		_       flow.Contract `flow:"name=grant"`
		GrantID string        `json:"grant_id"`
	}
)

// The handlers, the signal and the policy, shared with workers and senders.
var (
	Ask      = flow.Handler[AskIn, flow.None]("messages", "approval.ask", "1")
	Grant    = flow.Handler[flow.Any, GrantOut]("access", "access.grant", "4")
	Approval = flow.SignalType[Decision]("approval.decision", "1")
	Standard = flow.Policy{Name: "standard", Priority: 5, Deadline: 24 * time.Hour, AttemptTimeout: time.Minute,
		Lost: flow.LostRetry, Retry: flow.List{Delays: []time.Duration{time.Second, 10 * time.Second, time.Minute}}}
)

// AccessRequest asks the approver, then the deputy, waits and grants.
func AccessRequest() (*flow.Definition, error) {
	in := flow.Input[Request]()
	id, approver, deputy := flow.Get[string](in, "request_id"), flow.Get[string](in, "approver"), flow.Get[string](in, "deputy")
	ask := flow.Task("ask", Ask, Standard, flow.Object{"who": approver, "request_id": id}).BusinessKey(id)
	answer := flow.Signal[Decision]("answer", Approval, id, 48*time.Hour, flow.ExpireWith(flow.Object{"verdict": "NO_ANSWER"}))
	verdict := flow.Get[string](answer.Out(), "verdict")
	askDeputy := flow.Task("ask_deputy", Ask, Standard, flow.Object{"who": deputy, "request_id": id}).BusinessKey(id)
	second := flow.Signal[Decision]("deputy_answer", Approval, id, 48*time.Hour, flow.ExpireReview)
	secondOK := flow.Branch[flow.None]("deputy_approval",
		flow.When(flow.Eq(flow.Get[string](second.Out(), "verdict"), "APPROVED")), flow.Otherwise().Fail("rejected"))
	approval := flow.Branch[Approved]("approval",
		flow.When(flow.Eq(verdict, "APPROVED")).Output(flow.Object{"by": flow.OrValue(flow.Get[string](answer.Out(), "by"), approver)}),
		flow.When(flow.And(flow.Eq(verdict, "NO_ANSWER"), flow.Has(deputy)), askDeputy, second, secondOK).Output(flow.Object{"by": deputy}),
		flow.Otherwise().Fail("rejected"))
	coolingOff := flow.TimerFor("cooling_off", flow.Get[flow.Number](in, "cooling_off_ms"))
	give := flow.Task("give", Grant, Standard, flow.Object{"request_id": id, "by": flow.Get[string](approval.Out(), "by")}).
		BusinessKey(id).ResourceKey(flow.Concat("access/", id))
	return flow.Define[Request, GrantOut]("access_request", 3, flow.Settings{Deadline: 14 * 24 * time.Hour, OnFailure: flow.Review},
		flow.Body(ask, answer, approval, coolingOff, give), give.Out())
}
