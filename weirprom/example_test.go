package weirprom_test

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/throttle"
	"github.com/weir-go/weir/weirprom"
)

// show prints how many series of a metric a registry has.
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

// A set, with series for each route of the mux and 20 unknown keys at most.
func ExampleNew_set() {
	set, err := bulkhead.New(bulkhead.Config{Max: 100})
	if err != nil {
		panic(err)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(weirprom.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}, MaxKeys: 20}))

	_ = set.Do(context.Background(), "GET /search", func(context.Context) error { return nil })
	show(reg, "weir_key_limit")
	// Output: weir_key_limit 1 <nil>
}

// A throttle and its monitor.
func ExampleNew_throttle() {
	mon, _ := load.New(load.Config{Sources: []load.Source{&load.Memory{}}})
	th, _ := throttle.New(throttle.Config{Name: "db", Monitor: mon})
	reg := prometheus.NewRegistry()
	reg.MustRegister(weirprom.New(metrics.Sources{
		Throttles: []*throttle.Throttle{th},
		Monitors:  map[string]*load.Monitor{"db": mon},
	}))

	show(reg, "weir_throttle_load") // reads and writes
	// Output: weir_throttle_load 2 <nil>
}
