package relay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	headerTimeout  = 10 * time.Second // a browser on a slow network sends its request within a few seconds
	requestTimeout = headerTimeout    // the public sends no bodies; a WebSocket connection sets its own deadlines
	idleTimeout    = headerTimeout    // between two requests for the information document

	// farewells is the number of refused sockets that get an answer at once. Any others
	// are closed without an answer, which costs nothing.
	farewells    = 64
	farewellTime = time.Second
)

// Serve serves clients on a listener until ctx ends, and returns nil, or until the listener
// fails. Clients that connect before Run has started wait for it instead of receiving a 503.
// Serve bounds sockets that have not sent a request, which a handler does not see. A socket
// above Config.Sockets, or above Config.ConnectionsPerAddress of one address, is answered
// 503 or 429 with Retry-After, and one that sends no complete request within 10 s is closed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(s.conf.Logger.Handler(), slog.LevelDebug),
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	select {
	case <-s.opened:
	case <-ctx.Done():
		return l.Close()
	}
	err := server.Serve(&listener{l, s, make(chan struct{}, farewells)})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// A listener accepts sockets up to a maximum number.
type listener struct {
	net.Listener
	server  *Server
	leaving chan struct{} // an element for each refused socket being answered
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address := addressOf(c.RemoteAddr().String())
		denied := l.server.sockets.enter(address)
		if denied == nil {
			l.server.counts.sockets.Inc()
			return &socket{c, sync.OnceFunc(func() {
				l.server.sockets.leave(address)
				l.server.counts.sockets.Dec()
			})}, nil
		}
		l.server.counts.refused(accepting)
		l.refuse(c, denied)
	}
}

// refuse answers on a goroutine of its own, so that it does not delay Accept.
func (l *listener) refuse(c net.Conn, why *denial) {
	select {
	case l.leaving <- struct{}{}:
		go func() {
			defer func() { <-l.leaving }()
			why.tell(c)
		}()
	default:
		_ = c.Close()
	}
}

// tell writes the refusal to a socket before its request is read.
func (d *denial) tell(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(farewellTime))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nRetry-After: %d\r\n\r\n%s",
		d.status, http.StatusText(d.status), len(d.text), wholeSeconds(d.after), d.text)
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, c, http.DefaultMaxHeaderBytes) // closing a socket with an unread request resets it, and the answer is lost
}

// A socket is counted until it is closed.
type socket struct {
	net.Conn
	leave func()
}

func (s *socket) Close() error {
	s.leave()
	return s.Conn.Close()
}
