package relay

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// requestTimeout bounds a request, and the time between two: a browser on a slow network sends its
// request within a few seconds, and the public sends no bodies. A WebSocket connection sets its own
// deadlines.
const requestTimeout = 10 * time.Second

// Serve serves clients on a listener until ctx ends, and returns nil, or until the listener
// fails. Clients that connect before Run has started wait for it instead of receiving a 503.
// Serve bounds sockets that have not sent a request, which a handler does not see. It closes
// those above a quarter more than Config.Connections, or above Config.ConnectionsPerAddress of
// one address, and those that send no complete request within 10 s.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadTimeout: requestTimeout, IdleTimeout: requestTimeout,
		ErrorLog: slog.NewLogLogger(s.conf.Logger.Handler(), slog.LevelDebug),
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	select {
	case <-s.opened.Done():
	case <-ctx.Done():
		return l.Close()
	}
	err := server.Serve(&listener{l, s})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// A listener accepts sockets up to a maximum number.
type listener struct {
	net.Listener
	server *Server
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
		_ = c.Close() // without an answer, which would take memory
	}
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
