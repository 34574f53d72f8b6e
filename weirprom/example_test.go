package weirprom_test

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirprom"
)

func show(reg *prometheus.Registry, name string) {
	n, err := testutil.GatherAndCount(reg, name)
	fmt.Println(name, n, err)
}

// A limiter.
func ExampleNew() {
	lim := weir.Must(weir.New(weir.Config{Name: "search", Histograms: true}))
	reg := prometheus.NewRegistry() // promhttp.HandlerFor(reg, ...) serves it
	reg.MustRegister(weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{lim}}))

	_ = lim.Do(context.Background(), func(context.Context) error { return nil })
	show(reg, "weir_limit")
	show(reg, "weir_latency_seconds")
	// Output:
	// weir_limit 1 <nil>
	// weir_latency_seconds 1 <nil>
}
