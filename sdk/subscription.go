package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Where a subscription starts.
const (
	StartHead     = "HEAD"     // with what is written from now on
	StartFirst    = "FIRST"    // with the oldest result that is kept
	StartSequence = "SEQUENCE" // with a number
)

// Subscription is a subscription with its settings, position and exact counters.
type Subscription struct {
	SubscriptionID  string      `json:"subscription_id"`
	Name            string      `json:"name"`
	Queues          []string    `json:"queues"`   // empty: all of the application
	States          []TaskState `json:"states"`   // empty: all results
	Handlers        []string    `json:"handlers"` // empty: all of them
	InOrder         bool        `json:"in_order"`
	Window          int         `json:"window"`
	AckTimeoutMS    int64       `json:"ack_timeout_ms"`
	GenerationsMax  int         `json:"generations_max"`
	Paused          bool        `json:"paused"`
	Epoch           int64       `json:"epoch"`
	NextSeq         int64       `json:"next_seq"`
	SettledThrough  int64       `json:"settled_through"` // everything selected up to here is acknowledged or dead
	HeadSeq         int64       `json:"head_seq"`
	Unread          int64       `json:"unread"`
	SelectedCount   int64       `json:"selected_count"`
	PendingCount    int64       `json:"pending_count"`
	DeadCount       int64       `json:"dead_count"`
	OldestPendingAt *time.Time  `json:"oldest_pending_at"`
	Version         int64       `json:"version"`
	CreatedAt       time.Time   `json:"created_at"`
}

// SubscriptionSettings are what PutSubscription makes or changes. Queues, States, Handlers, Parallel and the start hold
// from the creation on. Zero fields get the server's defaults: order, the head, a window of 256, 30 s, 20 generations.
type SubscriptionSettings struct {
	Queues          []string    // empty: all of the application, also future ones
	States          []TaskState // of the results: SUCCEEDED, FAILED, CANCELLED, NEEDS_REVIEW; empty: all
	Handlers        []string    // of the tasks; empty: all
	Parallel        bool        // several consumers share the work in any order
	Start           string
	StartSeq        int64
	Window          int
	AckTimeout      time.Duration
	GenerationsMax  int
	Paused          bool
	ExpectedVersion *int64
}

type subscriptionWire struct {
	Queues          []string    `json:"queues,omitempty"`
	States          []TaskState `json:"states,omitempty"`
	Handlers        []string    `json:"handlers,omitempty"`
	InOrder         bool        `json:"in_order"`
	Start           string      `json:"start,omitempty"`
	StartSeq        int64       `json:"start_seq,omitempty"`
	Window          int         `json:"window,omitempty"`
	AckTimeoutMS    int64       `json:"ack_timeout_ms,omitempty"`
	GenerationsMax  int         `json:"generations_max,omitempty"`
	Paused          bool        `json:"paused,omitempty"`
	ExpectedVersion *int64      `json:"expected_version,omitempty"`
}

// PutSubscription creates or changes a subscription (scope subscriptions:manage). The same settings again change nothing.
func (c *Client) PutSubscription(ctx context.Context, name string, s SubscriptionSettings) (*Subscription, error) {
	body, err := object(subscriptionWire{s.Queues, s.States, s.Handlers, !s.Parallel, s.Start, s.StartSeq, s.Window, milliseconds(s.AckTimeout), s.GenerationsMax, s.Paused, s.ExpectedVersion})
	if err != nil {
		return nil, err
	}
	return get[Subscription](ctx, c, "putSubscription", func() (*http.Request, error) {
		return rest.NewPutSubscriptionRequestWithBody(c.server, name, jsonBody, bytes.NewReader(body))
	})
}

// GetSubscription reads a subscription (scope subscriptions:manage).
func (c *Client) GetSubscription(ctx context.Context, name string) (*Subscription, error) {
	return get[Subscription](ctx, c, "getSubscription", func() (*http.Request, error) {
		return rest.NewGetSubscriptionRequest(c.server, name)
	})
}

// Subscriptions walks the subscriptions of the application by name (scope subscriptions:manage).
func (c *Client) Subscriptions(ctx context.Context) iter.Seq2[Subscription, error] {
	return pages[Subscription](ctx, c, "listSubscriptions", func(cursor *string) (*http.Request, error) {
		return rest.NewListSubscriptionsRequest(c.server, &rest.ListSubscriptionsParams{Cursor: cursor, Limit: &pageSize})
	})
}

