package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

// Result is one result, as the server delivered it.
type Result = orbit.Delivery

// Handler works on one result. nil acknowledges it; an error refuses it, and it comes again after a growing delay until
// the subscription's generations are used up.
type Handler func(context.Context, Result) error

// Options of a consumer. Zero fields get the defaults named.
type Options struct {
	Name        string        // of this process, no other may use it; default host/pid and a random text
	Prefetch    int           // results in hand at the same time; 1 to 64, default 16
	PollWait    time.Duration // how long an idle pull waits; default 20 s, at most 30 s
	BackoffMin  time.Duration // delay of the first refusal of a result; default 1 s; doubled with every generation
	BackoffMax  time.Duration // default 5 min
	StopTimeout time.Duration // how long the running handler may go on after Run's context has ended; default 10 s
	Transport   Transport     // default Auto: a WebSocket, and HTTP where none can be had
	Logger      *slog.Logger  // default: the client's
}

// Consumer is one consumer of one subscription.
type Consumer struct {
	via          carrier
	acks         acker
	subscription string
	handler      Handler
	o            Options
	chain        chain
	hand         []orbit.Delivery // pulled and not begun, in order
	tries        int
}

// New makes a consumer; Run starts it.
func New(client *orbit.Client, subscription string, handler Handler, o Options) (*Consumer, error) {
	if client == nil || handler == nil || subscription == "" {
		return nil, errors.New("stream: a client, a subscription and a handler are needed")
	}
	if o.Name == "" {
		host, _ := os.Hostname() // for people only
		o.Name = fmt.Sprintf("%s/%d/%s", host, os.Getpid(), orbit.NewKey())
	}
	o.Prefetch = or(o.Prefetch, 16)
	o.PollWait, o.BackoffMin, o.BackoffMax = or(o.PollWait, 20*time.Second), or(o.BackoffMin, time.Second), or(o.BackoffMax, 5*time.Minute)
	o.StopTimeout = or(o.StopTimeout, 10*time.Second)
	if o.Prefetch < 1 || o.Prefetch > 64 || o.PollWait > 30*time.Second {
		return nil, errors.New("stream: Prefetch is 1 to 64, PollWait at most 30 s")
	}
	if o.Logger == nil {
		o.Logger = client.Logger()
	}
	switch o.Transport {
	case Auto, Socket, HTTP:
	default:
		return nil, fmt.Errorf("stream: there is no transport %q", o.Transport)
	}
	c := &Consumer{subscription: subscription, handler: handler, o: o}
	c.via = carrierOf(client, subscription, &c.o)
	c.acks.via = c.via
	return c, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Run consumes until ctx ends, which is no error: the running handler may finish and is acknowledged, the rest goes back
// at once. Errors: ErrGap, or a refusal of the server that repeating does not change.
func (c *Consumer) Run(ctx context.Context) error {
	defer c.giveBack()
	for ctx.Err() == nil {
		err := c.round(ctx)
		switch {
		case err == nil:
			c.tries = 0
		case ctx.Err() != nil:
			return nil
		case !orbit.Repeatable(err) && !unanswered(err):
			return err
		default:
			c.o.Logger.Warn("stream: asking again", "subscription", c.subscription, "error", err)
			c.drop() // whatever is in hand is asked for again by its number
			pause(ctx, min(100*time.Millisecond<<min(c.tries, 6), 5*time.Second))
			c.tries++
		}
	}
	return nil
}

func unanswered(err error) bool {
	_, open := errors.AsType[*orbit.UnknownError](err)
	return open
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// round pulls when nothing is in hand, and works on the next result.
func (c *Consumer) round(ctx context.Context) error {
	if len(c.hand) == 0 && !c.via.pushes() {
		c.acks.flush(ctx) // what is asked for next depends on what is acknowledged
	}
	if late, err := c.acks.trouble(); err != nil || late {
		if late {
			c.o.Logger.Warn("stream: an acknowledgement came too late, the result comes again", "subscription", c.subscription)
			c.drop()
		}
		return err
	}
	if len(c.hand) == 0 {
		got, err := c.via.pull(ctx)
		if err != nil || got == nil {
			return err
		}
		c.hand = got.Items
		return c.chain.check(got)
	}
	return c.work(ctx, c.hand[0])
}

func (c *Consumer) work(ctx context.Context, d orbit.Delivery) error {
	running, cancel := stopping(ctx, c.o.StopTimeout)
	defer cancel()
	failed := c.handler(running, d)
	if failed != nil && ctx.Err() != nil {
		return c.returnHand(running) // stopped on request: not the result's fault
	}
	if failed != nil {
		return c.refuse(running, d, failed)
	}
	c.hand = c.hand[1:]
	c.acks.add(running, d)
	return nil
}

// refuse gives back what is in hand behind the refused result first, so that order holds when it comes again.
func (c *Consumer) refuse(ctx context.Context, d orbit.Delivery, failed error) error {
	delay := min(c.o.BackoffMin<<min(d.Generation-1, 20), c.o.BackoffMax)
	c.o.Logger.Warn("stream: the handler refused a result", "subscription", c.subscription, "seq", d.Seq, "generation", d.Generation, "delay", delay, "error", failed)
	nacks := []orbit.Nack{{Delivery: d, Delay: delay, Reason: brief(failed.Error(), 255)}}
	for _, later := range c.hand[1:] {
		nacks = append(nacks, orbit.Nack{Delivery: later, Returned: true})
	}
	c.acks.flush(ctx)
	_, err := c.via.nack(ctx, nacks)
	c.drop()
	return err
}

// returnHand gives everything back unbegun; it costs no generation.
func (c *Consumer) returnHand(ctx context.Context) error {
	var nacks []orbit.Nack
	for _, d := range append(c.hand, c.via.stop(ctx)...) {
		nacks = append(nacks, orbit.Nack{Delivery: d, Returned: true})
	}
	c.acks.flush(ctx)
	if len(nacks) == 0 {
		return nil
	}
	_, err := c.via.nack(ctx, nacks)
	c.drop()
	return err
}

// drop forgets what is in hand: it is asked for again, after what was handled is acknowledged.
func (c *Consumer) drop() {
	c.hand = nil
	ctx, cancel := context.WithTimeout(context.Background(), dropWait)
	defer cancel()
	c.acks.flush(ctx)
	c.via.reset()
}

// dropWait bounds the wait for acknowledgements; after it a handled result may come a second time.
const dropWait = 5 * time.Second

// giveBack is the last thing a consumer does; without it the rest would come again only when its time is over.
func (c *Consumer) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	defer c.via.reset()
	if err := c.returnHand(ctx); err != nil {
		c.o.Logger.Warn("stream: results in hand could not be given back", "subscription", c.subscription, "error", err)
	}
}

// stopping is ctx with its end put off: what runs may finish.
func stopping(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return running, func() { stop(); cancel() }
}

func brief(s string, bytesMax int) string {
	for i := range s {
		if i > bytesMax-4 {
			return s[:i] + "…"
		}
	}
	return s
}
