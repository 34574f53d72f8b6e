package weirhttp

import (
	"errors"
	"io"
	"net"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/slot"
)

// A conn is a connection that was taken over. It gives the slot back when it is closed.
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

// CloseWrite says that no more is sent while reading goes on, as proxies of WebSockets do. The
// connections of TCP and TLS can.
func (c conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
