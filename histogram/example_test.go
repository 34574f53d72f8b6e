package histogram_test

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/histogram"
)

// An exporter reads the buckets of a limiter. Prometheus buckets are cumulative: each
// includes all below it.
func ExampleSnapshot() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Histograms: true}))
	_ = lim.Do(context.Background(), func(context.Context) error { return nil })

	latencies := lim.Snapshot().Latencies
	var below uint64
	for _, bucket := range latencies.Buckets {
		_, upper := bucket.Bounds()
		below += bucket.Count
		fmt.Println("some below a second:", upper < 1, below)
	}
	fmt.Println("weir_latency_seconds_count", latencies.Count)
	// Output:
	// some below a second: true 1
	// weir_latency_seconds_count 1
}

func ExampleSnapshot_Quantile() {
	s := &histogram.Snapshot{Count: 4, Buckets: []histogram.Bucket{{Index: -24, Count: 3}, {Index: 0, Count: 1}}}
	fmt.Println(s.Quantile(0.5).Round(time.Millisecond), s.Quantile(0.99).Round(time.Millisecond))
	// Output: 120ms 957ms
}

func ExampleSnapshot_Add() {
	search := &histogram.Snapshot{Count: 2, Sum: 0.24, Buckets: []histogram.Bucket{{Index: -24, Count: 2}}}
	checkout := &histogram.Snapshot{Count: 1, Sum: 0.12, Buckets: []histogram.Bucket{{Index: -24, Count: 1}}}
	fmt.Println(search.Add(checkout).Buckets)
	// Output: [{-24 3}]
}

func ExampleIndex() {
	fmt.Println(histogram.Index(time.Second), histogram.Index(2*time.Second), histogram.Index(100*time.Millisecond))
	// Output: 0 8 -26
}

func ExampleBucket_Bounds() {
	lower, upper := histogram.Bucket{Index: 8}.Bounds()
	fmt.Printf("%.3f s to %.3f s\n", lower, upper)
	// Output: 1.834 s to 2.000 s
}
