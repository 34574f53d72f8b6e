package admin

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/listen"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
)

// A series is a metric of the proxy with its labels. docs/metrics.md lists all of them.
type series struct {
	name   string
	kind   prometheus.ValueType
	labels []string
	help   string
	desc   *prometheus.Desc
	read   reader
}

// A reader passes the values of a series to set, with their labels.
type reader func(f Figures, set func(value float64, labels ...string))

func gauge(name, help string, read reader, labels ...string) *series {
	return newSeries(prometheus.GaugeValue, "weir_proxy_"+name, help, read, labels)
}

func counter(name, help string, read reader, labels ...string) *series {
	return newSeries(prometheus.CounterValue, "weir_proxy_"+name+"_total", help, read, labels)
}

func newSeries(kind prometheus.ValueType, name, help string, read reader, labels []string) *series {
	return &series{name, kind, labels, help, prometheus.NewDesc(name, help, labels, nil), read}
}

// all are the series, in the order of docs/metrics.md.
var all = []*series{
	gauge("connections", "Connections that are open.", ofListeners(func(n listen.Counts) float64 { return float64(n.Open) }), "listener"),
	counter("connections_accepted", "Connections that clients opened.", ofListeners(func(n listen.Counts) float64 { return float64(n.Accepted) }), "listener"),
	counter("connections_closed", "Connections that the proxy closed, by reason.", closed, "listener", "reason"),
	counter("resets", "HTTP/2 requests that clients reset.", ofListeners(func(n listen.Counts) float64 { return float64(n.Resets) }), "listener"),

	counter("requests", "Requests that matched a route.", ofRequests(func(n exchange.Counts) uint64 { return n.Received })),
	counter("responses", "Responses, by class of status.", byLabel(func(n exchange.Counts) map[string]uint64 { return n.Answered }), "status"),
	counter("refused", "Requests that were refused, by reason.", byLabel(func(n exchange.Counts) map[string]uint64 { return n.Refused }), "reason"),
	counter("left", "Requests whose client left before the response.", ofRequests(func(n exchange.Counts) uint64 { return n.Left })),
	counter("broken", "Responses that ended early.", ofRequests(func(n exchange.Counts) uint64 { return n.Broken })),
	counter("timeouts", "Requests whose upstream took too long.", ofRequests(func(n exchange.Counts) uint64 { return n.TimedOut })),
	counter("streams", "Requests and responses that became streams, by kind. Refused ones are not counted.", byLabel(func(n exchange.Counts) map[string]uint64 {
		return map[string]uint64{"request": n.Streamed, "response": n.Exchanged}
	}), "kind"),
	counter("streams_refused", "Streams that were refused.", ofRequests(func(n exchange.Counts) uint64 { return n.NoStream })),
	gauge("buffer_bytes", "Memory that buffers take.", ofRequests(func(n exchange.Counts) int64 { return n.Memory })),
	gauge("buffer_files", "Temporary files that buffers take.", ofRequests(func(n exchange.Counts) int64 { return n.Files })),
	gauge("buffer_file_bytes", "Bytes in the temporary files of buffers.", ofRequests(func(n exchange.Counts) int64 { return n.Stored })),

	gauge("upstream_in_flight", "Requests at an address of an upstream.", ofAddresses(func(a upstream.Address) float64 { return float64(a.InFlight) }), "upstream", "address"),
	gauge("upstream_healthy", "1 unless the checks of an address fail.", ofAddresses(func(a upstream.Address) float64 { return truth(a.Healthy) }), "upstream", "address"),
	gauge("upstream_in_rotation", "1 if an address gets requests.", ofAddresses(func(a upstream.Address) float64 { return truth(a.InRotation) }), "upstream", "address"),
	counter("upstream_requests", "Requests sent to an address.", ofAddresses(func(a upstream.Address) float64 { return float64(a.Requests) }), "upstream", "address"),
	counter("upstream_failures", "Requests that got no answer from an address, or a 502, 503 or 504.", ofAddresses(func(a upstream.Address) float64 { return float64(a.Failures) }), "upstream", "address"),

	gauge("fleet_cap", "Requests that may run in all proxies of the fleet together.", ofFleet(func(f *Fleet) float64 { return float64(f.Cap) }), "fleet"),
	gauge("fleet_share", "Requests of the fleet's cap that may run in this proxy.", ofFleet(func(f *Fleet) float64 { return float64(f.Share) }), "fleet"),
	gauge("fleet_leased", "1 while the share is leased, 0 when fleet.fallback holds.", ofFleet(func(f *Fleet) float64 { return truth(f.Leased) }), "fleet"),
	gauge("fleet_members", "Proxies in the fleet, as the allocator last counted them.", ofFleet(func(f *Fleet) float64 { return float64(f.Members) }), "fleet"),
	gauge("fleet_epoch", "Term of the allocator; it rises with each election.", ofFleet(func(f *Fleet) float64 { return float64(f.Epoch) }), "fleet"),
	gauge("fleet_allocates", "1 if this proxy divides the cap.", ofFleet(func(f *Fleet) float64 { return truth(f.Allocates) }), "fleet"),
	gauge("fleet_store_up", "1 while the fleet's store works.", ofFleet(func(f *Fleet) float64 { return truth(f.Error == "") }), "fleet"),

	counter("reloads", "Reloads of the configuration, by result.", func(f Figures, set func(float64, ...string)) {
		set(float64(f.Reloads), "applied")
		set(float64(f.ReloadsRefused), "refused")
	}, "result"),
	gauge("applied_timestamp_seconds", "When the configuration was applied.", func(f Figures, set func(float64, ...string)) {
		if !f.Applied.IsZero() {
			set(float64(f.Applied.UnixMilli()) / 1000)
		}
	}),
	counter("spans", "Sampled spans, by result.", func(f Figures, set func(float64, ...string)) {
		set(float64(f.Spans.Sent), "sent")
		set(float64(f.Spans.Dropped), "dropped")
		set(float64(f.Spans.Failed), "failed")
	}, "result"),
	counter("log_dropped", "Log lines that were dropped, because the reader was too slow or the log could not be written.", func(f Figures, set func(float64, ...string)) {
		set(float64(f.LogDropped))
	}),
}

