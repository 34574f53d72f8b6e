package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/certs"
	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// These bounds limit the effects of an upstream on the proxy.
const (
	maxHeader = 1 << 20          // bytes of a response's headers: a tenth of net/http's own bound, and 16 times the default bound for clients
	keepAlive = 15 * time.Second // without an HTTP/2 frame until a ping, and after it until the connection is closed; the latter is net/http's default
	expect    = time.Second      // for a server to ask for an announced body, as in http.DefaultTransport
)

// readBuffer is the size of a connection's read buffer. A chunked answer of 1 MB takes 0.93
// to 0.98 of the processor time of net/http's 4 KB, for server and client together.
const readBuffer = 16 << 10

// connections are the connections to an address, with the settings of new connections.
type connections struct {
	transport http.RoundTripper
	alone     http.RoundTripper // each request has a connection of its own
	settings  config.Upstream
	pools     atomic.Int64 // pools that use them
	running   atomic.Int64 // requests on them
	closing   sync.RWMutex // no request begins while unused connections are closed
}

// suit reports whether a reload to other settings keeps the connections.
func (c *connections) suit(s config.Upstream) bool {
	was := c.settings
	return s.Protocol == was.Protocol && s.TLS == was.TLS && s.ConnectTimeout == was.ConnectTimeout &&
		s.IdleTimeout == was.IdleTimeout && s.MaxIdleConnections == was.MaxIdleConnections
}

// newConnections opens no connection yet. It reads the TLS files, and fails if a file is unusable.
func newConnections(a *address, s config.Upstream, log *slog.Logger) (*connections, error) {
	d := &dialer{net: net.Dialer{Timeout: time.Duration(s.ConnectTimeout)}, http2: isHTTP2(s), socket: a.socket}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!d.http2)
	protocols.SetHTTP2(d.http2 && a.scheme == "https")
	protocols.SetUnencryptedHTTP2(d.http2 && a.scheme == "http")
	t := &http.Transport{
		DialContext:            d.dial,
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: keepAlive, PingTimeout: keepAlive},
		DisableCompression:     true, // the client decides about compression
		MaxIdleConnsPerHost:    s.MaxIdleConnections,
		IdleConnTimeout:        time.Duration(s.IdleTimeout),
		ExpectContinueTimeout:  expect,
		MaxResponseHeaderBytes: maxHeader,
		ReadBufferSize:         readBuffer,
	}
	if a.scheme == "https" {
		files, err := newClientFiles(s.TLS, log)
		if err != nil {
			return nil, err
		}
		d.files = files
		t.DialTLSContext = d.dialTLS
	}
	alone := t.Clone()
	alone.DisableKeepAlives = true
	return &connections{transport: t, alone: alone, settings: s}, nil
}

// transportFor returns the transport for a request. By HTTP/2, a request with trailers is alone: if
// a server in Go answers before it has read the body, then the trailers are an error of the whole
// connection for it, and a client could break off the requests of others.
func (c *connections) transportFor(req *http.Request) http.RoundTripper {
	if len(req.Trailer) > 0 && isHTTP2(c.settings) {
		return c.alone
	}
	return c.transport
}

// release ends the use of the connections by a pool.
func (c *connections) release() {
	c.pools.Add(-1)
	c.closeUnused()
}

// begin counts a request before it is sent. It waits while unused connections are closed.
func (c *connections) begin() {
	c.closing.RLock()
	defer c.closing.RUnlock()
	c.running.Add(1)
}

// end is called after a request has released its connection.
func (c *connections) end() {
	if c.running.Add(-1) == 0 {
		c.closeUnused()
	}
}

// closeUnused closes the connections if no pool uses them and no request runs. During a request,
// net/http could close the connection of a response that has just arrived. A request may still
// begin if its table is older than a reload.
func (c *connections) closeUnused() {
	if c.pools.Load() > 0 {
		return
	}
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.running.Load() > 0 {
		return
	}
	if t, ok := c.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

var errNoHTTP2 = errors.New("the server did not choose it: want protocol http1 for a server that does not speak HTTP/2")

// A dialError means that there is no connection, so no byte of a request was sent.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// A dialer opens connections. It does the TLS handshake itself, to distinguish handshake
// errors from request errors, and to read changed files again.
type dialer struct {
	net    net.Dialer
	http2  bool
	socket string
	files  *certs.Files
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.socket != "" {
		network, address = "unix", d.socket
	}
	socket, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, &dialError{err}
	}
	if d.http2 {
		return socket, nil
	}
	return newConn(socket), nil
}

func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.net.Timeout)
	defer cancel()
	plain, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(plain, d.tlsConfig(address))
	if err = conn.HandshakeContext(ctx); err == nil && d.http2 && conn.ConnectionState().NegotiatedProtocol == "" {
		err = errNoHTTP2
	}
	if err != nil {
		plain.Close()
		return nil, &dialError{fmt.Errorf("TLS handshake for %s: %w", d.protocols()[0], err)}
	}
	return conn, nil
}

func (d *dialer) tlsConfig(address string) *tls.Config {
	c := d.files.Latest().Clone()
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(address)
	}
	c.NextProtos = d.protocols()
	return c
}

// protocols returns the protocols for ALPN.
func (d *dialer) protocols() []string {
	if d.http2 {
		return []string{"h2"}
	}
	return []string{"http/1.1"}
}

// newClientFiles reads the proxy's certificate and the authorities for an upstream. Each handshake
// checks the files for changes: handshakes are few, because connections are kept.
func newClientFiles(c config.ClientTLS, log *slog.Logger) (*certs.Files, error) {
	return certs.Open(func() (*tls.Config, error) { return readClientFiles(c) }, 0, log, c.CA, c.Certificate, c.Key)
}

func readClientFiles(c config.ClientTLS) (settings *tls.Config, err error) {
	settings = &tls.Config{ServerName: c.ServerName}
	if c.CA != "" {
		if settings.RootCAs, err = certs.Authorities("tls.ca", c.CA); err != nil {
			return nil, err
		}
	}
	if c.Certificate != "" || c.Key != "" {
		settings.Certificates, err = certs.Pair(c.Certificate, c.Key)
	}
	return settings, err
}
