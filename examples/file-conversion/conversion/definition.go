// Package conversion is the work itself: a workflow of three tasks, its contracts, and the handlers that carry it out.
//
// One instance converts one file. What passes between the tasks are names and digests, never contents: the bytes stay in
// the two folders that every worker sees, and the digests say which bytes are meant. That is why each task may run
// twice, on any worker, and give the same result.
package conversion

import (
	"strings"
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
)

// Version of the definition. A published version never changes: whoever edits the graph or a contract raises it.
const Version = 1

// Kinds of content.
const (
	KindMarkdown = "MARKDOWN"
	KindText     = "TEXT"
	KindPNG      = "PNG"
	KindJPEG     = "JPEG"
	KindGIF      = "GIF"
)

// Source is the input of an instance: a file as it was when the job began.
type Source struct {
	_      flow.Contract `flow:"name=source,closed"`
	Path   string        `json:"path" flow:"minLength=1,maxLength=1024" description:"relative to the input folder, with slashes"`
	SHA256 string        `json:"sha256" flow:"pattern=^[0-9a-f]{64}$"`
}

// Inspected is what is known about a file before anything is made of it.
type Inspected struct {
	Kind   string `json:"kind" flow:"enum=MARKDOWN|TEXT|PNG|JPEG|GIF"`
	Title  string `json:"title" flow:"maxLength=200"`
	Bytes  int64  `json:"bytes" flow:"min=0"`
	Width  int    `json:"width,omitempty" flow:"min=1"`
	Height int    `json:"height,omitempty" flow:"min=1"`
}

// ConvertInput joins the source with what the inspection found.
type ConvertInput struct {
	_      flow.Contract `flow:"name=convert_input,closed"`
	Path   string        `json:"path"`
	SHA256 string        `json:"sha256"`
	Kind   string        `json:"kind"`
	Title  string        `json:"title"`
}

// Artifact names a produced file by its content.
type Artifact struct {
	SHA256    string `json:"sha256" flow:"pattern=^[0-9a-f]{64}$"`
	Extension string `json:"extension" flow:"enum=html|png|jpg"`
	Bytes     int64  `json:"bytes" flow:"min=1"`
}

// Published is an artifact in the output folder.
type Published struct {
	File   string `json:"file" flow:"minLength=1" description:"relative to the output folder, with slashes"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Result is the output of an instance.
type Result struct {
	_      flow.Contract `flow:"name=converted"`
	Kind   string        `json:"kind"`
	Title  string        `json:"title"`
	File   string        `json:"file"`
	SHA256 string        `json:"sha256"`
	Bytes  int64         `json:"bytes"`
}

// Handlers are the three typed references that the definition and the worker share.
type Handlers struct {
	Inspect flow.HandlerRef[Source, Inspected]
	Convert flow.HandlerRef[ConvertInput, Artifact]
	Publish flow.HandlerRef[Artifact, Published]
}

// HandlersOf are the handlers of the workflow name. Its queue has the same name, so that two jobs with different folders
// on one server do not take each other's tasks.
func HandlersOf(name string) Handlers {
	queue := QueueOf(name)
	return Handlers{
		Inspect: flow.Handler[Source, Inspected](queue, "file.inspect", "1"),
		Convert: flow.Handler[ConvertInput, Artifact](queue, "file.convert", "1"),
		Publish: flow.Handler[Artifact, Published](queue, "file.publish", "1"),
	}
}

// QueueOf is the queue of the workflow name.
func QueueOf(name string) string { return strings.ReplaceAll(name, "_", "-") }

// safe says that every handler may run twice (Lost): a worker that vanished costs a repetition and nobody's attention.
// Eight attempts bridge a file system that is away for about a minute.
var safe = flow.Policy{
	Name: "safe", Priority: 5, Deadline: 30 * time.Minute, AttemptTimeout: 2 * time.Minute, Lost: flow.LostRetry,
	Retry: flow.Exponential{MaxAttempts: 8, Delay: 500 * time.Millisecond, Factor: 2, MaxDelay: 20 * time.Second, JitterPercent: 20},
}

// Define builds the workflow: inspect, convert, publish.
func Define(name string) (*flow.Definition, error) {
	h := HandlersOf(name)
	in := flow.Input[Source]()
	path, digest := flow.Get[string](in, "path"), flow.Get[string](in, "sha256")

	inspect := flow.Task("inspect", h.Inspect, safe, in).BusinessKey(digest)
	convert := flow.Task("convert", h.Convert, safe, flow.Object{
		"path": path, "sha256": digest,
		"kind": flow.Get[string](inspect.Out(), "kind"), "title": flow.Get[string](inspect.Out(), "title"),
	}).BusinessKey(digest)
	publish := flow.Task("publish", h.Publish, safe, convert.Out()).BusinessKey(digest)

	return flow.Define[Source, Result](name, Version,
		flow.Settings{
			Description: "Inspect a file, convert it, publish the result under its own digest.",
			Deadline:    time.Hour, OnFailure: flow.FailAfterSettled,
		},
		flow.Body(inspect, convert, publish),
		flow.Object{
			"kind": flow.Get[string](inspect.Out(), "kind"), "title": flow.Get[string](inspect.Out(), "title"),
			"file": flow.Get[string](publish.Out(), "file"), "sha256": flow.Get[string](publish.Out(), "sha256"),
			"bytes": flow.Get[flow.Number](publish.Out(), "bytes"),
		})
}
