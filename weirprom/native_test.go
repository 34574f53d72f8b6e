package weirprom_test

import (
	dto "github.com/prometheus/client_model/go"
	"github.com/weir-go/weir/histogram"
)

type family = dto.MetricFamily

// nativeCounts unpacks the buckets of a native histogram that are not empty.
func nativeCounts(h *dto.Histogram) (buckets []histogram.Bucket) {
	index, count, next := 0, int64(0), 0
	for _, span := range h.GetPositiveSpan() {
		index += int(span.GetOffset())
		for range span.GetLength() {
			count += h.GetPositiveDelta()[next]
			buckets = append(buckets, histogram.Bucket{Index: index, Count: uint64(count)})
			index, next = index+1, next+1
		}
	}
	return buckets
}
