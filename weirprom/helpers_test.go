package weirprom_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/throttle"
)

type backlog struct{}

func (backlog) Name() string { return "store" }

func (backlog) Poll(context.Context) (load.Sample, error) {
	return load.Sample{Readings: []load.Reading{
		{Name: "level-0 tables", Value: 9, Limit: 15},
		{Name: "level-0 tables", Value: 3, Limit: 15}, // of another shard: a second series of the name would fail each scrape
		{Name: "broken", Value: 1, Limit: 2, Err: errors.New("lost")},
	}}, nil
}

func withEverything(t *testing.T, f func(*testing.T, metrics.Sources)) {
	synctest.Test(t, func(t *testing.T) { f(t, everything(t)) })
}

// everything is one source of each kind, with some work done.
func everything(t testing.TB) metrics.Sources {
	ctx := t.Context()
	lim := weir.Must(weir.New(weir.Config{
		Name: "search", Initial: 2, Max: 50, Law: law.Band{Target: 100 * time.Millisecond}, Histograms: true,
		Queue:    weir.Queue{Size: 10, Timeout: time.Second},
		Exemplar: func(context.Context) string { return "4bf92f3577b34da6a3ce929d0e0e4736" },
	}))
	set := must.Have(bulkhead.New(bulkhead.Config{Max: 10, ByKey: map[string]bulkhead.Compartment{
		"GET /search": {Reserved: 2, Budget: time.Second, Config: weir.Config{Histograms: true}},
	}}))(t)
	for range 3 {
		_ = lim.Do(ctx, func(context.Context) error { time.Sleep(120 * time.Millisecond); return nil })
		_ = set.Do(ctx, "GET /search", func(context.Context) error { time.Sleep(time.Millisecond); return errors.New("lost") })
		_ = set.Do(ctx, "GET /unknown", func(context.Context) error { return nil })
	}
	dated, cancel := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	search := must.Have(set.Handle("GET /search"))(t)
	held := make([]weir.Permit, search.Snapshot().Limit)
	for i := range held {
		held[i] = must.Have(search.Acquire(ctx))(t)
	}
	for range 2 { // deadlines are read once the limit was reached
		_, _ = search.TryAcquire(dated)
	}
	for _, permit := range held {
		permit.Release()
	}
	first, _ := lim.Acquire(ctx)
	second, _ := lim.Acquire(ctx)
	_, _ = lim.TryAcquire(ctx)
	waited := make(chan error)
	go func() {
		waited <- lim.Do(dated, func(context.Context) error { return nil })
	}()
	time.Sleep(10 * time.Millisecond)
	first.Done(nil)
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Done(nil) })

	mon := must.Have(load.New(load.Config{Sources: []load.Source{backlog{}}}))(t)
	run, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- mon.Run(run) }()
	time.Sleep(250 * time.Millisecond)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	th := must.Have(throttle.New(throttle.Config{Name: "db", Monitor: mon}))(t)
	_ = th.Do(ctx, throttle.Write, 3, func(context.Context) error { return nil })

	slots := must.Have(capacity.New(capacity.Vector{"slots": 6}))(t)
	jobs := must.Have(pool.New(pool.Config{Capacity: slots, Source: pool.Slice(nil)}))(t)
	gov := must.Have(memory.New(memory.Config{Target: 64 << 20}))(t)
	t.Cleanup(gov.Close)
	return metrics.Sources{
		Limiters:   []*weir.Limiter{lim},
		Sets:       map[string]*bulkhead.Set{"routes": set},
		Throttles:  []*throttle.Throttle{th},
		Pools:      map[string]*pool.Pool{"jobs": jobs},
		Capacities: map[string]*capacity.Capacity{"slots": slots},
		Monitors:   map[string]*load.Monitor{"store": mon},
		Governors:  map[string]*memory.Governor{"import": gov},
	}
}
