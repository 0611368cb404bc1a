package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // the zone must be there on every machine

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/worker"
)

type reports struct {
	client *orbit.Client
	folder string
}

// what is the input of a report.
type what struct {
	Of string `json:"of"`
}

// report is what is written, and the output of the task.
type report struct {
	Of    string    `json:"of"`
	Day   string    `json:"day"` // in Berlin
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	Hours float64   `json:"hours"` // 23 or 25 when the clocks change
}

// Write writes the report of the slot its task stands for. The file appears whole or not at all, and the same slot is the
// same file.
func (r reports) Write(ctx context.Context, t *worker.Task, in what) (report, error) {
	source, err := r.client.TaskSource(ctx, t.TaskID)
	if err != nil {
		return report{}, err // nothing is written yet
	}
	if source.Kind != "SCHEDULE" {
		return report{}, worker.Permanent(fmt.Errorf("a report needs a slot, and this task came by %s", source.Kind), "no_slot")
	}
	out, err := reportOf(in.Of, source.PlannedAt)
	if err != nil {
		return report{}, err
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return report{}, err
	}
	return out, publish(filepath.Join(r.folder, out.Of+"-"+out.Day+".json"), text)
}

// reportOf covers the day before the slot, as its people lived it.
func reportOf(of string, planned time.Time) (report, error) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		return report{}, err
	}
	at := planned.In(berlin)
	until := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, berlin)
	from := until.AddDate(0, 0, -1)
	return report{of, from.Format(time.DateOnly), from.UTC(), until.UTC(), until.Sub(from).Hours()}, nil
}

func publish(path string, text []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(path), ".draft-*")
	if err != nil {
		return err
	}
	_, err = draft.Write(text)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		_ = os.Remove(draft.Name()) // the failure is told already
	}
	return err
}
