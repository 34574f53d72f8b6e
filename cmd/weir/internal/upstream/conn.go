package upstream

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A conn is a connection to a server of HTTP/1, below TLS. A server may answer before it has read
// the whole body of a request, such as a body that is too long, and close the connection. The next
// write then fails, and net/http would drop the answer, although it has arrived. So such a write
// ends only when net/http closes the connection, which has then read the answer or found no answer,
// or after the time patience.
//
// When net/http has closed the connection, it waits for its read of the body of the request before
// it returns an error. The client may take any time for that, so Close also closes the body.
type conn struct {
	net.Conn
	state   atomic.Int32
	request atomic.Pointer[sending] // nil after its end
	failed  atomic.Pointer[error]   // the first
	closing sync.Once
	closed  chan struct{}
}

// The request on a connection passes through these states in their order.
const (
	idle     int32 = iota // or in its handshake
	begun                 // until some of the request is sent, net/http may send it on another connection
	sent                  // some of the request
	answered              // in part
)

// patience bounds the wait of a failed write: net/http reads an answer that has arrived at once.
const patience = time.Second

func newConn(socket net.Conn) *conn { return &conn{Conn: socket, closed: make(chan struct{})} }

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.state.CompareAndSwap(begun, sent)
	}
	broken := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	err = c.cause(err) // before the reader's
	if broken && c.state.Load() >= sent {
		select {
		case <-c.closed:
		case <-time.After(patience):
		}
	}
	return n, err
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.state.CompareAndSwap(sent, answered)
	}
	return n, c.cause(err)
}

// cause returns the first error of a request without an answer. The system reports that error once,
// to the reader or to the writer. The other side gets an error that says less.
func (c *conn) cause(err error) error {
	if state := c.state.Load(); err == nil || state == idle || state == answered {
		return err
	}
	c.failed.CompareAndSwap(nil, &err)
	return *c.failed.Load()
}

// CloseWrite ends one direction of an upgraded connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (c *conn) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		if s := c.request.Load(); s != nil && s.in.Body != nil {
			_ = s.in.Body.Close()
		}
	})
	return c.Conn.Close()
}

// beginOn notes the request in its connection, and the connection in the request.
func (s *sending) beginOn(connection net.Conn) {
	if secure, ok := connection.(*tls.Conn); ok {
		connection = secure.NetConn()
	}
	if c, ok := connection.(*conn); ok {
		c.request.Store(s)
		s.conn.Store(c)
		c.state.Store(begun)
	}
}

// leave ends a request on its connection, which would otherwise keep its memory while it is unused.
func (s *sending) leave() {
	if c := s.conn.Load(); c != nil {
		c.request.CompareAndSwap(s, nil)
	}
}
