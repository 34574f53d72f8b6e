package weirhttp

import (
	"io"
	"net"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/slot"
)

// keepSlot returns a connection that was taken over as one that gives the slot back when it is
// closed.
func keepSlot(c net.Conn, of *slot.Slot) net.Conn {
	kept := conn{c, of}
	if half, ok := c.(halfCloser); ok {
		return halfConn{kept, half}
	}
	return kept
}

type conn struct {
	net.Conn
	slot *slot.Slot
}

func (c conn) Close() error {
	c.slot.Close(weir.Ignore)
	return c.Conn.Close()
}

// NetConn returns the connection as the server had it, as that of [crypto/tls.Conn] does.
func (c conn) NetConn() net.Conn { return c.Conn }

// ReadFrom and WriteTo let the kernel copy, where it can.
func (c conn) ReadFrom(src io.Reader) (int64, error) { return io.Copy(c.Conn, src) }
func (c conn) WriteTo(dst io.Writer) (int64, error)  { return io.Copy(dst, c.Conn) }

// A halfCloser can say that it sends no more and go on to read, as proxies of WebSockets do.
type halfCloser interface{ CloseWrite() error }

type halfConn struct {
	conn
	half halfCloser
}

func (c halfConn) CloseWrite() error { return c.half.CloseWrite() }
