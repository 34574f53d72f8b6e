package admin

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/weir-go/weir/cmd/weir/internal/exchange"
	"github.com/weir-go/weir/cmd/weir/internal/listen"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/cmd/weir/internal/upstream"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirprom"
)

// Figures are the proxy's own counters since its start, in addition to its limiters' metrics.
type Figures struct {
	Listeners map[string]listen.Counts // by address
	Exchanges exchange.Counts
	Upstreams map[string][]upstream.Address // by name
	Spans     spans.Counts

	Reloads        uint64    // applied reloads
	ReloadsRefused uint64    // reloads with a configuration that was invalid, or needs a restart
	Applied        time.Time // when the current configuration was applied
}

// Metrics returns the metrics of /metrics: the limiters, the proxy's own figures, Go and the
// process. figures is called for each scrape. An error names limiters that share a name.
func Metrics(limiters metrics.Sources, figures func() Figures) (prometheus.Gatherer, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		weirprom.New(limiters), collector(figures),
		prometheus.NewGoCollector(),                                       //nolint:staticcheck // package collectors has the same, and makes every first build compile database/sql
		prometheus.NewProcessCollector(prometheus.ProcessCollectorOpts{}), //nolint:staticcheck // as above
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return withoutTwins{registry}, nil
}

// withoutTwins removes the counter of allocated bytes that Go's collector has beside its
// gauge: in OpenMetrics a counter's family has no _total, so both would be one family.
type withoutTwins struct{ prometheus.Gatherer }

// Gather implements [prometheus.Gatherer].
func (g withoutTwins) Gather() ([]*dto.MetricFamily, error) {
	all, err := g.Gatherer.Gather()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return f.GetName() == "go_memstats_alloc_bytes_total" }), err
}

// A collector collects figures.
type collector func() Figures

// Describe implements [prometheus.Collector].
func (collector) Describe(descs chan<- *prometheus.Desc) {
	for _, s := range all() {
		descs <- s.desc
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(collected chan<- prometheus.Metric) {
	f := c()
	out := output(collected)
	for listener, n := range f.Listeners {
		out.connections(listener, n)
	}
	out.exchanges(f.Exchanges)
	for name, addresses := range f.Upstreams {
		for _, a := range addresses {
			out.address(name, a)
		}
	}
	out.number(reloads, float64(f.Reloads), "applied")
	out.number(reloads, float64(f.ReloadsRefused), "refused")
	if !f.Applied.IsZero() {
		out.number(applied, float64(f.Applied.UnixMilli())/1000)
	}
	out.number(spansBy, float64(f.Spans.Sent), "sent")
	out.number(spansBy, float64(f.Spans.Dropped), "dropped")
	out.number(spansBy, float64(f.Spans.Failed), "failed")
}

type output chan<- prometheus.Metric

func (out output) number(s *series, value float64, labels ...string) {
	for i := range labels {
		labels[i] = strings.ToValidUTF8(labels[i], "\uFFFD") // invalid text would fail the whole scrape
	}
	out <- prometheus.MustNewConstMetric(s.desc, s.kind, value, labels...)
}

func (out output) connections(listener string, n listen.Counts) {
	out.number(connections, float64(n.Open), listener)
	out.number(connectionsOpened, float64(n.Accepted), listener)
	out.number(connectionsClosed, float64(n.OverTotal), listener, "too many")
	out.number(connectionsClosed, float64(n.OverAddress), listener, "too many of one address")
	out.number(connectionsClosed, float64(n.BadHeader), listener, "PROXY protocol")
	out.number(connectionsClosed, float64(n.Displaced), listener, "idle")
	out.number(connectionsClosed, float64(n.Handshakes), listener, "TLS handshake")
	out.number(connectionsClosed, float64(n.Stalled), listener, "stalled")
	out.number(connectionsClosed, float64(n.Slow), listener, "slow")
	out.number(resets, float64(n.Resets), listener)
}

func (out output) exchanges(n exchange.Counts) {
	out.number(requests, float64(n.Received))
	for status, n := range n.Answered {
		out.number(responses, float64(n), status)
	}
	for reason, n := range n.Refused {
		out.number(refused, float64(n), reason)
	}
	out.number(left, float64(n.Left))
	out.number(broken, float64(n.Broken))
	out.number(timeouts, float64(n.TimedOut))
	out.number(streams, float64(n.Streamed), "request")
	out.number(streams, float64(n.Exchanged), "response")
	out.number(noStream, float64(n.NoStream))
	out.number(memory, float64(n.Memory))
	out.number(files, float64(n.Files))
	out.number(stored, float64(n.Stored))
}

func (out output) address(name string, a upstream.Address) {
	out.number(upstreamActive, float64(a.InFlight), name, a.URL)
	out.number(upstreamHealthy, truth(a.Healthy), name, a.URL)
	out.number(upstreamRotation, truth(a.InRotation), name, a.URL)
	out.number(upstreamRequests, float64(a.Requests), name, a.URL)
	out.number(upstreamFailures, float64(a.Failures), name, a.URL)
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
