package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/gen/client"
)

// batch is some results, decoded and as the server wrote them.
type batch struct {
	items []client.Delivery
	raw   []json.RawMessage
}

func readBatch(body []byte) (b batch, err error) {
	var raw struct {
		Items []json.RawMessage `json:"items"`
	}
	got, err := cli.Decode[client.Pulled](cli.Answer{Body: body})
	if err == nil {
		err = json.Unmarshal(body, &raw)
	}
	return batch{got.Items, raw.Items}, err
}

// feed is where a watcher gets results from.
type feed interface {
	next(ctx context.Context, most int64) (batch, error) // none after a while without any
	ack(ctx context.Context, handles []string) error
	leave() // gives back what came and was not acknowledged
}

func feedOf(on *cli.Session, name, transport string, f *pullFlags) (feed, error) {
	pull := &pullFeed{on, name, f}
	push := &pushFeed{pullFeed: pull}
	switch transport {
	case "auto":
		return &eitherFeed{pull, push, false}, nil
	case "websocket":
		return push, nil
	case "http":
		return pull, nil
	}
	return nil, cli.Usage("--transport %q: use auto, websocket or http", transport)
}

type pullFeed struct {
	on   *cli.Session
	name string
	f    *pullFlags
}

func (p *pullFeed) next(ctx context.Context, most int64) (batch, error) {
	ask := *p.f
	ask.most = min(ask.most, most)
	_, answer, err := pullOnce(ctx, p.on, p.name, &ask)
	if err != nil {
		return batch{}, err
	}
	return readBatch(answer.Body)
}

func (p *pullFeed) ack(ctx context.Context, handles []string) error {
	_, err := ackHandles(ctx, p.on, p.name, handles)
	return err
}

func (p *pullFeed) leave() {}

// pushFeed takes what a socket pushes; a socket that breaks is replaced.
type pushFeed struct {
	*pullFeed
	socket *cli.Socket
	last   int64 // id of the last request
	held   batch // came and was not handed on
	given  []string
}

// pushed is what a node may send.
type pushed struct {
	ID         int64           `json:"id"`
	Deliveries json.RawMessage `json:"deliveries"`
	Stopped    json.RawMessage `json:"stopped"`
	Problem    json.RawMessage `json:"problem"`
}

func (p *pushFeed) open(ctx context.Context) error {
	socket, err := p.on.Dial(ctx, func(server string) (*http.Request, error) {
		return client.NewOpenSubscriptionSocketRequest(server, p.name)
	})
	if err != nil {
		return err
	}
	p.socket, p.held, p.given = socket, batch{}, nil
	follow, err := new(cli.Body).Text("consumer", p.f.named()).Int("credit", p.f.most).Bytes()
	if err != nil {
		return err
	}
	return p.send(ctx, "follow", follow)
}

func (p *pushFeed) send(ctx context.Context, verb string, body []byte) error {
	p.last++
	return p.socket.Send(ctx, fmt.Appendf(nil, `{"id":%d,%q:%s}`, p.last, verb, body))
}

// take waits for one frame and keeps deliveries. Errors: the node's refusal, or the end of the socket.
func (p *pushFeed) take(ctx context.Context, wait time.Duration) (f pushed, err error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return f, ctx.Err()
	case <-timer.C:
		return f, nil
	case text, open := <-p.socket.Frames:
		if !open {
			return f, p.socket.Err()
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return f, err
		}
	}
	if f.Problem != nil {
		return f, cli.ItemRefusal(f.Problem)
	}
	if f.Deliveries == nil {
		return f, nil
	}
	some, err := readBatch(f.Deliveries)
	p.held.items, p.held.raw = append(p.held.items, some.items...), append(p.held.raw, some.raw...)
	return f, err
}

