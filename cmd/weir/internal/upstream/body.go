package upstream

import (
	"io"
	"net/http"
	"sync/atomic"
)

// untilClosed wraps the body of a response, which is in flight until it is closed.
func (a *address) untilClosed(b io.ReadCloser) io.ReadCloser {
	if b == http.NoBody {
		a.done()
		return b
	}
	if conn, ok := b.(io.ReadWriteCloser); ok { // an upgraded connection
		return &upgraded{body: body{ReadCloser: b, address: a}, Writer: conn}
	}
	return &body{ReadCloser: b, address: a}
}

type body struct {
	io.ReadCloser
	address *address
	closed  atomic.Bool
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	if b.closed.CompareAndSwap(false, true) {
		b.address.done()
	}
	return err
}

type upgraded struct {
	body
	io.Writer
}

// CloseWrite closes the writing half of the connection. httputil.ReverseProxy calls it when
// the client closes its half.
func (u *upgraded) CloseWrite() error {
	if half, ok := u.Writer.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return http.ErrNotSupported
}
