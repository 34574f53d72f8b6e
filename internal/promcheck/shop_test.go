package promcheck

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/throttle"
	"github.com/weir-go/weir/weirprom"
)

// A shop is a program that is well or in trouble. In trouble its work takes a hundred times
// as long, and its store is first at its limit and then does not answer. The API that it calls
// refuses half of the calls, and takes nearly as long as they may.
type shop struct {
	sick    atomic.Bool
	gone    atomic.Bool // the store does not answer
	calls   atomic.Uint64
	sources metrics.Sources
}

func (s *shop) work(ctx context.Context) error { return work(ctx, s.sick.Load()) }

// work takes a hundred times as long where it is in trouble.
func work(ctx context.Context, sick bool) error {
	if sick {
		return sleep(ctx, 5*time.Second)
	}
	return sleep(ctx, 50*time.Millisecond)
}

func sleep(ctx context.Context, took time.Duration) error {
	select {
	case <-time.After(took):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *shop) call(ctx context.Context, lim *weir.Limiter) {
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	permit, err := lim.Acquire(ctx)
	if err != nil {
		return
	}
	took := 50 * time.Millisecond
	if s.sick.Load() {
		if took = 195 * time.Millisecond; s.calls.Add(1)%2 == 0 {
			permit.Finish(weir.Overloaded)
			return
		}
	}
	permit.Done(sleep(ctx, took))
}

// Name implements load.Source.
func (s *shop) Name() string { return "store" }

// Poll implements load.Source.
func (s *shop) Poll(context.Context) (load.Sample, error) {
	switch {
	case s.gone.Load():
		return load.Sample{}, errors.New("the store does not answer")
	case s.sick.Load():
		return load.Sample{Readings: []load.Reading{{Name: "tables", Value: 20, Limit: 15}}}, nil
	}
	return load.Sample{Readings: []load.Reading{{Name: "tables", Value: 2, Limit: 15}}}, nil
}

func open(ctx context.Context, t *testing.T) *shop {
	s := &shop{}
	band := law.Band{Target: 100 * time.Millisecond}
	search := must.Have(weir.New(weir.Config{
		Name: "search", Min: 2, Max: 50, Law: band, Histograms: true, MinSamples: 2,
		Queue: weir.Queue{Size: 20, Timeout: time.Second},
	}))(t)
	trial := must.Have(weir.New(weir.Config{Name: "trial", Min: 2, Max: 50, Law: band, Shadow: true, MinSamples: 2}))(t)
	api := must.Have(weir.New(weir.Config{Name: "api", Max: 20, Initial: 20, Law: law.Fixed{}, Histograms: true, MinSamples: 2}))(t)
	routes := must.Have(bulkhead.New(bulkhead.Config{
		Max: 8, Default: bulkhead.Compartment{Config: weir.Config{Max: 6, Initial: 6, Law: law.Fixed{}}}, // so that one key can borrow
	}))(t)
	monitor := must.Have(load.New(load.Config{Sources: []load.Source{s}}))(t)
	writes := must.Have(throttle.New(throttle.Config{Name: "db", Monitor: monitor}))(t)
	slots := must.Have(capacity.New(capacity.Vector{"slots": 6}))(t)
	jobs := must.Have(pool.New(pool.Config{Capacity: slots, Source: pool.Slice(nil)}))(t)

	go func() { _ = monitor.Run(ctx) }()
	go func() { _ = writes.Run(ctx) }()
	for range 20 {
		go repeat(ctx, func() { _ = search.Do(ctx, s.work) })
		go repeat(ctx, func() { _ = trial.Do(ctx, s.work) })
		go repeat(ctx, func() { s.call(ctx, api) })
		go repeat(ctx, func() { _ = routes.Do(ctx, "GET /search", s.work) })
	}
	for range 3 {
		go repeat(ctx, func() { _ = routes.Do(ctx, "GET /item", s.work) })
	}
	go repeat(ctx, func() { _ = writes.Do(ctx, throttle.Write, 1, s.work) })
	s.sources = metrics.Sources{
		Limiters:   []*weir.Limiter{search, trial, api},
		Sets:       map[string]*bulkhead.Set{"routes": routes},
		Throttles:  []*throttle.Throttle{writes},
		Pools:      map[string]*pool.Pool{"jobs": jobs},
		Capacities: map[string]*capacity.Capacity{"slots": slots},
		Monitors:   map[string]*load.Monitor{"store": monitor},
	}
	return s
}

// repeat calls f at most twice a second until ctx ends.
func repeat(ctx context.Context, f func()) {
	for ctx.Err() == nil {
		f()
		_ = sleep(ctx, 500*time.Millisecond)
	}
}

func (s *shop) registry() *prometheus.Registry {
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(weirprom.New(s.sources))
	return reg
}
