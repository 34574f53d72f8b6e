package proxy

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/weir-go/weir/bulkhead"
)

// compartments is the name of the set in metrics.
const compartments = "compartments"

// withoutOverflow removes the compartment of unknown keys, because routes have only known
// ones.
func withoutOverflow(s bulkhead.Snapshot) bulkhead.Snapshot {
	unknown := s.ByKey[bulkhead.Overflow]
	delete(s.ByKey, bulkhead.Overflow)
	s.Total.Limit -= unknown.Limit
	s.Total.Min -= unknown.Min
	s.Total.Max -= unknown.Max
	return s
}

// known gathers the metrics without the compartment of unknown keys.
type known struct{ prometheus.Gatherer }

// Gather implements [prometheus.Gatherer].
func (k known) Gather() ([]*dto.MetricFamily, error) {
	families, err := k.Gatherer.Gather()
	unknown := map[string]float64{} // gauges, by name
	for _, f := range families {
		f.Metric = slices.DeleteFunc(f.Metric, func(m *dto.Metric) bool {
			overflow := has(m, "key", bulkhead.Overflow)
			if overflow {
				unknown[f.GetName()] = m.GetGauge().GetValue()
			}
			return overflow
		})
	}
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 }) // an empty family cannot be written
	for _, f := range families {
		excess, ok := unknown[ofKey[f.GetName()]]
		for _, m := range f.Metric {
			if ok && has(m, "limiter", compartments) {
				*m.Gauge.Value -= excess
			}
		}
	}
	return families, err
}

// ofKey maps each gauge of the set to the gauge of a key that it sums.
var ofKey = map[string]string{
	"weir_limit": "weir_key_limit", "weir_limit_min": "weir_key_limit_min", "weir_limit_max": "weir_key_limit_max",
}

func has(m *dto.Metric, label, value string) bool {
	return slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == label && l.GetValue() == value })
}
