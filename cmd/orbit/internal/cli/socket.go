package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// socketDial bounds a handshake: a proxy that swallows it must not look like a quiet subscription.
const socketDial = 10 * time.Second

// Socket is a connection on which a node sends frames. They are read beside the command, so that it can still say
// goodbye after it was interrupted.
type Socket struct {
	Frames <-chan json.RawMessage // closed when the connection is; Err says why
	Err    func() error

	conn *websocket.Conn
	url  string
}

// Dial opens a socket where build would send a request. Errors: *Refusal, *Unreachable.
func (on *Session) Dial(ctx context.Context, build func(server string) (*http.Request, error)) (*Socket, error) {
	request, err := build(on.url)
	if err == nil {
		err = on.sign(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	dialing, cancel := context.WithTimeout(ctx, socketDial)
	defer cancel()
	conn, response, err := websocket.Dial(dialing, request.URL.String(), &websocket.DialOptions{HTTPClient: on.doer, HTTPHeader: request.Header}) //nolint:bodyclose // Dial keeps what there is of it
	switch {
	case err != nil && response == nil:
		return nil, on.noAnswer(ctx, err)
	case err != nil:
		body, _ := io.ReadAll(response.Body) // as much as was kept
		return nil, refusal(response.StatusCode, response.Header, body)
	}
	conn.SetReadLimit(answerBytesMax)
	frames := make(chan json.RawMessage)
	var ended error
	go func() {
		defer close(frames)
		for {
			_, text, err := conn.Read(context.Background()) // until Close
			if err != nil {
				ended = &Unreachable{on.url, err}
				return
			}
			frames <- text
		}
	}()
	return &Socket{Frames: frames, Err: func() error { return ended }, conn: conn, url: on.url}, nil
}

// Send writes one frame. Errors: *Unreachable.
func (s *Socket) Send(ctx context.Context, frame []byte) error {
	if err := s.conn.Write(ctx, websocket.MessageText, frame); err != nil {
		return &Unreachable{s.url, err}
	}
	return nil
}

// Close ends the connection and lets the reader go.
func (s *Socket) Close() {
	_ = s.conn.CloseNow() // the peer may be gone
	for range s.Frames {  // what was read and is not wanted
	}
}