// DeleteSubscription ends a subscription; its deliveries and dead letters go with it (scope subscriptions:manage).
func (c *Client) DeleteSubscription(ctx context.Context, name string) error {
	_, err := c.do(ctx, call{operation: "deleteSubscription", build: func() (*http.Request, error) {
		return rest.NewDeleteSubscriptionRequest(c.server, name)
	}})
	return err
}

// Delivery is one result on its way to a consumer.
type Delivery struct {
	Seq            int64           `json:"seq"`
	PreviousSeq    int64           `json:"previous_seq"` // of this subscription; 0 for the first
	Generation     int64           `json:"generation"`
	Proof          string          `json:"proof"`
	AckUntil       time.Time       `json:"ack_until"`
	At             time.Time       `json:"at"`
	ApplicationID  string          `json:"application_id"`
	QueueID        string          `json:"queue_id"`
	Queue          string          `json:"queue"`
	TaskID         string          `json:"task_id"`
	State          TaskState       `json:"state"`
	StateVersion   int64           `json:"state_version"`
	Handler        string          `json:"handler"`
	HandlerVersion string          `json:"handler_version"`
	BusinessKey    string          `json:"business_key"`
	AttemptNo      int             `json:"attempt_no"`
	Failure        *Failure        `json:"failure"`
	Output         json.RawMessage `json:"output"` // byte for byte as reported
	PreviousHash   string          `json:"previous_hash"`
	Hash           string          `json:"hash"`
}

// PullRequest is a consumer asking for results.
type PullRequest struct {
	Consumer       string `json:"consumer"`                  // a name of its own for each process
	HoldingThrough int64  `json:"holding_through,omitempty"` // the highest number it has in hand
	Max            int    `json:"max"`                       // 1 to 64
	WaitMS         int64  `json:"wait_ms,omitempty"`
}

// Pulled is what a pull got, in stream order.
type Pulled struct {
	Items          []Delivery `json:"items"`
	Epoch          int64      `json:"epoch"`
	InOrder        bool       `json:"in_order"`
	SettledThrough int64      `json:"settled_through"`
}

