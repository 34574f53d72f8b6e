package proxy

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/cmd/weir/internal/admin"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/listen"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/metrics"
)

// An operator is a server for the operators of the proxy, or for the platform.
type operator struct {
	server   *http.Server
	listener net.Listener
	build    func(*config.Config, net.Addr) (http.Handler, error)
	current  atomic.Pointer[http.Handler] // replaced by a reload
}

// openOperators opens the admin address and the address of probes, if configured.
func (p *Proxy) openOperators(c *config.Config) error {
	gathered, err := admin.Metrics(metrics.Sources{
		Limiters: p.shared.Caps(), Sets: map[string]*bulkhead.Set{"compartments": p.set},
	}, p.figures)
	if err != nil {
		return err
	}
	seen := admin.Proxy{
		State: p.state, Config: func() any { return p.table.Load().config }, Metrics: gathered, Ready: p.ready,
		Refusals: &p.refusals, Law: p.Law, Shadow: p.Shadow,
	}
	if c.Admin.Address != "none" {
		err := p.openOperator("admin.address", c.Admin.Address, func(c *config.Config, at net.Addr) (http.Handler, error) {
			return admin.New(seen, c.Admin, at)
		})
		if err != nil {
			return err
		}
	}
	if c.Probes.Address != "" {
		err := p.openOperator("probes.address", c.Probes.Address, func(c *config.Config, _ net.Addr) (http.Handler, error) {
			return admin.Probes(seen, c.Probes), nil
		})
		if err != nil {
			return err
		}
	}
	handlers, err := p.operatorHandlers(c)
	p.serveOperators(handlers)
	return err
}

// operatorHandlers returns the handlers for a configuration, in the order of the operators;
// an error names the wrong setting.
func (p *Proxy) operatorHandlers(c *config.Config) (handlers []http.Handler, err error) {
	for _, o := range p.operators {
		handler, err := o.build(c, o.listener.Addr())
		if err != nil {
			return nil, err
		}
		handlers = append(handlers, handler)
	}
	return handlers, nil
}

func (p *Proxy) serveOperators(handlers []http.Handler) {
	for i := range handlers {
		old := p.operators[i].current.Swap(&handlers[i])
		if old == nil {
			continue
		}
		if replaced, ok := (*old).(interface{ Close() }); ok {
			replaced.Close()
		}
	}
}

// operatorTimeout bounds the reading of a request's header from an operator's client, and that of
// its body, and operatorIdle the time that its connection may be without a request: strangers can
// reach the probes. A profile takes half a minute to write.
const (
	operatorTimeout = 10 * time.Second
	operatorIdle    = 2 * time.Minute // longer than the usual pauses between probes and scrapes
)

func (p *Proxy) openOperator(setting, address string, handler func(*config.Config, net.Addr) (http.Handler, error)) error {
	listener, err := listen.Bind(address)
	if err != nil {
		return &AddressError{setting, err}
	}
	o := &operator{listener: listener, build: handler}
	o.server = &http.Server{
		ReadHeaderTimeout: operatorTimeout, IdleTimeout: operatorIdle, ErrorLog: slog.NewLogLogger(p.sparing.Handler(), slog.LevelWarn),
		Handler: http.HandlerFunc(o.serve),
	}
	p.operators = append(p.operators, o)
	return nil
}

// serve bounds only the time for a body: a deadline for a request without one would end its answer
// too, which may be a profile or a stream of events.
func (o *operator) serve(w http.ResponseWriter, r *http.Request) {
	if r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(operatorTimeout))
	}
	(*o.current.Load()).ServeHTTP(w, r)
}

// Addresses returns the addresses that the proxy listens on: its listeners in their order,
// then the admin address and the address of probes.
func (p *Proxy) Addresses() (listeners, operators []net.Addr) {
	for _, l := range p.listeners {
		listeners = append(listeners, l.Addr())
	}
	for _, o := range p.operators {
		operators = append(operators, o.listener.Addr())
	}
	return listeners, operators
}

// Snapshot returns the state of all compartments.
func (p *Proxy) Snapshot() bulkhead.Snapshot { return p.set.Snapshot() }

func (p *Proxy) state() admin.State {
	all := p.Snapshot()
	s := admin.State{Total: all.Total, Parts: admin.Parts{
		Cap: all.Max, Compartments: all.ByKey, Caps: map[string]weir.Snapshot{},
		Pinned: map[string]int{}, Laws: map[string]string{}, Figures: p.figures(),
	}}
	for _, lim := range p.shared.Caps() {
		limit := lim.Snapshot()
		s.Caps[limit.Name] = limit
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastReload != nil {
		s.LastReload = p.lastReload.Error()
	}
	for name, o := range p.overrides {
		if pin := o.pin(); pin > 0 {
			s.Pinned[name] = pin
		} else if o.law != nil {
			s.Laws[name] = fmt.Sprint(o.law)
		}
	}
	return s
}

func (p *Proxy) figures() admin.Figures {
	f := admin.Figures{
		Listeners: map[string]listen.Counts{}, Upstreams: map[string][]upstream.Address{}, Exchanges: p.shared.Counts(),
		Fleet: p.fleet.figures(),
	}
	for _, l := range p.listeners {
		f.Listeners[l.Addr().String()] = l.Counts()
	}
	for name, pool := range p.table.Load().pools {
		f.Upstreams[name] = pool.Snapshot()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f.Spans = p.tracer.Counts()
	f.Reloads, f.ReloadsRefused, f.Applied = p.reloads, p.reloadsRefused, p.applied
	return f
}
