package weirotel

import (
	"encoding/hex"
	"time"

	"github.com/weir-go/weir/histogram"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

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

// traceLength is how many bytes the identifier of a trace has.
const traceLength = 16

// exemplar names the trace if the label is the identifier of one in hexadecimal, and has the label
// as an attribute if not.
func exemplar(e histogram.Exemplar) metricdata.Exemplar[float64] {
	x := metricdata.Exemplar[float64]{Time: e.At, Value: e.Value.Seconds()}
	if id, err := hex.DecodeString(e.Label); err == nil && len(id) == traceLength {
		x.TraceID = id
	} else {
		x.FilteredAttributes = []attribute.KeyValue{attribute.String("weir.exemplar", valid(e.Label))}
	}
	return x
}
