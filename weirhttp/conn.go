package weirhttp

import (
	"io"
	"net"

	"github.com/weir-go/weir"
)

// keepPermit returns a connection that was taken over as one that gives the permit back when it is
// closed.
func keepPermit(c net.Conn, permit weir.Permit) net.Conn {
	kept := conn{c, permit}
	if half, ok := c.(halfCloser); ok {
		return halfConn{kept, half}
	}
	return kept
}

type conn struct {
	net.Conn
	permit weir.Permit
}

func (c conn) Close() error {
	c.permit.Release()
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
