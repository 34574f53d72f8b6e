package weirprom

import (
	"cmp"
	_ "embed" // for the files
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/weir-go/weir/metrics"
)

// A Collector collects the metrics of its sources. Make one with [New]. It is safe for concurrent
// use, and may be in several registries.
type Collector struct {
	reader *metrics.Reader
	descs  map[series]*prometheus.Desc
	err    error
}

// A series is one instrument of one source. All its metrics share a description.
type series struct {
	instrument *metrics.Instrument
	source     string
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector. If the sources are not valid, a registry refuses to register the
// collector, with an error that matches [metrics.ErrConfig] and has all faults.
func New(s metrics.Sources) *Collector {
	reader, err := metrics.New(s)
	if err != nil {
		return &Collector{err: err}
	}
	c := &Collector{reader: reader, descs: map[series]*prometheus.Desc{}}
	reader.Series(func(i *metrics.Instrument, source string) {
		variable := make([]string, 0, len(i.Labels)-1)
		for _, l := range i.Labels[1:] {
			variable = append(variable, l.Prometheus)
		}
		constant := prometheus.Labels{i.Labels[0].Prometheus: source}
		c.descs[series{i, source}] = prometheus.NewDesc(i.Prometheus, i.Help, variable, constant)
	})
	return c
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	if c.err != nil {
		descs <- prometheus.NewInvalidDesc(c.err)
		return
	}
	for _, desc := range c.descs {
		descs <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(collected chan<- prometheus.Metric) {
	if c.err != nil {
		collected <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(c.err), c.err)
		return
	}
	c.reader.Read(func(p metrics.Measurement) {
		desc := c.descs[series{p.Instrument, p.Values[0]}]
		collected <- &metric{desc: desc, point: p}
	})
}

// Dashboard is dashboard.json, for Grafana to import.
//
//go:embed dashboard.json
var Dashboard string

// Alerts is alerts.yaml, a file of rules for Prometheus.
//
//go:embed alerts.yaml
var Alerts string

// A metric is a measurement for a registry. Constant metrics of the client library would copy the
// labels of each measurement, and have no histogram that is classic and native at once.
type metric struct {
	desc  *prometheus.Desc
	point metrics.Measurement
}

// Desc implements [prometheus.Metric].
func (m *metric) Desc() *prometheus.Desc { return m.desc }

// Write implements [prometheus.Metric].
func (m *metric) Write(out *dto.Metric) error {
	p := &m.point
	out.Label = make([]*dto.LabelPair, len(p.Values))
	pairs := make([]dto.LabelPair, len(p.Values))
	for i := range p.Values {
		pairs[i].Name, pairs[i].Value = &p.Instrument.Labels[i].Prometheus, &p.Values[i]
		out.Label[i] = &pairs[i]
	}
	slices.SortFunc(out.Label, func(a, b *dto.LabelPair) int { return cmp.Compare(*a.Name, *b.Name) })
	switch p.Instrument.Kind {
	case metrics.Counter:
		out.Counter = &dto.Counter{Value: &p.Value}
	case metrics.Gauge:
		out.Gauge = &dto.Gauge{Value: &p.Value}
	case metrics.Distribution:
		out.Histogram = histogramOf(p.Histogram)
	}
	return nil
}