// Pull asks once for results, waiting up to WaitMS for the first (scope subscriptions:consume). An answer that was lost
// is handed out again to the same consumer. Package stream is the ready consumer.
func (c *Client) Pull(ctx context.Context, subscription string, r PullRequest) (*Pulled, error) {
	body, err := object(r)
	if err != nil {
		return nil, err
	}
	var out Pulled
	_, err = c.once(ctx, waitMargin+time.Duration(r.WaitMS)*time.Millisecond, func() (*http.Request, error) {
		return rest.NewPullSubscriptionRequestWithBody(c.server, subscription, jsonBody, bytes.NewReader(body))
	}, &out)
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Outcomes of acknowledgements and refusals.
const (
	DeliveryAcknowledged = "ACKNOWLEDGED"
	DeliveryPostponed    = "POSTPONED"
	DeliveryDead         = "DEAD_LETTER"
	DeliverySuperseded   = "SUPERSEDED" // a newer generation is out
	DeliveryUnknown      = "UNKNOWN"    // no such delivery in the present epoch
)

// DeliveryOutcome is what became of one acknowledgement or refusal.
type DeliveryOutcome struct {
	Seq     int64  `json:"seq"`
	Outcome string `json:"outcome"`
}

// Nack refuses a delivery.
type Nack struct {
	Delivery Delivery
	Delay    time.Duration
	Reason   string // for people; at most 255 bytes
	Returned bool   // never begun: the generation does not count and there is no delay
}

type ackWire struct {
	Seq        int64  `json:"seq"`
	Generation int64  `json:"generation"`
	Proof      string `json:"proof"`
}

type nackWire struct {
	ackWire
	DelayMS  int64  `json:"delay_ms,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Returned bool   `json:"returned,omitempty"`
}

func acksOf(deliveries []Delivery) []ackWire {
	items := make([]ackWire, len(deliveries))
	for i, d := range deliveries {
		items[i] = ackWire{d.Seq, d.Generation, d.Proof}
	}
	return items
}

func nacksOf(nacks []Nack) []nackWire {
	items := make([]nackWire, len(nacks))
	for i, n := range nacks {
		items[i] = nackWire{ackWire{n.Delivery.Seq, n.Delivery.Generation, n.Delivery.Proof}, milliseconds(n.Delay), n.Reason, n.Returned}
	}
	return items
}

type deliveryOutcomes struct {
	Items          []DeliveryOutcome `json:"items"`
	PendingCount   int64             `json:"pending_count"`
	SettledThrough int64             `json:"settled_through"`
}

// Ack acknowledges up to 256 deliveries (scope subscriptions:consume). It is repeated until it is answered: the same
// acknowledgement again gets the same outcome.
func (c *Client) Ack(ctx context.Context, subscription string, deliveries ...Delivery) ([]DeliveryOutcome, error) {
	body, err := json.Marshal(map[string]any{"items": acksOf(deliveries)})
	if err != nil {
		return nil, err
	}
	out, err := get[deliveryOutcomes](ctx, c, "ackDeliveries", func() (*http.Request, error) {
		return rest.NewAckDeliveriesRequestWithBody(c.server, subscription, jsonBody, bytes.NewReader(body))
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

// Nack refuses up to 256 deliveries (scope subscriptions:consume); repeated like Ack.
func (c *Client) Nack(ctx context.Context, subscription string, nacks ...Nack) ([]DeliveryOutcome, error) {
	body, err := json.Marshal(map[string]any{"items": nacksOf(nacks)})
	if err != nil {
		return nil, err
	}
	out, err := get[deliveryOutcomes](ctx, c, "nackDeliveries", func() (*http.Request, error) {
		return rest.NewNackDeliveriesRequestWithBody(c.server, subscription, jsonBody, bytes.NewReader(body))
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

// DeadLetter is a result whose generations are used up.
type DeadLetter struct {
	Seq        int64     `json:"seq"`
	Generation int64     `json:"generation"`
	DeadAt     time.Time `json:"dead_at"`
	Reason     string    `json:"reason"`
	TaskID     string    `json:"task_id"`
	State      TaskState `json:"state"`
	At         time.Time `json:"at"`
}

// DeadLetters walks a subscription's dead letters in stream order (scope subscriptions:manage).
func (c *Client) DeadLetters(ctx context.Context, subscription string) iter.Seq2[DeadLetter, error] {
	return pages[DeadLetter](ctx, c, "listDeadLetters", func(cursor *string) (*http.Request, error) {
		return rest.NewListDeadLettersRequest(c.server, subscription, &rest.ListDeadLettersParams{Cursor: cursor, Limit: &pageSize})
	})
}

// Redeliver gives up to 100 dead letters a new budget and returns those that were dead letters (scope
// subscriptions:manage).
func (c *Client) Redeliver(ctx context.Context, subscription, reason string, seqs ...int64) ([]int64, error) {
	body, err := json.Marshal(map[string]any{"seqs": seqs, "reason": reason})
	if err != nil {
		return nil, err
	}
	type redelivery struct {
		Redelivered []int64 `json:"redelivered"`
	}
	out, err := get[redelivery](ctx, c, "redeliverDeadLetters", func() (*http.Request, error) {
		return rest.NewRedeliverDeadLettersRequestWithBody(c.server, subscription, jsonBody, bytes.NewReader(body))
	})
	if err != nil {
		return nil, err
	}
	return out.Redelivered, nil
}

// Seek sets the position of a paused subscription (scope subscriptions:manage); seq counts with StartSequence only.
func (c *Client) Seek(ctx context.Context, subscription, to string, seq int64, reason string) (*Subscription, error) {
	type seek struct {
		To     string `json:"to"`
		Seq    int64  `json:"seq,omitempty"`
		Reason string `json:"reason"`
	}
	body, err := object(seek{to, seq, reason})
	if err != nil {
		return nil, err
	}
	return get[Subscription](ctx, c, "seekSubscription", func() (*http.Request, error) {
		return rest.NewSeekSubscriptionRequestWithBody(c.server, subscription, jsonBody, bytes.NewReader(body))
	})
}
