package listen

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
)

// A header of the PROXY protocol precedes what the client sends.
type header struct {
	timeout time.Duration
	once    sync.Once
	buffer  *bufio.Reader // until it is empty
	client  net.Addr
	err     error
}

// read waits for the header, and returns the address that it names: the peer's own if it names
// none, as in the health checks of a balancer. If there is no header, or the client may have no
// more connections, it closes the connection.
func (h *header) read(c *conn) (net.Addr, error) {
	h.once.Do(func() {
		if h.client, h.err = h.parse(c.Conn); h.err == nil {
			h.err = c.listener.count(c, addressOf(h.client))
		} else if !errors.Is(h.err, io.EOF) {
			c.listener.counters.header.Add(1)
		}
		if h.err != nil {
			_ = c.Close()
		}
	})
	return h.client, h.err
}

func (h *header) parse(socket net.Conn) (net.Addr, error) {
	if h.timeout > 0 {
		_ = socket.SetReadDeadline(time.Now().Add(h.timeout))
		defer func() { _ = socket.SetReadDeadline(time.Time{}) }()
	}
	h.buffer = bufio.NewReaderSize(socket, headerBuffer)
	if _, err := h.buffer.Peek(1); err != nil {
		return nil, unwaited(err) // a balancer that only looks whether the port is open
	}
	parsed, err := proxyproto.Read(h.buffer)
	if err != nil {
		return nil, errors.Join(errHeader, unwaited(err))
	}
	if parsed.Command.IsLocal() || parsed.SourceAddr == nil {
		return socket.RemoteAddr(), nil
	}
	return parsed.SourceAddr, nil
}

// headerBuffer holds the longest header of version 1, 107 bytes, and of version 2 without
// extensions, 232.
const headerBuffer = 256

var errHeader = errors.New("listen: no valid header of the PROXY protocol")

// unwaited hides from net/http that a deadline has passed: it is not one of its own.
func unwaited(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errHeader
	}
	return err
}

// rest reads what follows the header.
func (h *header) rest(socket net.Conn, p []byte) (int, error) {
	if h.buffer != nil && h.buffer.Buffered() > 0 {
		return h.buffer.Read(p)
	}
	h.buffer = nil
	return socket.Read(p)
}
