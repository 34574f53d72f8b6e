package listen

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// What one connection of HTTP/2 may make the proxy keep. net/http's own frames may have 1 MiB, and
// each connection keeps a buffer of the longest that it has read.
const (
	frameSize        = 16 << 10  // the least that the protocol allows
	connectionWindow = 1 << 20   // net/http's own
	streamWindow     = 256 << 10 // 100 ms away, a client can still send 2.5 MB/s in one request
)

// newServer returns the server of net/http. TLS is below it.
func newServer(c config.Listener, l *Listener, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(l.serve),
		ReadHeaderTimeout: time.Duration(c.HeaderTimeout), // and of the handshake
		IdleTimeout:       time.Duration(c.IdleTimeout),
		MaxHeaderBytes:    int(c.MaxHeader),
		Protocols:         protocols(c),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          c.MaxStreams,
			MaxReadFrameSize:              frameSize,
			MaxReceiveBufferPerConnection: connectionWindow,
			MaxReceiveBufferPerStream:     streamWindow,
		},
		ErrorLog:  log.New(serverLog{logger}, "", 0),
		ConnState: l.changed,
		ConnContext: func(ctx context.Context, of net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, unwrap(of))
		},
	}
}

// protocols are those that the configuration names; both if it names none.
func protocols(c config.Listener) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(speaks(c.Protocols, "http1"))
	p.SetUnencryptedHTTP2(speaks(c.Protocols, "http2"))
	return p
}

func speaks(protocols []string, protocol string) bool {
	return len(protocols) == 0 || slices.Contains(protocols, protocol)
}

// serverLog takes what net/http logs.
type serverLog struct{ to *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	l.to.Warn(string(bytes.TrimSpace(line)))
	return len(line), nil
}
