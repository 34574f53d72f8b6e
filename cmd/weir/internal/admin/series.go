package admin

import (
	"github.com/prometheus/client_golang/prometheus"
)

// A series is a metric of the proxy with its labels. docs/metrics.md lists all of them.
type series struct {
	name   string
	kind   prometheus.ValueType
	labels []string
	help   string
	desc   *prometheus.Desc
}

func gauge(name, help string, labels ...string) *series {
	return newSeries(prometheus.GaugeValue, "weir_proxy_"+name, help, labels)
}

func counter(name, help string, labels ...string) *series {
	return newSeries(prometheus.CounterValue, "weir_proxy_"+name+"_total", help, labels)
}

func newSeries(kind prometheus.ValueType, name, help string, labels []string) *series {
	return &series{name, kind, labels, help, prometheus.NewDesc(name, help, labels, nil)}
}

// The series, in the order of docs/metrics.md.
var (
	connections       = gauge("connections", "Connections that are open.", "listener")
	connectionsOpened = counter("connections_accepted", "Connections that clients opened.", "listener")
	connectionsClosed = counter("connections_closed", "Connections that the proxy closed, by reason.", "listener", "reason")
	resets            = counter("resets", "Requests of HTTP/2 that clients reset.", "listener")

	requests  = counter("requests", "Requests that reached a route.")
	responses = counter("responses", "Responses, by class of status.", "status")
	refused   = counter("refused", "Requests that were refused, by reason.", "reason")
	left      = counter("left", "Requests whose client left before the response.")
	broken    = counter("broken", "Responses that broke off.")
	timeouts  = counter("timeouts", "Requests whose upstream took too long.")
	streams   = counter("streams", "Requests and responses that became streams, by kind; none that found no slot.", "kind")
	noStream  = counter("streams_refused", "Streams that found no slot of the streams.")
	memory    = gauge("buffer_bytes", "Memory that buffers take.")
	files     = gauge("buffer_files", "Temporary files that buffers take.")
	stored    = gauge("buffer_file_bytes", "Bytes in the temporary files of buffers.")

	upstreamActive   = gauge("upstream_in_flight", "Requests at an address of an upstream.", "upstream", "address")
	upstreamHealthy  = gauge("upstream_healthy", "1 if the checks of an address succeed, or there are none.", "upstream", "address")
	upstreamRotation = gauge("upstream_in_rotation", "1 if an address gets requests.", "upstream", "address")
	upstreamRequests = counter("upstream_requests", "Requests sent to an address.", "upstream", "address")
	upstreamFailures = counter("upstream_failures", "Requests that got no answer from an address, or a 502, 503 or 504.", "upstream", "address")

	reloads = counter("reloads", "Reloads of the configuration, by result.", "result")
	applied = gauge("applied_timestamp_seconds", "When the configuration was applied.")
	spansBy = counter("spans", "Sampled spans, by result.", "result")
)

// all returns the series.
func all() []*series {
	return []*series{
		connections, connectionsOpened, connectionsClosed, resets,
		requests, responses, refused, left, broken, timeouts, streams, noStream, memory, files, stored,
		upstreamActive, upstreamHealthy, upstreamRotation, upstreamRequests, upstreamFailures,
		reloads, applied, spansBy,
	}
}
