package promcheck

import "github.com/prometheus/client_golang/prometheus"

// own are the proxy's own series, besides its limiters'. cmd/weir/internal/proxy tests that
// the proxy has the series of the alerts.
type own struct {
	requests, failures  prometheus.Counter
	healthy, inRotation *prometheus.GaugeVec
	closed, reloads     *prometheus.CounterVec
	noStream            prometheus.Counter
	spans               *prometheus.CounterVec
	leased, storeUp     *prometheus.GaugeVec
}

func newOwn(reg prometheus.Registerer) *own {
	counter := func(name string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weir_proxy_" + name + "_total"}, labels)
		reg.MustRegister(c)
		return c
	}
	gauge := func(name string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "weir_proxy_" + name}, labels)
		reg.MustRegister(g)
		return g
	}
	const upstream, address = "api", "http://127.0.0.1:9000"
	return &own{
		requests: counter("upstream_requests", "upstream", "address").WithLabelValues(upstream, address),
		failures: counter("upstream_failures", "upstream", "address").WithLabelValues(upstream, address),
		healthy:  gauge("upstream_healthy", "upstream", "address"), inRotation: gauge("upstream_in_rotation", "upstream", "address"),
		closed: counter("connections_closed", "listener", "reason"), reloads: counter("reloads", "result"),
		noStream: counter("streams_refused").WithLabelValues(),
		spans:    counter("spans", "result"),
		leased:   gauge("fleet_leased", "fleet"), storeUp: gauge("fleet_store_up", "fleet"),
	}
}

// count adds one interval of a proxy with one reload and two addresses. The second address is
// ejected while it is sick, and the store of its fleet is lost.
func (o *own) count(sick bool) {
	const often = 100
	o.requests.Add(often)
	o.healthy.WithLabelValues("api", "http://127.0.0.1:9000").Set(1)
	o.inRotation.WithLabelValues("api", "http://127.0.0.1:9000").Set(1)
	o.healthy.WithLabelValues("api", "http://127.0.0.1:9001").Set(1)
	o.inRotation.WithLabelValues("api", "http://127.0.0.1:9001").Set(1)
	o.leased.WithLabelValues("shop").Set(1)
	o.storeUp.WithLabelValues("shop").Set(1)
	bad := 0.0
	if sick {
		bad = often
		o.leased.WithLabelValues("shop").Set(0)
		o.storeUp.WithLabelValues("shop").Set(0)
		o.inRotation.WithLabelValues("api", "http://127.0.0.1:9001").Set(0)
	}
	o.failures.Add(0.9 * bad)
	for _, reason := range []string{"too many", "PROXY protocol"} {
		o.closed.WithLabelValues(":8080", reason).Add(bad)
	}
	for _, reason := range []string{"idle", "stalled", "TLS handshake"} { // caused by clients
		o.closed.WithLabelValues(":8080", reason).Add(often)
	}
	o.reloads.WithLabelValues("applied").Inc()
	o.reloads.WithLabelValues("refused").Add(bad / often)
	o.noStream.Add(bad)
	o.spans.WithLabelValues("sent").Add(often)
	o.spans.WithLabelValues("failed").Add(bad)
}
