package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/weir-go/weir/cmd/weir/internal/certs"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/trust"
)

// A Listener serves clients on one address. Create one with New. Its methods may be called
// concurrently.
type Listener struct {
	socket       net.Listener
	closing      sync.Once
	server       *http.Server
	next         http.Handler
	log          *slog.Logger
	certificates *certs.Files // nil without TLS, like settings
	settings     *tls.Config

	live atomic.Pointer[live]

	mu        sync.Mutex
	counts    Counts // without Open
	conns     map[*conn]struct{}
	addresses map[netip.Addr]int // counted connections by address
	idle      *list.List         // connections without a request, the longest idle first

	stop context.CancelFunc // ends the requests
}

// live holds the settings that Update changes.
type live struct {
	config.Listener
	balancers trust.Peers // which may use the PROXY protocol
	trusted   trust.Peers
}

func newLive(c config.Listener) *live {
	return &live{c, config.Peers(c.ProxyProtocol), config.Peers(c.Trusted)}
}

// New opens the address but serves nothing yet. The configuration must be complete and
// checked.
func New(c config.Listener, next http.Handler, log *slog.Logger) (*Listener, error) {
	l := &Listener{
		next: next, log: log,
		conns: map[*conn]struct{}{}, addresses: map[netip.Addr]int{}, idle: list.New(),
	}
	l.live.Store(newLive(c))
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

// Close ends all connections at once, including hijacked connections.
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
// the certificates again if their files have changed. An error says why the certificates were
// not applied.
func (l *Listener) Update(c config.Listener) error {
	l.live.Store(newLive(c))
	if l.certificates != nil {
		return l.certificates.Refresh()
	}
	return nil
}
