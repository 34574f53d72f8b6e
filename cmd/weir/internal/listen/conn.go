package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a client's connection, below TLS. It knows which cap it counts against, and gives up on a
// client that stopped reading.
type conn struct {
	net.Conn // the socket
	listener *Listener
	header   *header   // of the PROXY protocol; nil without
	secure   *tls.Conn // above; nil without TLS
	secured  func() *tls.ConnectionState

	writing  watch
	acked    uint64        // when writing last looked
	hijacked atomic.Bool   // it may stall
	received atomic.Uint64 // bytes, those of TLS and framing included
	gone     atomic.Bool   // the client has left
	resets   atomic.Int64
	closed   atomic.Bool
	awaited  atomic.Int64 // bodies that wait for the client at a pace
	unread   atomic.Int64 // bodies of HTTP/2 that the proxy does not read now

	reading   sync.Mutex
	deadlines int // of reads, that were set

	// Guarded by the listener's lock.
	address netip.Addr    // that it is counted for; none if zero
	idle    *list.Element // while it waits for a request
}

// connKey is the key of a request's connection.
type connKey struct{}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// unwrap returns the connection below TLS; nil if it is none of ours.
func unwrap(of net.Conn) *conn {
	if c, ok := of.(*cleartext); ok {
		return c.below
	}
	return nil
}

// RemoteAddr is the client's. The first call waits for the PROXY header; net/http makes it on the
// connection's own goroutine.
func (c *conn) RemoteAddr() net.Addr {
	if c.header != nil {
		if address, err := c.header.read(c); err == nil {
			return address
		}
	}
	return c.Conn.RemoteAddr()
}

func (c *conn) Read(p []byte) (n int, err error) {
	if c.header == nil {
		n, err = c.Conn.Read(p)
	} else if _, err = c.header.read(c); err == nil {
		n, err = c.header.rest(c.Conn, p)
	}
	if n > 0 {
		c.received.Add(uint64(n))
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.gone.Store(true)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.writing.begin(c.readStall(), c)
	defer c.writing.end()
	return c.Conn.Write(p)
}

// ReadFrom lets the kernel copy where it can, as the socket does. It may wait for its source, so it
// can only be watched where it is known what the client owes.
func (c *conn) ReadFrom(from io.Reader) (int64, error) {
	to, ok := c.Conn.(io.ReaderFrom)
	if !ok || !seesProgress(c.Conn) {
		return io.Copy(struct{ io.Writer }{c}, from)
	}
	c.writing.begin(c.readStall(), c)
	defer c.writing.end()
	return to.ReadFrom(from)
}

// A client that reads is seen to only once its system has room for more, and that comes in steps:
// Linux with its usual buffer of 128 KiB acknowledges 110 KB at a time, which a client of 1 KB/s
// needs 108 s for. So what waits for a client to read waits for four times as long as what waits
// for it to send: with 30 s that is 120 s.
const readersPatience = 4

// readStall is how long a client may seem not to read.
func (c *conn) readStall() time.Duration {
	if c.hijacked.Load() {
		return 0
	}
	return readersPatience * c.sendStall()
}

// sendStall is how long a client may not send.
func (c *conn) sendStall() time.Duration { return c.listener.live.Load().bodyTimeout }

// SetReadDeadline is also how a handler ends a read of the body that is under way.
func (c *conn) SetReadDeadline(t time.Time) error {
	_, err := c.delayRead(t)
	return err
}

// delayRead sets the deadline of reads, and returns what extendRead takes.
func (c *conn) delayRead(t time.Time) (deadline int, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.deadlines++
	return c.deadlines, c.Conn.SetReadDeadline(t)
}

// extendRead sets a later deadline, unless another was set meanwhile.
func (c *conn) extendRead(deadline int, t time.Time) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.deadlines == deadline {
		_ = c.Conn.SetReadDeadline(t)
	}
}

// isStarved reports whether the client may be unable to send, because bodies that the proxy does
// not read fill the window of its connection.
func (c *conn) isStarved() bool { return c.unread.Load() >= connectionWindow/streamWindow }

// moved reports whether the client has acknowledged something since the last call, or has nothing
// to acknowledge.
func (c *conn) moved() bool {
	now, ok := progressOf(c.Conn)
	before := c.acked
	c.acked = now.acked
	return ok && (now.acked != before || !now.owed)
}

// cut makes the writes fail, for good; net/http then closes the connection.
func (c *conn) cut() {
	c.listener.counters.stalled.Add(1)
	_ = c.SetWriteDeadline(past)
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// CloseWrite is how net/http ends a connection whose client may still be sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// Close closes the socket, and gives back what the connection counted for.
func (c *conn) Close() error {
	if !c.closed.Swap(true) {
		c.writing.close()
		c.listener.forget(c)
	}
	return c.Conn.Close()
}
