package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/certs"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/trust"
)

// A Listener serves clients on one address. Create one with New. Its methods may be called
// concurrently.
type Listener struct {
	socket        net.Listener
	closing       sync.Once
	server        *http.Server
	next          http.Handler
	log           *slog.Logger
	certificates  *certs.Files // nil without TLS, like settings
	settings      *tls.Config
	headerTimeout time.Duration

	live atomic.Pointer[live]

	mu        sync.Mutex
	counts    Counts // without those that are open
	conns     map[*conn]struct{}
	addresses map[netip.Addr]int // counted connections by address
	idle      *list.List         // connections without a request, the longest idle first

	stop context.CancelFunc // ends the requests
}

// live holds the settings that Update changes.
type live struct {
	proxied     bool        // clients are behind the PROXY protocol
	balancers   trust.Peers // peers that may use it
	trusted     trust.Peers
	underscores bool // allowed in names of headers
	bodyTimeout time.Duration
	bodyRate    int64 // bytes a second
	connections int
	perAddress  int
	resets      int
}

// New opens the address but serves nothing yet. The configuration must be complete and
// checked.
func New(c config.Listener, next http.Handler, log *slog.Logger) (*Listener, error) {
	l := &Listener{
		next: next, log: log, headerTimeout: time.Duration(c.HeaderTimeout),
		conns: map[*conn]struct{}{}, addresses: map[netip.Addr]int{}, idle: list.New(),
	}
	if err := l.update(c); err != nil {
		return nil, err
	}
	l.server = newServer(c, l, log)
	if c.TLS != nil {
		var err error
		if l.certificates, err = newCertificates(*c.TLS, c.Protocols, log); err != nil {
			return nil, err
		}
		l.settings = asked(l.certificates)
	}
	requests, stop := context.WithCancel(context.Background())
	l.server.BaseContext = func(net.Listener) context.Context { return requests }
	l.stop = stop
	var err error
	if l.socket, err = Bind(c.Address); err != nil {
		stop()
		return nil, err
	}
	return l, nil
}

// Serve serves clients until Shutdown or Close is called. It then returns nil.
func (l *Listener) Serve() error {
	err := l.server.Serve(accepting{l})
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Shutdown accepts no more connections, and returns once every request has been answered or
// ctx has ended. Hijacked connections stay open until Close.
func (l *Listener) Shutdown(ctx context.Context) error {
	_ = accepting{l}.Close() // the server does not know the listener before Serve
	return l.server.Shutdown(ctx)
}

// Close ends all connections at once, including hijacked ones.
func (l *Listener) Close() error {
	l.stop()
	err := errors.Join(l.server.Close(), accepting{l}.Close())
	l.mu.Lock()
	open := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	return err
}

// Addr returns the listener's address.
func (l *Listener) Addr() net.Addr { return l.socket.Addr() }

// Update applies the settings that can change while clients are connected: the networks, the
// caps, BodyTimeout, BodyRate and MaxResets. A lower cap closes no connection. It also reads
// the certificates again if their files have changed. An error says why the certificates or
// the networks were not applied.
func (l *Listener) Update(c config.Listener) error {
	if err := l.update(c); err != nil {
		return err
	}
	if l.certificates != nil {
		return l.certificates.Refresh()
	}
	return nil
}

func (l *Listener) update(c config.Listener) error {
	balancers, err := trust.Networks(c.ProxyProtocol...)
	if err != nil {
		return fmt.Errorf("proxy_protocol: %w", err)
	}
	trusted, err := trust.Networks(c.Trusted...)
	if err != nil {
		return fmt.Errorf("trusted: %w", err)
	}
	l.live.Store(&live{
		proxied: len(c.ProxyProtocol) > 0, balancers: balancers, trusted: trusted, underscores: c.Underscores,
		bodyTimeout: time.Duration(c.BodyTimeout), bodyRate: int64(c.BodyRate),
		connections: c.MaxConnections, perAddress: c.MaxConnectionsPerAddress,
		resets: c.MaxResets,
	})
	return nil
}
