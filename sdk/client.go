package orbit

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// tryTimeout bounds one try of a call, so that a connection that died silently costs a repetition and not the call.
	tryTimeout = 30 * time.Second
	// retryForDefault is long enough for a restart of a node, short enough for a caller that waits.
	retryForDefault = time.Minute
	// idleConnections is more than a worker ever has in flight, so that none is opened twice.
	idleConnections = 64
)

// Client speaks to one server with one key. It is safe for concurrent use; make one and keep it.
type Client struct {
	server   string
	key      string
	http     *http.Client
	log      *slog.Logger
	retryFor time.Duration
	trace    func(*http.Request)
}

// Option changes a Client.
type Option func(*Client)

// WithHTTPClient replaces the HTTP client, for proxies, TLS or tracing. Its Timeout should be zero: the SDK bounds
// every try itself, and long polls last longer than an ordinary call.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithLogger sends the SDK's log lines to l. The default is slog.Default().
func WithLogger(l *slog.Logger) Option { return func(c *Client) { c.log = l } }

// WithRetryFor bounds how long one call is repeated; the context bounds it too. Default 1 minute, 0 never repeats.
func WithRetryFor(d time.Duration) Option { return func(c *Client) { c.retryFor = d } }

// WithRequestHook calls hook on every request before it is sent. It is where a tracing library writes its headers
// (traceparent); the SDK itself depends on none.
func WithRequestHook(hook func(*http.Request)) Option { return func(c *Client) { c.trace = hook } }

// New makes a client of the server at base, such as "https://orbit.example". key is the text of a credential
// ("orb_…"). Nothing is sent yet.
func New(base, key string, options ...Option) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("orbit: the address must be http://host or https://host, not " + base)
	}
	c := &Client{
		server: strings.TrimRight(base, "/") + "/", key: key,
		http: &http.Client{Transport: transport()}, log: slog.Default(), retryFor: retryForDefault,
	}
	for _, o := range options {
		o(c)
	}
	return c, nil
}

// Logger is what the client logs to; workers use it too.
func (c *Client) Logger() *slog.Logger { return c.log }

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
	return t
}

// NewKey is a random key, as the SDK makes it for commands without one.
func NewKey() string { return "sdk-" + rand.Text() }

func keyOr(key string) string {
	if key == "" {
		return NewKey()
	}
	return key
}
