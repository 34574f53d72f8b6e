package weir_test

import (
	"context"
	"fmt"

	"github.com/weir-go/weir"
)

// A limiter with histograms gives an exporter the latencies and queue waits of all work since
// the start.
func ExampleConfig_histograms() {
	type traceID struct{} // tracing libraries have a function for this
	lim := weir.Must(weir.New(weir.Config{
		Name:       "search",
		Histograms: true,
		Exemplar: func(ctx context.Context) string {
			id, _ := ctx.Value(traceID{}).(string)
			return id
		},
	}))

	ctx := context.WithValue(context.Background(), traceID{}, "4bf92f3577b34da6")
	_ = lim.Do(ctx, func(context.Context) error { return nil })

	s := lim.Snapshot()
	fmt.Println(s.Latencies.Count, "of", s.Completed, "measured;", s.QueueWaits.Count, "waited;", s.Peak, "at once")
	fmt.Println("one of them:", s.Latencies.Exemplars[0].Label)
	// Output:
	// 1 of 1 measured; 0 waited; 1 at once
	// one of them: 4bf92f3577b34da6
}

// A metric shows reasons that have not happened yet as 0.
func ExampleReasons() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	lim.Close()
	_, _ = lim.TryAcquire(context.Background())

	refused := lim.Snapshot().Refused
	for _, reason := range weir.Reasons()[:7] {
		fmt.Printf("weir_refused_total{reason=%q} %d\n", reason, refused[reason])
	}
	// Output:
	// weir_refused_total{reason="bad key"} 0
	// weir_refused_total{reason="tenant over its share"} 0
	// weir_refused_total{reason="queue full"} 0
	// weir_refused_total{reason="queue timeout"} 0
	// weir_refused_total{reason="deadline"} 0
	// weir_refused_total{reason="too heavy"} 0
	// weir_refused_total{reason="closed"} 1
}
