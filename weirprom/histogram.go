package weirprom

import (
	"math"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/weir-go/weir/histogram"
)

// The classic buckets end at powers of two, where buckets of the schema end too, so their counts
// are exact: from 2^-13 s, an eighth of a millisecond, to 2^6 s, a minute. Each finer bucket would
// cost a series.
const (
	lowest, highest = -13, 6
	perOctave       = 1 << histogram.Schema
)

// histogramOf returns a histogram that is classic and native.
func histogramOf(s *histogram.Snapshot) *dto.Histogram {
	h := &dto.Histogram{
		SampleCount: new(s.Count), SampleSum: new(s.Sum),
		Schema: new(int32(histogram.Schema)), ZeroThreshold: new(0.0), ZeroCount: new(uint64(0)),
	}
	native(h, s.Buckets)
	classic(h, s.Buckets)
	for _, e := range s.Exemplars {
		x := exemplar(e)
		h.Exemplars = append(h.Exemplars, x)
		if octave := octaveOf(histogram.Index(e.Value)); octave <= highest {
			h.Bucket[max(0, octave-lowest)].Exemplar = x
		}
	}
	return h
}

// native adds the buckets as spans of neighbours, and each count as its difference to the count
// before.
func native(h *dto.Histogram, buckets []histogram.Bucket) {
	last, next := int64(0), 0
	for i, b := range buckets {
		if i == 0 || b.Index != next {
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(int32(b.Index - next)), Length: new(uint32(0))})
		}
		*h.PositiveSpan[len(h.PositiveSpan)-1].Length++
		h.PositiveDelta = append(h.PositiveDelta, int64(b.Count)-last)
		last, next = int64(b.Count), b.Index+1
	}
	if len(buckets) == 0 { // without a span the histogram would be classic only
		h.PositiveSpan = []*dto.BucketSpan{{Offset: new(int32(0)), Length: new(uint32(0))}}
	}
}

// classic adds buckets that each count all values up to their end. Values above the last bucket are
// only in the count of the histogram.
func classic(h *dto.Histogram, buckets []histogram.Bucket) {
	below := uint64(0)
	for octave := lowest; octave <= highest; octave++ {
		for len(buckets) > 0 && octaveOf(buckets[0].Index) <= octave {
			below += buckets[0].Count
			buckets = buckets[1:]
		}
		h.Bucket = append(h.Bucket, &dto.Bucket{CumulativeCount: new(below), UpperBound: new(math.Exp2(float64(octave)))})
	}
}

// octaveOf returns the exponent of the first power of two, in seconds, at or above the end of a
// bucket.
func octaveOf(index int) int { return (index + perOctave - 1) >> histogram.Schema }

// exemplar returns an exemplar whose label leads to a trace. The client library allows 128 runes
// for the label, the name included.
func exemplar(e histogram.Exemplar) *dto.Exemplar {
	const name = "trace_id"
	value := []rune(strings.ToValidUTF8(e.Label, "\uFFFD"))
	value = value[:min(len(value), prometheus.ExemplarMaxRunes-len(name))]
	return &dto.Exemplar{
		Label:     []*dto.LabelPair{{Name: new(name), Value: new(string(value))}},
		Value:     new(e.Value.Seconds()),
		Timestamp: timestamppb.New(e.At),
	}
}
