package config

import "cmp"

// complete adds the defaults and checks the configuration.
func (c *Config) complete(places map[string]place, wrong *faults) {
	if len(c.Listeners) == 0 {
		c.Listeners = []Listener{New[Listener]()}
	}
	if len(c.Routes) == 0 {
		c.Routes = []Route{New[Route]()}
	}
	for i := range c.Routes {
		c.completeRoute(&c.Routes[i])
	}
	c.completeFleet()
	check := &checker{c, places, wrong}
	check.listeners()
	check.addresses()
	check.upstreams()
	check.routes()
	check.patterns()
	check.compartments()
	check.fleet()
	check.operation()
}

// completeRoute sets fields of a route that follow from the rest of the configuration.
func (c *Config) completeRoute(r *Route) {
	if len(c.Upstreams) == 1 {
		for only := range c.Upstreams {
			r.Upstream = cmp.Or(r.Upstream, only)
		}
	}
	if r.GRPC == "" {
		r.Path = cmp.Or(r.Path, "/")
	}
	most := c.Streams.Max
	if len(c.Routes) > 1 {
		most = max(1, most/2)
	}
	r.Streams = cmp.Or(r.Streams, most)
	if !r.Exempt {
		r.Compartment = cmp.Or(r.Compartment, r.Upstream)
	}
}

// operation checks the buffers, the admin address and the probes.
func (c *checker) operation() {
	if c.Buffers.Request > c.Buffers.Memory {
		c.isnt("buffers.request", c.Buffers.Request, "at most buffers.memory, which is "+c.Buffers.Memory.String())
	}
	if c.Buffers.Response > c.Buffers.Memory {
		c.isnt("buffers.response", c.Buffers.Response, "at most buffers.memory, which is "+c.Buffers.Memory.String())
	}
	c.admin()
	c.probes()
}
