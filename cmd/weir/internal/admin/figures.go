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
	Upstreams map[string][]upstream.Address `json:"upstreams"` // by name
	Listeners map[string]listen.Counts      `json:"listeners"` // by address
	Exchanges exchange.Counts               `json:"exchanges"`
	Fleet     *Fleet                        `json:"fleet,omitempty"`
	Applied   time.Time                     `json:"applied"` // when the current configuration was applied

	LogDropped     uint64       `json:"-"` // lines of the log
	Spans          spans.Counts `json:"-"`
	Reloads        uint64       `json:"-"` // applied reloads
	ReloadsRefused uint64       `json:"-"` // reloads with a configuration that was invalid, or needs a restart
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

type collector func() Figures

// Describe implements [prometheus.Collector].
func (collector) Describe(descs chan<- *prometheus.Desc) {
	for _, s := range all {
		descs <- s.desc
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(collected chan<- prometheus.Metric) {
	f := c()
	for _, s := range all {
		s.read(f, func(value float64, labels ...string) {
			for i := range labels {
				labels[i] = strings.ToValidUTF8(labels[i], "\uFFFD") // invalid text would fail the whole scrape
			}
			collected <- prometheus.MustNewConstMetric(s.desc, s.kind, value, labels...)
		})
	}
}
