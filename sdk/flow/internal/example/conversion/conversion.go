// Package conversion is the example of long outside work: submit once, ask
// until it is final, and let a callback end the asking (definition.md 7.3).
package conversion

import (
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
)

// Document is the input.
type Document struct {
	DocumentID string `json:"document_id" flow:"minLength=1"`
	Source     string `json:"source"`
	Format     string `json:"format" flow:"enum=PDF|PNG"`
}

// The contracts of the handlers and of the signal.
type (
	Job struct {
		JobID string `json:"job_id" flow:"minLength=1,maxLength=128"`
	}
	Status struct {
		State string `json:"state" flow:"enum=QUEUED|RUNNING|DONE|UNSUPPORTED|STUCK"`
		File  string `json:"file,omitempty" flow:"optional"`
		Pages int    `json:"pages,omitempty" flow:"optional"`
	}
	Converted struct {
		File  string `json:"file"`
		Pages *int   `json:"pages"`
	}
)

// The handlers, the signal and the policies.
var (
	Submit    = flow.Handler[Document, Job]("conversion", "conversion.submit", "1")
	AskStatus = flow.Handler[Job, Status]("conversion", "conversion.status", "1")
	Finished  = flow.SignalType[Status]("conversion.finished", "1")

	SubmitPolicy = flow.Policy{Name: "submit", Priority: 5, Deadline: 30 * time.Minute, AttemptTimeout: time.Minute,
		Lost: flow.LostReview, Retry: flow.Fixed{MaxAttempts: 3, Delay: 5 * time.Second}}
	AskPolicy = flow.Policy{Name: "ask", Priority: 6, Deadline: 5 * time.Minute, AttemptTimeout: 20 * time.Second,
		Lost: flow.LostRetry, Retry: flow.Fixed{MaxAttempts: 3, Delay: 2 * time.Second}}
)

// DocumentConversion submits a document and polls its conversion.
func DocumentConversion() (*flow.Definition, error) {
	in := flow.Input[Document]()
	docID := flow.Get[string](in, "document_id")
	submit := flow.Task("submit", Submit, SubmitPolicy, in).BusinessKey(docID).ResourceKey(flow.Concat("document/", docID))
	job := flow.Get[string](submit.Out(), "job_id")
	file := func(s flow.Value[Status]) flow.Object {
		return flow.Object{"file": flow.Must(flow.Get[string](s, "file")), "pages": flow.OrNull(flow.Get[flow.Number](s, "pages"))}
	}
	state := func(s flow.Value[Status]) flow.Value[string] { return flow.Get[string](s, "state") }
	convert := flow.Poll[Converted]("convert", AskStatus, AskPolicy, flow.Object{"job_id": job}, flow.PollSpec[Status]{
		Interval: 30 * time.Second, MaxRounds: 200, Deadline: 2 * time.Hour, Value: state, Output: file,
		Pending: flow.Values("QUEUED", "RUNNING"), Done: flow.Values("DONE"), Failed: flow.Values("UNSUPPORTED"), Review: flow.Values("STUCK"),
	}).BusinessKey(docID).FinalSignal(Finished, job, flow.SignalSpec[Status]{
		Value: state, Output: file, Done: flow.Values("DONE"), Failed: flow.Values("UNSUPPORTED"), Review: flow.Values("STUCK"),
	})
	return flow.Define[Document, Converted]("document_conversion", 2, flow.Settings{Deadline: 4 * time.Hour, OnFailure: flow.FailAfterSettled},
		flow.Body(submit, convert), convert.Out())
}
