// Package weirotel shows the sources of package metrics, such as limiters and sets, to
// OpenTelemetry: their metrics by a [Producer], and the refusals and queue waits of limiters as
// events of the span of the work by [Traced].
//
//	producer, err := weirotel.New(metrics.Sources{Limiters: []*weir.Limiter{lim}})
//	...
//	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithProducer(producer))
//
// docs/metrics.md has the names, units and attributes; package metrics bounds the attributes. A
// producer hands out the counts of the limiters, so no measurement is made twice, and histograms
// are exponential, of scale 3: the metric API has no instrument that observes a histogram.
//
// Counters and histograms count since their source was made. Their start time is the time when the
// producer was made.
package weirotel
