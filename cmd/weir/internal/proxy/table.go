package proxy

import (
	"fmt"
	"log/slog"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/trust"
)

// A table is an applied configuration.
type table struct {
	config  *config.Config
	pools   map[string]*upstream.Pool
	routes  *router
	trusted []trust.Peers // by the listeners
	access  *slog.Logger  // nil for no access log
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
	for i := range t.config.Routes {
		c := &t.config.Routes[i]
		var gate exchange.Gate
		if !c.Exempt {
			handle, err := p.set.Handle(c.Compartment)
			if err != nil {
				return fmt.Errorf("routes[%d]: %w", i, err)
			}
			gate = handle
		}
		t.routes.add(route{p.shared.Route(gate, t.pools[c.Upstream], *c), c})
	}
	if t.config.Log.Access {
		t.access = p.log
	}
	for _, c := range t.config.Listeners {
		t.trusted = append(t.trusted, config.Peers(c.Trusted))
	}
	return nil
}

// start starts the health checks of the table's upstreams.
func (t *table) start() {
	for _, pool := range t.pools {
		pool.Start()
	}
}

// drop releases everything that the table does not share with another table.
func (t *table) drop() {
	for _, pool := range t.pools {
		pool.Close()
	}
}
