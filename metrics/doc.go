// Package metrics is the table of all metrics of Weir: names, units and labels, and a [Reader]
// that fills it. The modules weirprom and weirotel render it for Prometheus and OpenTelemetry. Use
// it for an exporter to another system.
//
//	reader, err := metrics.New(metrics.Sources{Limiters: []*weir.Limiter{lim}})
//	...
//	reader.Read(func(p metrics.Measurement) { send(p.Instrument.Prometheus, p.Values, p.Value) })
//
// docs/metrics.md lists all metrics.
//
// # Cardinality
//
// Every label has a bound. Names, outcomes and reasons come from the configuration and from this
// module. Keys of a set come from outside: at most [Sources].MaxKeys unknown keys of each set have
// series, in addition to the keys that its configuration names. The totals of a set include all
// keys. A value that is longer than [MaxLabel] bytes, or no valid UTF-8, is cut or repaired, and
// ends in a hash of the original, so that different values stay different.
//
// # Cost
//
// Reading delays work for a fraction of a microsecond a limiter. Without reads there is no cost.
package metrics
