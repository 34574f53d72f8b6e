package metrics_test

import (
	"fmt"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/metrics"
)

// An exporter for a system of one's own.
func ExampleNew() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	reader, err := metrics.New(metrics.Sources{Limiters: []*weir.Limiter{lim}})
	if err != nil {
		panic(err)
	}
	reader.Read(func(p metrics.Measurement) {
		if p.Instrument.Kind == metrics.Gauge {
			fmt.Println(p.Instrument.Prometheus, p.Values, p.Value)
		}
	})
	// Output:
	// weir_limit [search] 4
	// weir_limit_min [search] 1
	// weir_limit_max [search] 100000
	// weir_in_flight [search] 0
	// weir_resting [search] 0
	// weir_queued [search] 0
	// weir_oldest_age_seconds [search] 0
	// weir_shadow [search] 0
}

func ExampleReader_Series() {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	reader, err := metrics.New(metrics.Sources{Limiters: []*weir.Limiter{lim}})
	if err != nil {
		panic(err)
	}
	counters := 0
	reader.Series(func(i *metrics.Instrument, _ string) {
		if i.Kind == metrics.Counter {
			counters++
		}
	})
	fmt.Println(counters, "counters")
	// Output: 6 counters
}

func ExampleTable() {
	first := metrics.Table()[0]
	fmt.Println(first.Prometheus, first.Name, first.Kind, first.Labels[0].Prometheus)
	// Output: weir_limit weir.limiter.limit gauge limiter
}
