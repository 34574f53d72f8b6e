package listen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
)

// A header of the PROXY protocol precedes the client's data.
type header struct {
	timeout time.Duration
	once    sync.Once
	buffer  *bufio.Reader // nil once it is empty
	client  net.Addr
	err     error
}

// read waits for the header and returns its address. A header without an address, as in the health
// checks of a balancer, means the address of the peer. If the header is missing, or the client has
// reached its cap on connections, read closes the connection.
func (h *header) read(c *conn) (net.Addr, error) {
	h.once.Do(func() {
		if h.client, h.err = h.parse(c.Conn); h.err == nil {
			h.err = c.listener.count(c, addressOf(h.client))
		} else if !errors.Is(h.err, io.EOF) {
			c.listener.refuse(&c.listener.counts.BadHeader, addressOf(c.Conn.RemoteAddr()), h.err.Error())
		}
		if h.err != nil {
			_ = c.Close()
		}
	})
	return h.client, h.err
}

func (h *header) parse(socket net.Conn) (net.Addr, error) {
	if h.timeout > 0 {
		_ = socket.SetReadDeadline(time.Now().Add(h.timeout)) // until net/http sets its own
	}
	h.buffer = bufio.NewReaderSize(socket, headerBuffer)
	if _, err := h.buffer.Peek(1); err != nil {
		return nil, unwaited(err) // a balancer's port check
	}
	parsed, err := proxyproto.Read(h.buffer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHeader, unwaited(err))
	}
	if parsed.Command.IsLocal() || parsed.SourceAddr == nil {
		return socket.RemoteAddr(), nil
	}
	return parsed.SourceAddr, nil
}

// headerBuffer holds the longest header of version 1, 107 bytes, and of version 2 without
// extensions, 232 bytes.
const headerBuffer = 256

var errHeader = errors.New("listen: no valid header of the PROXY protocol")

// unwaited hides a passed deadline from net/http, which would take the deadline for its own.
func unwaited(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errHeader
	}
	return err
}

// rest reads the data after the header.
func (h *header) rest(socket net.Conn, p []byte) (int, error) {
	if h.buffer != nil && h.buffer.Buffered() > 0 {
		return h.buffer.Read(p)
	}
	h.buffer = nil
	return socket.Read(p)
}