func ofListeners(value func(listen.Counts) float64) reader {
	return func(f Figures, set func(float64, ...string)) {
		for listener, n := range f.Listeners {
			set(value(n), listener)
		}
	}
}

func closed(f Figures, set func(float64, ...string)) {
	for listener, n := range f.Listeners {
		for reason, count := range map[string]uint64{
			"too many": n.OverTotal, "too many of one address": n.OverAddress, "PROXY protocol": n.BadHeader, "idle": n.Displaced,
			"TLS handshake": n.Handshakes, "stalled": n.Stalled, "slow": n.Slow,
		} {
			set(float64(count), listener, reason)
		}
	}
}

func ofRequests[T int64 | uint64](value func(exchange.Counts) T) reader {
	return func(f Figures, set func(float64, ...string)) { set(float64(value(f.Exchanges))) }
}

func byLabel(counts func(exchange.Counts) map[string]uint64) reader {
	return func(f Figures, set func(float64, ...string)) {
		for label, n := range counts(f.Exchanges) {
			set(float64(n), label)
		}
	}
}

func ofAddresses(value func(upstream.Address) float64) reader {
	return func(f Figures, set func(float64, ...string)) {
		for name, addresses := range f.Upstreams {
			for _, a := range addresses {
				set(value(a), name, a.URL)
			}
		}
	}
}

func ofFleet(value func(*Fleet) float64) reader {
	return func(f Figures, set func(float64, ...string)) {
		if f.Fleet != nil {
			set(value(f.Fleet), f.Fleet.Name)
		}
	}
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
