package main

import (
	"context"
	"encoding/json"
	"fmt"

	orbit "github.com/orbitrun/orbit/sdk"
)

// decisions says how many payments were found done, found not done, and left because nobody can know yet.
type decisions struct{ Charged, NotCharged, Left int }

// reviewAll does what a person does with the payments in doubt: look into the books of the service, and decide only when
// no request is under way there. The books are the evidence.
func reviewAll(ctx context.Context, client *orbit.Client, pay service) (d decisions, err error) {
	for task, err := range client.ListTasks(ctx, orbit.TaskFilter{Queue: "payments", State: orbit.TaskNeedsReview}) {
		if err != nil {
			return d, err
		}
		if err := d.decide(ctx, client, pay, task.TaskID); err != nil {
			return d, fmt.Errorf("%s: %w", task.TaskID, err)
		}
	}
	return d, nil
}

func (d *decisions) decide(ctx context.Context, client *orbit.Client, pay service, id string) error {
	task, err := client.GetTask(ctx, id)
	if err != nil {
		return err
	}
	books, evidence, err := pay.look(ctx, task.BusinessKey)
	if err != nil {
		return err
	}
	if !books.Settled {
		d.Left++
		return nil
	}
	review := orbit.Review{ExpectedVersion: task.StateVersion, AllExecutionsEnded: true, Evidence: evidence}
	if len(books.Charges) > 0 {
		d.Charged++
		review.Decision, review.Reason = orbit.TaskSucceeded, "the service has the charge in its books"
		review.Output, err = json.Marshal(Charged{books.Charges[0]})
	} else {
		d.NotCharged++
		review.Decision, review.Reason = orbit.TaskFailed, "the service has no charge in its books"
		review.Failure = &orbit.Failure{Code: "not_charged"}
	}
	if err != nil {
		return err
	}
	_, err = client.Review(ctx, id, review)
	return err
}
