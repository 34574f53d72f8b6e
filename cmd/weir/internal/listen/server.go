package listen

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// These limits bound the memory of an HTTP/2 connection. net/http by default accepts frames of 1
// MiB, and each connection keeps a buffer of its longest frame.
const (
	frameSize        = 16 << 10  // the protocol's minimum
	connectionWindow = 1 << 20   // the default of net/http
	streamWindow     = 256 << 10 // at a round trip of 100 ms, a request can still send 2.5 MB/s
)

// newServer returns the net/http server. TLS is below it.
func newServer(c config.Listener, l *Listener, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(l.serve),
		ReadHeaderTimeout: time.Duration(c.HeaderTimeout), // also for the handshake
		IdleTimeout:       time.Duration(c.IdleTimeout),
		MaxHeaderBytes:    int(c.MaxHeader),
		Protocols:         protocols(c),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          c.MaxStreams,
			MaxReadFrameSize:              frameSize,
			MaxReceiveBufferPerConnection: connectionWindow,
			MaxReceiveBufferPerStream:     streamWindow,
		},
		ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ConnState: l.changed,
		ConnContext: func(ctx context.Context, of net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, unwrap(of))
		},
	}
}

// protocols returns the configured protocols, by default both.
func protocols(c config.Listener) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(speaks(c.Protocols, "http1"))
	p.SetUnencryptedHTTP2(speaks(c.Protocols, "http2"))
	return p
}

func speaks(protocols []string, protocol string) bool {
	return len(protocols) == 0 || slices.Contains(protocols, protocol)
}
