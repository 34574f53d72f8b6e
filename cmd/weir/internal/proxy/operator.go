package proxy

import (
	"cmp"
	"fmt"
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
	*listen.Listener
	build   func(*config.Config, net.Addr) (http.Handler, error)
	current atomic.Pointer[http.Handler] // replaced by a reload
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
	page := func(c *config.Config, at net.Addr) (http.Handler, error) { return admin.New(seen, c.Admin, at) }
	probes := func(c *config.Config, _ net.Addr) (http.Handler, error) { return admin.Probes(seen, c.Probes), nil }
	err = cmp.Or(p.openOperator("admin.address", c.Admin.Address, page), p.openOperator("probes.address", c.Probes.Address, probes))
	if err != nil {
		return err
	}
	handlers, err := p.operatorHandlers(c)
	p.serveOperators(handlers)
	return err
}

// operatorHandlers returns the handlers for a configuration, in the order of the operators;
// an error names the wrong setting.
func (p *Proxy) operatorHandlers(c *config.Config) (handlers []http.Handler, err error) {
	for _, o := range p.operators {
		handler, err := o.build(c, o.Addr())
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

// These bounds hold for the clients of an operator's address, because strangers can reach the
// probes.
const (
	operatorTimeout     = 10 * time.Second // for a stall within a body
	operatorConnections = 64               // a dashboard takes one for each of its pages
)

func operatorSettings(address string) config.Listener {
	settings := config.New[config.Listener]()
	settings.Address, settings.Protocols = address, []string{"http1"}
	settings.BodyTimeout, settings.MaxConnections = config.Duration(operatorTimeout), operatorConnections
	return settings
}

func (p *Proxy) openOperator(setting, address string, handler func(*config.Config, net.Addr) (http.Handler, error)) (err error) {
	if address == "none" || address == "" {
		return nil
	}
	o := &operator{build: handler}
	if o.Listener, err = listen.New(operatorSettings(address), http.HandlerFunc(o.serve), p.sparing); err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	p.operators = append(p.operators, o)
	return nil
}

func (o *operator) serve(w http.ResponseWriter, r *http.Request) {
	(*o.current.Load()).ServeHTTP(w, r)
}

// Addresses returns the addresses that the proxy listens on: its listeners in their order,
// then the admin address and the address of probes.
func (p *Proxy) Addresses() (listeners, operators []net.Addr) {
	for _, l := range p.listeners {
		listeners = append(listeners, l.Addr())
	}
	for _, o := range p.operators {
		operators = append(operators, o.Addr())
	}
	return listeners, operators
}

// Requests returns the number of requests that have ended, with any outcome.
func (p *Proxy) Requests() uint64 { return p.shared.Counts().Ended() }

// Snapshot returns the state of all compartments.
func (p *Proxy) Snapshot() bulkhead.Snapshot { return p.set.Snapshot() }

func (p *Proxy) state() admin.State {
	all := p.Snapshot()
	s := admin.State{
		Total: all.Total, Cap: all.Max, Compartments: all.ByKey,
		Laws: map[string]string{}, Caps: map[string]weir.Snapshot{}, Figures: p.figures(),
	}
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
		if o.law != nil {
			s.Laws[name] = fmt.Sprint(o.law)
		}
	}
	return s
}

func (p *Proxy) figures() admin.Figures {
	f := admin.Figures{
		Listeners: map[string]listen.Counts{}, Upstreams: map[string][]upstream.Address{}, Exchanges: p.shared.Counts(),
		Fleet: p.fleet.figures(), LogDropped: p.lines.Dropped(),
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
