package proxy

import (
	"fmt"
	"log/slog"

	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/observe"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/trust"
)

// A table is an applied configuration.
type table struct {
	config   *config.Config
	pools    map[string]*upstream.Pool
	routes   *router
	trusted  []trust.Peers // by the listeners
	observer observe.Observer
}

// newTable makes the table of a configuration without other effects. Drop an unused table.
func (p *Proxy) newTable(c *config.Config, previous *table) (*table, error) {
	t := &table{config: c, pools: map[string]*upstream.Pool{}}
	if err := p.fill(t, previous); err != nil {
		t.drop()
		return nil, err
	}
	return t, nil
}

func (p *Proxy) fill(t, previous *table) error {
	for name, c := range t.config.Upstreams {
		var old *upstream.Pool
		if previous != nil {
			old = previous.pools[name]
		}
		pool, err := upstream.New(name, c, old, p.log)
		if err != nil {
			return err
		}
		t.pools[name] = pool
	}
	t.routes = newRouter()
	for i, c := range t.config.Routes {
		to, err := p.newRoute(c, t.pools[c.Upstream])
		if err != nil {
			return fmt.Errorf("routes[%d]: %w", i, err)
		}
		t.routes.add(c, to)
	}
	var access *slog.Logger // nil for none
	if t.config.Log.Access {
		access = p.log
	}
	t.observer = observe.New(access, p.tracer)
	for _, c := range t.config.Listeners {
		t.trusted = append(t.trusted, config.Peers(c.Trusted))
	}
	return nil
}

func (p *Proxy) newRoute(c config.Route, pool *upstream.Pool) (to route, err error) {
	to.compartment, to.place = c.Compartment, client.NewPlace(c)
	var gate exchange.Gate
	if !c.Exempt {
		if gate, err = p.set.Handle(c.Compartment); err != nil {
			return to, err
		}
	}
	to.Route = p.shared.Route(gate, pool, c)
	return to, nil
}

// start starts the health checks of the table's upstreams.
func (t *table) start() {
	for _, pool := range t.pools {
		pool.Start()
	}
}

// drop releases everything that the table does not share with another.
func (t *table) drop() {
	for _, pool := range t.pools {
		pool.Close()
	}
}
