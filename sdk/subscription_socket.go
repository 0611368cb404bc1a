package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// FollowRequest is a consumer that wants results pushed.
type FollowRequest struct {
	Consumer       string `json:"consumer"`                  // a name of its own for each process
	HoldingThrough int64  `json:"holding_through,omitempty"` // the highest number it has in hand
	Credit         int    `json:"credit"`                    // results that may be unsettled at the same time; 1 to 256
}

// Socket is a subscription over a WebSocket. It is safe for concurrent use. Once it has failed it stays failed: open
// another, which goes on from what the consumer says it holds.
type Socket struct {
	conn *websocket.Conn
	stop context.CancelFunc

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan socketAnswer
	pushed  []*Pulled
	arrived chan struct{} // something was pushed
	closed  chan struct{}
	err     error // why it is closed
}

// socketAnswer is what the server says to one request, or that nobody will say anything.
type socketAnswer struct {
	outcomes *deliveryOutcomes
	err      error
}

// socketFrame is everything a server may send.
type socketFrame struct {
	ID         int64             `json:"id"`
	Deliveries *Pulled           `json:"deliveries"`
	Outcomes   *deliveryOutcomes `json:"outcomes"`
	Stopped    *struct{}         `json:"stopped"`
	Problem    json.RawMessage   `json:"problem"`
}

// dialTimeout bounds the handshake: a proxy that swallows upgrades must not look like an idle subscription.
const dialTimeout = 10 * time.Second

// Follow opens a socket and asks for results (scope subscriptions:consume). ctx bounds the opening; the socket lives
// until it is closed or fails. Errors: a refusal of the server, or a fault after which HTTP may still work.
func (c *Client) Follow(ctx context.Context, subscription string, r FollowRequest) (*Socket, error) {
	hello, err := json.Marshal(map[string]any{"id": 1, "follow": r})
	if err != nil {
		return nil, err
	}
	request, err := rest.NewOpenSubscriptionSocketRequest(c.server, subscription)
	if err != nil {
		return nil, fmt.Errorf("orbit: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if c.trace != nil {
		c.trace(request)
	}
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, response, err := websocket.Dial(dialing, request.URL.String(), &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: request.Header}) //nolint:bodyclose // dialError reads what Dial kept of it
	if err != nil {
		return nil, dialError(response, err)
	}
	conn.SetReadLimit(answerBytesMax)
	life, stop := context.WithCancel(context.Background())
	s := &Socket{conn: conn, stop: stop, next: 1, waiting: map[int64]chan socketAnswer{}, arrived: make(chan struct{}, 1), closed: make(chan struct{})}
	go s.read(life)
	if err := conn.Write(dialing, websocket.MessageText, hello); err != nil {
		s.fail(&brokenError{err})
		return nil, s.err
	}
	return s, nil
}

// dialError is the server's refusal, when there is one.
func dialError(response *http.Response, err error) error {
	if response == nil {
		return &brokenError{err}
	}
	defer func() { _ = response.Body.Close() }() // it is read as far as it was kept
	body, _ := io.ReadAll(response.Body)         // what there is of it
	return refusalOf(response, body)
}

// Next waits for the next results. After the end of the socket it gives what was still pushed, and then why it ended.
func (s *Socket) Next(ctx context.Context) (*Pulled, error) {
	for {
		s.mu.Lock()
		if len(s.pushed) > 0 {
			p := s.pushed[0]
			s.pushed = s.pushed[1:]
			s.mu.Unlock()
			return p, nil
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.arrived:
		case <-s.closed:
			s.mu.Lock()
			left := len(s.pushed)
			s.mu.Unlock()
			if left == 0 {
				return nil, s.err
			}
		}
	}
}

// Ack acknowledges up to 256 deliveries. An error leaves open whether it was done; the same again on another socket, or
// with Client.Ack, gets the same outcome.
func (s *Socket) Ack(ctx context.Context, deliveries ...Delivery) ([]DeliveryOutcome, error) {
	return s.ask(ctx, "acks", map[string]any{"items": acksOf(deliveries)})
}

// Nack refuses up to 256 deliveries.
func (s *Socket) Nack(ctx context.Context, nacks ...Nack) ([]DeliveryOutcome, error) {
	return s.ask(ctx, "nacks", map[string]any{"items": nacksOf(nacks)})
}

// Stop ends the pushing and returns what was pushed and not taken with Next. The socket still acknowledges and refuses.
func (s *Socket) Stop(ctx context.Context) ([]Delivery, error) {
	_, err := s.ask(ctx, "stop", struct{}{})
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []Delivery
	for _, p := range s.pushed {
		left = append(left, p.Items...)
	}
	s.pushed = nil
	return left, err
}

// Close ends the socket. What was pushed and not settled comes again when its time is over, or at once to the same
// consumer.
func (s *Socket) Close() {
	s.fail(errors.New("orbit: the socket was closed"))
}

func (s *Socket) ask(ctx context.Context, verb string, body any) ([]DeliveryOutcome, error) {
	answer := make(chan socketAnswer, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.waiting[id] = answer
	s.mu.Unlock()
	text, err := json.Marshal(map[string]any{"id": id, verb: body})
	if err != nil {
		return nil, err
	}
	writing, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := s.conn.Write(writing, websocket.MessageText, text); err != nil {
		s.fail(&brokenError{err})
		return nil, s.err
	}
	select {
	case got := <-answer:
		if got.err != nil || got.outcomes == nil {
			return nil, got.err
		}
		return got.outcomes.Items, nil
	case <-s.closed:
		return nil, s.err
	case <-writing.Done():
		s.fail(&brokenError{writing.Err()})
		return nil, s.err
	}
}

func (s *Socket) read(ctx context.Context) {
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			s.fail(&brokenError{err})
			return
		}
		var f socketFrame
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&f); err != nil {
			s.fail(&brokenError{fmt.Errorf("a frame is not what the socket promises: %w", err)})
			return
		}
		s.take(&f)
	}
}

// take hands one frame to whom it is for.
func (s *Socket) take(f *socketFrame) {
	if f.Deliveries != nil {
		s.mu.Lock()
		s.pushed = append(s.pushed, f.Deliveries)
		s.mu.Unlock()
		select {
		case s.arrived <- struct{}{}:
		default:
		}
		return
	}
	answer := socketAnswer{outcomes: f.Outcomes}
	if f.Problem != nil {
		answer.err = refusalFrom(f.Problem)
	}
	s.mu.Lock()
	waiting := s.waiting[f.ID]
	delete(s.waiting, f.ID)
	s.mu.Unlock()
	switch {
	case waiting != nil:
		waiting <- answer
	case answer.err != nil: // about the socket as a whole, or about following
		s.fail(answer.err)
	}
}

// fail closes the socket once, with the first reason.
func (s *Socket) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	close(s.closed)
	s.stop()
	go func() { _ = s.conn.CloseNow() }()
}
