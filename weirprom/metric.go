package weirprom

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/weir-go/weir/metrics"
)

// A metric is a point as a registry takes it. Constant metrics of the client library would copy the
// labels of each and have no histogram that is classic and native at once.
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
