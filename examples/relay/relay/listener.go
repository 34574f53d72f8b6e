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
	headerTimeout  = 10 * time.Second // a browser on a bad line sends its request within a few
	requestTimeout = headerTimeout    // the public sends no bodies; of a WebSocket, the connection sets its own
	idleTimeout    = headerTimeout    // between two requests for the information document

	// farewells is how many sockets are told at once why they are refused. Where more come, they
	// are closed without an answer, which costs nothing.
	farewells    = 64
	farewellTime = time.Second
)

// Serve serves clients on a listener until ctx ends, and returns nil, or until the listener fails.
// Clients that connect before Run is at work wait for it, rather than being answered 503.
// It bounds connections that a handler does not see: the sockets on which no request has come yet.
// One above Config.Sockets, or above Config.ConnectionsPerAddress of one address, is answered 503
// or 429 with Retry-After, and one that sends no whole request within 10 s is closed.
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

// A listener accepts sockets up to their number.
type listener struct {
	net.Listener
	server  *Server
	leaving chan struct{} // an element for each socket that is being told
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

// refuse does not hold up those who come next.
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

// tell answers on a socket whose request has not been read.
func (d *denial) tell(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(farewellTime))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nRetry-After: %d\r\n\r\n%s",
		d.status, http.StatusText(d.status), len(d.text), wholeSeconds(d.after), d.text)
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, c, http.DefaultMaxHeaderBytes) // closed with its request unread, the socket would be reset, and the answer lost
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
