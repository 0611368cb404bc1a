package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// session is one client connection and its server connection. One goroutine carries each direction. The protocol is
// strictly question and answer, so whatever comes from the server after a command belongs to that command.
type session struct {
	proxy          *Proxy
	number         int
	client, server net.Conn
	done           chan struct{}
	once           sync.Once
	frozen         atomic.Bool // nothing passes any more, in either direction
	serverGone     atomic.Bool // of a frozen session: its server side is closed, only the client's is kept
	gentle         atomic.Bool // close the server's side with FIN: a reset could destroy a statement on its way

	toClient sync.Mutex // the answer pump and an injected error both write
	mu       sync.Mutex
	waiting  *expectation // what the next packet of the server is the first answer to
	prepared map[uint32]string
}

// expectation is what the answer pump does with the first packet of an answer.
type expectation struct {
	prepares string  // text of COM_STMT_PREPARE
	active   *Active // rule that acts at Answered
	silence  bool    // nothing of this answer may reach the client
	inject   chan struct{}
}

// errEnded ends a pump without a further reason.
var errEnded = errors.New("connection ended by the proxy")

func newSession(p *Proxy, client, server net.Conn) *session {
	return &session{proxy: p, client: client, server: server, done: make(chan struct{}), prepared: map[uint32]string{}}
}

func (s *session) run() {
	var group sync.WaitGroup
	group.Go(func() { s.end(s.client, s.pumpCommands()) })
	group.Go(func() { s.end(s.server, s.pumpAnswers()) })
	group.Wait()
}

// end follows the end of one direction: it ends the other, unless the connection is frozen, whose point is that
// neither side learns of the other's end.
func (s *session) end(from net.Conn, _ error) {
	if !s.frozen.Load() {
		s.sever()
		return
	}
	_, _ = io.Copy(io.Discard, from)
	if from == s.client && s.serverGone.Load() {
		s.sever()
	}
	<-s.done
}

func (s *session) sever() {
	s.once.Do(func() {
		close(s.done)
		reset(s.client)
		s.closeServer()
	})
}

func (s *session) closeServer() {
	if s.gentle.Load() {
		_ = s.server.Close()
		return
	}
	reset(s.server)
}

// sleep returns false when the session ended meanwhile.
func (s *session) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.done:
		return false
	}
}

// carry is the wire: what a packet of so many bytes costs now.
func (s *session) carry(bytes int, first bool) error {
	link := s.proxy.link.Load()
	var d time.Duration
	if first {
		d = link.Latency
	}
	if link.BytesPerSecond > 0 {
		d += time.Duration(bytes) * time.Second / time.Duration(link.BytesPerSecond)
	}
	if !s.sleep(d) || s.frozen.Load() {
		return errEnded
	}
	return nil
}

// ── client to server ─────────────────────────────────────────────────────────────────────────────────────────

func (s *session) pumpCommands() error {
	in := bufio.NewReaderSize(s.client, 32<<10)
	for {
		p, err := readPacket(in)
		if err != nil {
			return err
		}
		if err := s.carry(len(p), p.isCommand()); err != nil {
			return err
		}
		if !p.isCommand() {
			err = s.send(p)
		} else {
			err = s.command(p)
		}
		if err != nil {
			return err
		}
	}
}

// command forwards one command under the rule that applies to it.
func (s *session) command(p packet) error {
	text, kind := s.text(p), p.payload()[0]
	if text == "" || kind == comStmtPrepare {
		return s.forward(p, expectation{prepares: text})
	}
	active := s.proxy.record(Statement{Connection: s.number, Text: text, At: time.Now()})
	if active == nil {
		return s.forward(p, expectation{})
	}
	switch rule := active.rule; {
	case rule.When == Before && rule.Do == Wait:
		if !s.sleep(rule.Delay) {
			return errEnded
		}
		return s.forward(p, expectation{})
	case rule.When == Before && rule.Do == Fail:
		return s.refuse(rule)
	case rule.When == Before:
		return s.breakOff(rule.Do)
	case rule.When == Sent && rule.Do != Wait && rule.Do != Fail:
		s.gentle.Store(true)
		if err := s.forward(p, expectation{silence: true}); err != nil {
			return err
		}
		return s.breakOff(rule.Do)
	default:
		return s.forward(p, expectation{active: active})
	}
}

