package listen

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
)

// A cleartext connection is the connection that net/http reads, above TLS if the listener has TLS.
// It replaces the end of a refused head with a bad line, so that net/http answers with 400 and
// closes the connection.
type cleartext struct {
	net.Conn // the conn below, or TLS above it
	below    *conn
	framing  framing
	refusal  []byte // the rest of the text that net/http reads after a refused head
	refused  bool
}

// badLine ends the current line, then adds a line without a colon and the end of the head.
const badLine = "not a header\r\n\r\n"

// newCleartext starts TLS unless settings is nil. The first read does the handshake.
func newCleartext(c *conn, settings *tls.Config) *cleartext {
	if settings == nil {
		return &cleartext{Conn: c, below: c}
	}
	secure := tls.Server(c, settings)
	c.secure = secure
	c.secured = sync.OnceValue(func() *tls.ConnectionState {
		state := secure.ConnectionState()
		return &state
	})
	return &cleartext{Conn: secure, below: c}
}

func (c *cleartext) Read(p []byte) (n int, err error) {
	if !c.refused {
		n, err = c.Conn.Read(p)
		if err != nil {
			c.below.failHandshake(err)
		}
		if c.below.hijacked.Load() {
			return n, err
		}
		passed := c.framing.scan(p[:n])
		if passed == n {
			return n, err
		}
		c.refused, c.refusal = true, []byte(badLine)
		n = passed
	}
	bad := copy(p[n:], c.refusal)
	c.refusal = c.refusal[bad:]
	if n += bad; n > 0 {
		return n, nil
	}
	// Earlier requests may still run. Ending the connection would end them.
	for err == nil {
		_, err = c.Conn.Read(p)
	}
	return 0, err
}

// CloseWrite is called by net/http to end a connection whose client may still be sending.
func (c *cleartext) CloseWrite() error {
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite() //nolint:forcetypeassert // both have the method
}

// failHandshake counts a handshake that failed, and reports the error to the log, and to a client
// that does not speak TLS. net/http reads again after the error, so only the first call has an
// effect.
func (c *conn) failHandshake(err error) {
	if c.secure == nil || c.secure.ConnectionState().HandshakeComplete || c.received.Load() == 0 || c.failed.Swap(true) {
		return
	}
	c.listener.tally(&c.listener.counts.Handshakes)
	c.listener.log.Info("TLS handshake failed", "client", c.RemoteAddr().String(), "error", err)
	var header tls.RecordHeaderError
	if errors.As(err, &header) && header.Conn != nil && isHTTP(header.RecordHeader) {
		_, _ = io.WriteString(header.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
}

// isHTTP reports whether bytes that are no TLS record begin like a request.
func isHTTP(record [5]byte) bool {
	switch string(record[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH":
		return true
	}
	return false
}
