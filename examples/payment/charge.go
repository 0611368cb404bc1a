package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/worker"
)

// Payment is the input of a task. Its resource key is the order, so that two tasks never charge one order at a time.
type Payment struct {
	Order string `json:"order"`
	Cents int64  `json:"cents"`
}

// Charged is the output of a task that succeeded.
type Charged struct {
	Charge string `json:"charge"`
}

// Submission is how such a task is submitted. Lost work is reviewed and not repeated: to charge again is not safe. What
// was refused before anything happened is tried three times.
func (p Payment) Submission() (orbit.Submission, error) {
	input, err := json.Marshal(p)
	return orbit.Submission{
		SubmitKey: "payment-" + p.Order, Queue: "payments", Handler: "charge", HandlerVersion: "1", Input: input,
		BusinessKey: p.Order, ResourceKey: "order/" + p.Order, Deadline: time.Hour, AttemptTimeout: 30 * time.Second,
		Lost: orbit.LostReview, Retry: orbit.Fixed(3, 100*time.Millisecond),
	}, err
}

// service is the payment service. It charges with every request, and keeps books.
type service struct{ address string }

// Charge charges once. What the answer says decides what the task says: a service that refused has charged nothing; one
// that did not answer may have.
func (s service) Charge(ctx context.Context, _ *worker.Task, p Payment) (Charged, error) {
	var out Charged
	body, err := json.Marshal(p)
	if err != nil {
		return out, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/charges", bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return out, worker.UnknownOutcome(err)
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusCreated:
		if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
			return out, worker.UnknownOutcome(err)
		}
		return out, nil
	case answer.StatusCode == http.StatusServiceUnavailable:
		return out, worker.Retryable(fmt.Errorf("the service is closed"))
	case answer.StatusCode == http.StatusPaymentRequired:
		return out, worker.Permanent(fmt.Errorf("the card was declined"), "card_declined")
	}
	return out, worker.UnknownOutcome(fmt.Errorf("the service answered %s", answer.Status))
}

// Charges are the books of the service about one order. Settled says that no request for it is under way any more.
type Charges struct {
	Order   string   `json:"order"`
	Charges []string `json:"charges"`
	Settled bool     `json:"settled"`
}

func (s service) look(ctx context.Context, order string) (Charges, json.RawMessage, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/charges/"+url.PathEscape(order), nil)
	if err != nil {
		return Charges{}, nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return Charges{}, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	var books Charges
	if err := json.NewDecoder(answer.Body).Decode(&books); err != nil {
		return Charges{}, nil, err
	}
	evidence, err := json.Marshal(books)
	return books, evidence, err
}
