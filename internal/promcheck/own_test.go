package promcheck

import "github.com/prometheus/client_golang/prometheus"

// own are the proxy's own series, besides its limiters'. cmd/weir/internal/proxy tests that
// the proxy has the series of the alerts.
type own struct {
	counters map[string]*prometheus.CounterVec
	gauges   map[string]*prometheus.GaugeVec
}

func newOwn(reg prometheus.Registerer) *own {
	o := &own{map[string]*prometheus.CounterVec{}, map[string]*prometheus.GaugeVec{}}
	ofAddress := []string{"upstream", "address"}
	for name, labels := range map[string][]string{
		"upstream_requests": ofAddress, "upstream_failures": ofAddress, "connections_closed": {"listener", "reason"},
		"reloads": {"result"}, "streams_refused": nil, "spans": {"result"},
	} {
		o.counters[name] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weir_proxy_" + name + "_total"}, labels)
		reg.MustRegister(o.counters[name])
	}
	for name, labels := range map[string][]string{
		"upstream_healthy": ofAddress, "upstream_in_rotation": ofAddress, "fleet_leased": {"fleet"}, "fleet_store_up": {"fleet"},
	} {
		o.gauges[name] = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "weir_proxy_" + name}, labels)
		reg.MustRegister(o.gauges[name])
	}
	return o
}

// count adds one interval of a proxy with one reload and two addresses. The second address is
// ejected while it is sick, and the store of its fleet is lost.
func (o *own) count(sick bool) {
	const often, first, second = 100, "http://127.0.0.1:9000", "http://127.0.0.1:9001"
	add := func(n float64, name string, labels ...string) { o.counters[name].WithLabelValues(labels...).Add(n) }
	set := func(value float64, name string, labels ...string) {
		o.gauges[name].WithLabelValues(labels...).Set(value)
	}
	bad, well := 0.0, 1.0
	if sick {
		bad, well = often, 0
	}
	for _, address := range []string{first, second} {
		set(1, "upstream_healthy", "api", address)
	}
	set(1, "upstream_in_rotation", "api", first)
	set(well, "upstream_in_rotation", "api", second)
	set(well, "fleet_leased", "shop")
	set(well, "fleet_store_up", "shop")
	add(often, "upstream_requests", "api", first)
	add(0.9*bad, "upstream_failures", "api", first)
	for _, reason := range []string{"too many", "PROXY protocol"} {
		add(bad, "connections_closed", ":8080", reason)
	}
	for _, reason := range []string{"idle", "stalled", "TLS handshake"} { // caused by clients
		add(often, "connections_closed", ":8080", reason)
	}
	add(1, "reloads", "applied")
	add(bad/often, "reloads", "refused")
	add(bad, "streams_refused")
	add(often, "spans", "sent")
	add(bad, "spans", "failed")
}
