package main

import (
	"context"
	"fmt"

	orbit "github.com/orbitrun/orbit/sdk"

	"github.com/orbitrun/orbit/examples/file-conversion/conversion"
)

// row is one file with its instance and what became of it.
type row struct {
	conversion.Source
	InstanceID string              `json:"instance_id"`
	State      orbit.InstanceState `json:"state"`
	Result     *conversion.Result  `json:"result"`
	Tasks      int                 `json:"tasks"`   // steps of the instance that succeeded
	Problem    string              `json:"problem"` // why the file is not there; empty when it is
	Verified   bool                `json:"verified"`

	instance *orbit.Instance
}

// settle waits for the end of the instance and reads what it says. An error means that the end is not known.
func (r *row) settle(ctx context.Context, client *orbit.Client) error {
	status, err := r.instance.Wait(ctx)
	if err != nil {
		return err
	}
	r.State = status.State
	if status.State == orbit.InstanceSucceeded {
		result, err := orbit.Decode[conversion.Result](status.Output)
		if err != nil {
			return err
		}
		r.Result = &result
	} else {
		r.Problem = status.Reason
	}
	return r.readSteps(ctx, client)
}

// readSteps counts the tasks that were done and finds the words of the one that failed.
func (r *row) readSteps(ctx context.Context, client *orbit.Client) error {
	for step, err := range r.instance.Steps(ctx) {
		if err != nil {
			return err
		}
		switch {
		case step.Kind != "TASK":
		case step.State == "SUCCEEDED":
			r.Tasks++
		case step.State == "FAILED" && step.TaskID != "":
			end, err := client.TaskResult(ctx, step.TaskID)
			if err != nil {
				return err
			}
			if end.Failure != nil {
				r.Problem = fmt.Sprintf("%s: %s: %s", step.Name, end.Failure.Code, end.Failure.Message)
			}
		}
	}
	return nil
}

// check compares the published file with what the instance promises. The server's word is not enough: it never saw the
// bytes.
func (r *row) check(folders *conversion.Folders) {
	if r.Result == nil {
		if r.Problem == "" {
			r.Problem = "not finished"
		}
		return
	}
	digest, _, err := conversion.Digest(folders.Out, r.Result.File)
	switch {
	case err != nil:
		r.Problem = fmt.Sprintf("published, and now unreadable: %v (-run NAME converts again)", err)
	case digest != r.Result.SHA256:
		r.Problem = "published, and since then changed by somebody (-run NAME converts again)"
	default:
		r.Verified = true
	}
}

func (j *job) succeeded() int {
	n := 0
	for _, r := range j.rows {
		if r.State == orbit.InstanceSucceeded && r.Verified {
			n++
		}
	}
	return n
}

// summary is the last line of stdout.
type summary struct {
	Instances int     `json:"instances"`
	Succeeded int     `json:"succeeded"` // and with an output file that matches
	Tasks     int     `json:"tasks"`
	Seconds   float64 `json:"seconds"`
}

func (j *job) summary() summary {
	s := summary{Instances: len(j.rows), Succeeded: j.succeeded(), Seconds: float64(int(j.seconds*1000)) / 1000}
	for _, r := range j.rows {
		s.Tasks += r.Tasks
	}
	return s
}