func (p *pushFeed) next(ctx context.Context, most int64) (batch, error) {
	if p.socket == nil {
		if err := p.open(ctx); err != nil {
			p.drop()
			return batch{}, err
		}
	}
	if len(p.held.items) == 0 {
		_, err := p.take(ctx, p.f.wait)
		if ctx.Err() != nil {
			return batch{}, ctx.Err()
		}
		if err != nil {
			p.drop() // what was pushed is handed to the next socket of this consumer at once
			if cli.Passing(err) {
				return batch{}, cli.Sleep(ctx, cli.Backoff(0, err))
			}
			return batch{}, err
		}
	}
	n := min(int(most), len(p.held.items))
	out := batch{p.held.items[:n], p.held.raw[:n]}
	p.held = batch{p.held.items[n:], p.held.raw[n:]}
	for i := range out.items {
		p.given = append(p.given, handleOf(out.items[i]))
	}
	return out, nil
}

// ack acknowledges on the socket; one that is gone meanwhile leaves it to HTTP, where it is repeated.
func (p *pushFeed) ack(ctx context.Context, handles []string) error {
	p.given = nil
	if p.socket == nil {
		return p.pullFeed.ack(ctx, handles)
	}
	body, err := itemsOf(handles, func(*cli.Body) {})
	if err != nil {
		return err
	}
	if err = p.send(ctx, "acks", body); err == nil {
		err = p.until(ctx, p.last)
	}
	if err != nil && cli.Passing(err) {
		p.drop()
		return p.pullFeed.ack(ctx, handles)
	}
	return err
}

// until waits for the answer to a request.
func (p *pushFeed) until(ctx context.Context, id int64) error {
	for limit := time.Now().Add(30 * time.Second); ; {
		f, err := p.take(ctx, time.Until(limit))
		if err != nil || f.ID == id {
			return err
		}
		if time.Now().After(limit) {
			return &cli.Unreachable{URL: p.name, Cause: context.DeadlineExceeded}
		}
	}
}

func (p *pushFeed) drop() {
	if p.socket != nil {
		p.socket.Close()
	}
	p.socket, p.held, p.given = nil, batch{}, nil
}

// leave stops the pushing and gives back the rest unbegun, so that the next consumer has it at once. It is best effort:
// what it cannot give back comes again when its time is over.
func (p *pushFeed) leave() {
	if p.socket == nil {
		return
	}
	defer p.drop()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if p.send(ctx, "stop", []byte("{}")) != nil || p.until(ctx, p.last) != nil {
		return
	}
	rest := p.given
	for i := range p.held.items {
		rest = append(rest, handleOf(p.held.items[i]))
	}
	if len(rest) == 0 {
		return
	}
	body, err := itemsOf(rest, func(b *cli.Body) { b.Flag("returned", true) })
	if err == nil && p.send(ctx, "nacks", body) == nil {
		_ = p.until(ctx, p.last)
	}
}

// eitherFeed prefers the socket; where none can be had, HTTP says why or works.
type eitherFeed struct {
	*pullFeed
	push *pushFeed
	http bool
}

func (e *eitherFeed) next(ctx context.Context, most int64) (batch, error) {
	if !e.http {
		opened := e.push.socket != nil
		b, err := e.push.next(ctx, most)
		if err == nil || opened || ctx.Err() != nil {
			return b, err
		}
		e.http = true
	}
	return e.pullFeed.next(ctx, most)
}

func (e *eitherFeed) ack(ctx context.Context, handles []string) error {
	if e.http {
		return e.pullFeed.ack(ctx, handles)
	}
	return e.push.ack(ctx, handles)
}

func (e *eitherFeed) leave() { e.push.leave() }

// ackHandles acknowledges over HTTP.
func ackHandles(ctx context.Context, on *cli.Session, name string, handles []string) (cli.Answer, error) {
	body, err := itemsOf(handles, func(*cli.Body) {})
	if err != nil {
		return cli.Answer{}, err
	}
	return on.Again(ctx, func(ctx context.Context) (*http.Response, error) {
		return on.API.AckDeliveriesWithBody(ctx, name, jsonType, bytes.NewReader(body))
	})
}
