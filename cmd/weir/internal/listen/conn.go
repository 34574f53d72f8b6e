package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a client's connection, below TLS. It counts against the caps, and is cut if the
// client stops reading.
type conn struct {
	net.Conn // the socket
	listener *Listener
	header   *header   // PROXY protocol; nil without
	secure   *tls.Conn // above; nil without TLS
	secured  func() *tls.ConnectionState
	failed   atomic.Bool // the handshake

	writing  watch
	acked    uint64        // at the last call of moved
	hijacked atomic.Bool   // may stall
	received atomic.Uint64 // bytes, including TLS and framing
	gone     atomic.Bool   // a read has failed
	resets   atomic.Int64
	closed   atomic.Bool
	unread   atomic.Int64 // HTTP/2 bodies that the proxy is not reading

	reading sync.Mutex
	awaited bool // the rest of an HTTP/1 body: each read has a deadline by the pace
	pace    pace
	began   time.Time // the beginning of the current read

	// The listener's lock guards these fields.
	address netip.Addr    // address it counts for; zero if none
	idle    *list.Element // set while it waits for a request
}

type connKey struct{}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// unwrap returns the connection below TLS; nil for a foreign connection.
func unwrap(of net.Conn) *conn {
	if c, ok := of.(*cleartext); ok {
		return c.below
	}
	return nil
}

// RemoteAddr returns the client's address. The first call waits for the PROXY header; net/http
// makes that call on the connection's own goroutine.
func (c *conn) RemoteAddr() net.Addr {
	if c.header != nil {
		if address, err := c.header.read(c); err == nil {
			return address
		}
	}
	return c.Conn.RemoteAddr()
}

func (c *conn) Read(p []byte) (n int, err error) {
	c.beginRead()
	if c.header == nil {
		n, err = c.Conn.Read(p)
	} else if _, err = c.header.read(c); err == nil {
		n, err = c.header.rest(c.Conn, p)
	}
	c.endRead(n, err)
	if n > 0 {
		c.received.Add(uint64(n))
	}
	if err != nil {
		c.gone.Store(true)
	}
	return n, err
}

// await begins to wait for the body of an HTTP/1 request.
func (c *conn) await() {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.awaited, c.pace = true, pace{}
}

// converse ends the minimum rate of the body.
func (c *conn) converse() {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.pace = pace{free: true}
}

// SetReadDeadline ends the wait for a body. net/http calls it after the end of a body, and a
// handler calls it to end the current read.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.awaited = false
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) beginRead() {
	c.reading.Lock()
	defer c.reading.Unlock()
	if !c.awaited {
		return
	}
	c.began = time.Now()
	var deadline time.Time
	if left := c.pace.left(c.listener.live.Load()); left > 0 {
		deadline = c.began.Add(left)
	}
	_ = c.Conn.SetReadDeadline(deadline)
}

// endRead records the end of a read. If the client was too slow, all later reads fail: otherwise
// the server would wait for the rest of the body before it answers.
func (c *conn) endRead(n int, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	switch {
	case !c.awaited:
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.listener.tally(&c.listener.counts.Slow)
		c.awaited = false
		_ = c.Conn.SetReadDeadline(past)
	default:
		c.pace.add(time.Since(c.began), n, c.listener.live.Load())
	}
}

func (c *conn) Write(p []byte) (int, error) {
	c.writing.begin(c.readStall(), c)
	defer c.writing.end()
	return c.Conn.Write(p)
}

// readersPatience is the time limit for reading clients, as a multiple of the limit for
// sending clients. A client's reads become visible only when its system acknowledges data, in
// large steps: Linux with its usual buffer of 128 KiB acknowledges 110 KB at a time, which
// takes a client of 1 KB/s 108 s. With a limit of 30 s for sending, the limit for reading is
// 120 s.
const readersPatience = 4

// readStall is the time after which a client counts as not reading.
func (c *conn) readStall() time.Duration {
	if c.hijacked.Load() {
		return 0
	}
	return readersPatience * time.Duration(c.listener.live.Load().BodyTimeout)
}

// isStarved reports whether the client may be unable to send, because bodies that the proxy
// is not reading fill the connection's window.
func (c *conn) isStarved() bool { return c.unread.Load() >= connectionWindow/streamWindow }

// progress is the state of a TCP connection's peer.
type progress struct {
	acked uint64 // bytes acknowledged by the peer
	owed  bool   // some written bytes are not acknowledged
}

// moved reports whether the client has acknowledged data since the last call, or has no data
// to acknowledge.
func (c *conn) moved() bool {
	now, ok := progressOf(c.Conn)
	before := c.acked
	c.acked = now.acked
	return ok && (now.acked != before || !now.owed)
}

// cut makes this and all later writes fail; net/http then closes the connection.
func (c *conn) cut() {
	c.listener.tally(&c.listener.counts.Stalled)
	_ = c.SetWriteDeadline(past)
}

// past is a deadline in the past.
var past = time.Unix(1, 0)

// CloseWrite is called by net/http to end a connection whose client may still be sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// Close closes the socket and removes the connection from the counts.
func (c *conn) Close() error {
	if !c.closed.Swap(true) {
		c.writing.close()
		c.listener.forget(c)
	}
	return c.Conn.Close()
}
