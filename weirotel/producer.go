package weirotel

import (
	"context"
	"encoding/hex"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/metrics"
)

// scope is the name of this package for OpenTelemetry.
const scope = "github.com/weir-go/weir/weirotel"

// A Producer hands the metrics of sources to a reader of the OpenTelemetry SDK, by WithProducer.
// Make one with [New]. It is safe for concurrent use, by any number of readers.
type Producer struct {
	reader *metrics.Reader
	start  time.Time
}

var _ sdkmetric.Producer = (*Producer)(nil)

// New returns a producer, or an error that matches [metrics.ErrConfig] and has all faults of the
// sources.
func New(s metrics.Sources) (*Producer, error) {
	reader, err := metrics.New(s)
	if err != nil {
		return nil, err
	}
	return &Producer{reader: reader, start: time.Now()}, nil
}

// Produce implements the Producer of the SDK. It returns an error only if the context has ended.
func (p *Producer) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &batch{start: p.start, now: time.Now(), at: map[string]int{}}
	p.reader.Read(b.add)
	if len(b.metrics) == 0 {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: scope}, Metrics: b.metrics}}, nil
}

// A batch gathers measurements by the name of the metric.
type batch struct {
	start, now time.Time
	metrics    []metricdata.Metrics
	at         map[string]int // index in metrics
}

func (b *batch) add(m metrics.Measurement) {
	i := m.Instrument
	at, ok := b.at[i.Name]
	if !ok {
		at = len(b.metrics)
		b.at[i.Name] = at
		b.metrics = append(b.metrics, metricdata.Metrics{Name: i.Name, Description: description(i), Unit: i.Unit})
	}
	data := &b.metrics[at].Data
	switch attributes := attributesOf(m); i.Kind {
	case metrics.Gauge:
		g, _ := (*data).(metricdata.Gauge[float64])
		g.DataPoints = append(g.DataPoints, metricdata.DataPoint[float64]{Attributes: attributes, Time: b.now, Value: m.Value})
		*data = g
	case metrics.Counter:
		s, _ := (*data).(metricdata.Sum[float64])
		s.Temporality, s.IsMonotonic = metricdata.CumulativeTemporality, true
		s.DataPoints = append(s.DataPoints, metricdata.DataPoint[float64]{Attributes: attributes, StartTime: b.start, Time: b.now, Value: m.Value})
		*data = s
	case metrics.Distribution:
		h, _ := (*data).(metricdata.ExponentialHistogram[float64])
		h.Temporality = metricdata.CumulativeTemporality
		h.DataPoints = append(h.DataPoints, exponential(m.Histogram, attributes, b.start, b.now))
		*data = h
	}
}

// description returns the help of the instrument. Lines of the table with the same name share a
// description.
func description(i *metrics.Instrument) string {
	if i.Fixed != nil {
		return "Work that came, by what became of it."
	}
	return i.Help
}

func attributesOf(m metrics.Measurement) attribute.Set {
	all := make([]attribute.KeyValue, 0, len(m.Values)+len(m.Instrument.Fixed))
	for i, l := range m.Instrument.Labels {
		all = append(all, attribute.String(l.Attribute, m.Values[i]))
	}
	for _, f := range m.Instrument.Fixed {
		all = append(all, attribute.String(f.Name, f.Value))
	}
	return attribute.NewSet(all...)
}

// exponential returns the histogram as a data point. Bucket i of OpenTelemetry ends where bucket
// i+1 of [histogram.Schema] does.
func exponential(s *histogram.Snapshot, attributes attribute.Set, start, now time.Time) metricdata.ExponentialHistogramDataPoint[float64] {
	p := metricdata.ExponentialHistogramDataPoint[float64]{
		Attributes: attributes, StartTime: start, Time: now,
		Count: s.Count, Sum: s.Sum, Scale: histogram.Schema,
	}
	if n := len(s.Buckets); n > 0 {
		first := s.Buckets[0].Index
		p.PositiveBucket.Offset = int32(first - 1)
		p.PositiveBucket.Counts = make([]uint64, s.Buckets[n-1].Index-first+1)
		for _, b := range s.Buckets {
			p.PositiveBucket.Counts[b.Index-first] = b.Count
		}
	}
	for _, e := range s.Exemplars {
		p.Exemplars = append(p.Exemplars, exemplar(e))
	}
	return p
}

// traceLength is the length of a trace's identifier in bytes.
const traceLength = 16

// exemplar names the trace if the label is the identifier of a trace in hexadecimal. Otherwise the
// exemplar has the label as an attribute.
func exemplar(e histogram.Exemplar) metricdata.Exemplar[float64] {
	x := metricdata.Exemplar[float64]{Time: e.At, Value: e.Value.Seconds()}
	if id, err := hex.DecodeString(e.Label); err == nil && len(id) == traceLength {
		x.TraceID = id
	} else {
		x.FilteredAttributes = []attribute.KeyValue{attribute.String("weir.exemplar", valid(e.Label))}
	}
	return x
}