// text is the statement of a command, "" when it has none.
func (s *session) text(p packet) string {
	payload := p.payload()
	switch payload[0] {
	case comQuery, comStmtPrepare:
		return string(payload[1:])
	case comStmtExecute:
		if len(payload) < 5 {
			return ""
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.prepared[binary.LittleEndian.Uint32(payload[1:])]
	}
	return ""
}

func (s *session) forward(p packet, e expectation) error {
	switch p.payload()[0] {
	case comQuit, comStmtLongData, comStmtClose: // not answered
	default:
		s.expect(&e)
	}
	return s.send(p)
}

func (s *session) send(p packet) error {
	if s.proxy.link.Load().DropToServer {
		return nil
	}
	_, err := s.server.Write(p)
	return err
}

func (s *session) expect(e *expectation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = e
}

// refuse answers with the rule's error; with Rollback the server's transaction is ended first.
func (s *session) refuse(rule Rule) error {
	if rule.Rollback {
		e := expectation{inject: make(chan struct{})}
		s.expect(&e)
		if _, err := s.server.Write(newPacket(0, append([]byte{comQuery}, "ROLLBACK"...))); err != nil {
			return err
		}
		select {
		case <-e.inject:
		case <-s.done:
			return errEnded
		}
	}
	return s.tell(errorPacket(rule.Code, fmt.Sprintf("injected error %d", rule.Code)))
}

func (s *session) tell(p packet) error {
	s.toClient.Lock()
	defer s.toClient.Unlock()
	_, err := s.client.Write(p)
	return err
}

// breakOff is Cut, HalfOpen or Freeze; it always ends the pump that calls it.
func (s *session) breakOff(do Action) error {
	switch do {
	case HalfOpen:
		s.frozen.Store(true)
		s.serverGone.Store(true)
		s.closeServer()
	case Freeze:
		s.frozen.Store(true)
	default:
		s.sever()
	}
	return errEnded
}

// ── server to client ─────────────────────────────────────────────────────────────────────────────────────────

func (s *session) pumpAnswers() error {
	in, out := bufio.NewReaderSize(s.server, 32<<10), bufio.NewWriterSize(s.client, 32<<10)
	for greeting := true; ; greeting = false {
		p, err := readPacket(in)
		if err != nil {
			return err
		}
		if greeting {
			plainGreeting(p)
		}
		e := s.expected()
		if err := s.carry(len(p), e != nil); err != nil {
			return err
		}
		if e != nil {
			pass, err := s.answer(p, e)
			if err != nil {
				return err
			}
			if !pass {
				continue
			}
		}
		if err := s.deliver(out, p, in.Buffered() == 0); err != nil {
			return err
		}
	}
}

func (s *session) expected() *expectation {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.waiting
	s.waiting = nil
	return e
}

// answer handles the first packet of an answer; pass says whether it goes on to the client.
func (s *session) answer(p packet, e *expectation) (pass bool, err error) {
	if e.inject != nil {
		close(e.inject)
		return false, nil
	}
	if id, ok := preparedID(p); ok && e.prepares != "" {
		s.mu.Lock()
		s.prepared[id] = e.prepares
		s.mu.Unlock()
	}
	if e.silence {
		return false, s.breakOff(Freeze)
	}
	if e.active == nil {
		return true, nil
	}
	switch rule := e.active.rule; rule.Do {
	case Wait:
		if !s.sleep(rule.Delay) {
			return false, errEnded
		}
		return true, nil
	case Fail:
		if first := p.payload()[0]; first != answerOK && first != answerErr {
			e.active.fired.Add(-1) // rows follow: only an answer of one packet can be replaced
			return true, nil
		}
		return false, s.tell(errorPacket(rule.Code, fmt.Sprintf("injected error %d", rule.Code)))
	default:
		return false, s.breakOff(rule.Do)
	}
}

func (s *session) deliver(out *bufio.Writer, p packet, flush bool) error {
	if s.proxy.link.Load().DropToClient {
		return nil
	}
	s.toClient.Lock()
	defer s.toClient.Unlock()
	if _, err := out.Write(p); err != nil {
		return err
	}
	if flush {
		return out.Flush()
	}
	return nil
}
