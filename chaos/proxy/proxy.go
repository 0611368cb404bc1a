package proxy

import (
	"errors"
	"net"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// Statement is one command with a text that a client sent.
type Statement struct {
	Connection int // of the proxy, from 1
	Text       string
	At         time.Time
}

// Link is the state of the wire, for all connections. The zero Link is a good wire.
type Link struct {
	Latency        time.Duration // added to every statement and to every answer
	BytesPerSecond int           // of one connection, each way; 0 is unlimited
	DropToServer   bool          // one-way cut: what clients send is lost
	DropToClient   bool          // one-way cut: what the server answers is lost
	Refuse         bool          // new connections are closed at once
}

// Proxy forwards connections to one server.
type Proxy struct {
	upstream string
	listener net.Listener
	group    sync.WaitGroup
	link     atomic.Pointer[Link]

	mu         sync.Mutex
	closed     bool
	accepted   int
	sessions   map[*session]struct{}
	rules      []*Active
	statements []Statement
	observers  []func(Statement)
}

// statementsMax bounds the memory of the statement log; the oldest half goes first.
const statementsMax = 200_000

// New starts a proxy on a free loopback port in front of upstream (host:port).
func New(upstream string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{upstream: upstream, listener: listener, sessions: map[*session]struct{}{}}
	p.link.Store(&Link{})
	p.group.Go(p.accept)
	return p, nil
}

// Addr is the host:port clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy and all its connections, and waits for them.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.CutAll()
	p.group.Wait()
	return err
}

// SetRule replaces all rules by this one.
func (p *Proxy) SetRule(rule Rule) *Active {
	p.ClearRules()
	return p.AddRule(rule)
}

// AddRule puts one more rule in force. Of several that match a statement the first added acts.
func (p *Proxy) AddRule(rule Rule) *Active {
	active := &Active{rule: rule}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, active)
	return active
}

// ClearRules lets every statement pass again.
func (p *Proxy) ClearRules() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

// SetLink changes the wire, also under open connections.
func (p *Proxy) SetLink(link Link) { p.link.Store(&link) }

// CutAll resets all connections.
func (p *Proxy) CutAll() {
	for _, s := range p.open() {
		s.sever()
	}
}

// FreezeAll makes all open connections silent on both sides, for good: a cable pulled out. New ones still work.
func (p *Proxy) FreezeAll() {
	for _, s := range p.open() {
		s.frozen.Store(true)
	}
}

// Connections is how many are open now.
func (p *Proxy) Connections() int { return len(p.open()) }

// Observe calls f with every statement before it is forwarded, on the connection's goroutine: f may block it.
func (p *Proxy) Observe(f func(Statement)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observers = append(p.observers, f)
}

// Statements is the log since the last ResetCounters, oldest first.
func (p *Proxy) Statements() []Statement {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Statement(nil), p.statements...)
}

// Count is how many statements of the log match; nil counts all.
func (p *Proxy) Count(match *regexp.Regexp) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if match == nil {
		return len(p.statements)
	}
	n := 0
	for _, s := range p.statements {
		if match.MatchString(s.Text) {
			n++
		}
	}
	return n
}

// ResetCounters empties the statement log.
func (p *Proxy) ResetCounters() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statements = nil
}

func (p *Proxy) open() []*session {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*session, 0, len(p.sessions))
	for s := range p.sessions {
		all = append(all, s)
	}
	return all
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // out of file descriptors: try again
			continue
		}
		if p.link.Load().Refuse {
			reset(client)
			continue
		}
		p.group.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.upstream, 10*time.Second)
	if err != nil {
		reset(client)
		return
	}
	s := newSession(p, client, server)
	if !p.register(s) {
		s.sever()
		return
	}
	s.run()
	p.mu.Lock()
	delete(p.sessions, s)
	p.mu.Unlock()
}

func (p *Proxy) register(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.accepted++
	s.number = p.accepted
	p.sessions[s] = struct{}{}
	return true
}

// record logs a statement and returns the rule that acts on it, or nil.
func (p *Proxy) record(s Statement) *Active {
	p.mu.Lock()
	if len(p.statements) == statementsMax {
		p.statements = append([]Statement(nil), p.statements[statementsMax/2:]...)
	}
	p.statements = append(p.statements, s)
	observers, rules := p.observers, p.rules
	p.mu.Unlock()
	for _, f := range observers {
		f(s)
	}
	for _, active := range rules {
		if active.take(s.Text) {
			return active
		}
	}
	return nil
}

// reset closes with RST: a peer that vanished, not one that said goodbye.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
