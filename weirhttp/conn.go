package weirhttp

import (
	"errors"
	"io"
	"net"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/slot"
)

// A conn is a connection that a handler took over. It gives the slot back when it is closed.
type conn struct {
	net.Conn
	slot *slot.Slot
}

func (c conn) Close() error {
	c.slot.Close(weir.Ignore)
	return c.Conn.Close()
}

// NetConn returns the connection as the server had it. It corresponds to the NetConn of
// [crypto/tls.Conn].
func (c conn) NetConn() net.Conn { return c.Conn }

// ReadFrom and WriteTo let the kernel copy, where it can.
func (c conn) ReadFrom(src io.Reader) (int64, error) { return io.Copy(c.Conn, src) }
func (c conn) WriteTo(dst io.Writer) (int64, error)  { return io.Copy(dst, c.Conn) }

// CloseWrite ends the sending side of the connection, while the receiving side goes on, as proxies
// of WebSockets do. Connections of TCP and TLS can do that. For others it returns
// [errors.ErrUnsupported].
func (c conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
