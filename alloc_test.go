package weir_test

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// TestAllocations checks that the hot paths do not allocate while windows close and the limit
// moves all the time.
func TestAllocations(t *testing.T) {
	windows, up := 0, 1.0
	moving := script(func(w law.Window) law.Decision {
		windows++
		up = -up
		return law.Decision{Limit: 100 + up, Reason: law.Reason{Code: law.Above, Signal: 950, Have: 2, Want: 1}}
	})
	ctx := t.Context()
	work := func(context.Context) error { return nil }
	l := newLimiter(t, weir.Config{Initial: 100, Law: moving, Interval: time.Nanosecond, MinSamples: 1})
	full := newLimiter(t, weir.Config{Max: 1, Law: moving, Interval: time.Nanosecond, MinSamples: 1})
	hold(t, full, 1)
	fair := newLimiter(t, weir.Config{
		Initial: 100, Law: moving, Interval: time.Nanosecond, MinSamples: 1,
		Queue: weir.Queue{Size: 1, Tenants: 64},
	})
	shadow := newLimiter(t, weir.Config{Max: 2, Law: moving, Interval: time.Nanosecond, MinSamples: 1, Shadow: true})
	hold(t, shadow, 5)
	measured := newLimiter(t, weir.Config{
		Initial: 100, Law: moving, Interval: time.Nanosecond, MinSamples: 1,
		Histograms: true, Exemplar: func(context.Context) string { return "" },
	})
	ofTenant := weir.WithTenant(ctx, "acme")

	for _, path := range []struct {
		name string
		run  func()
		want float64
	}{
		{"TryAcquire and Done", func() {
			permit, ok := l.TryAcquire(t.Context())
			if !ok {
				t.Error("refused")
			}
			permit.Done(nil)
		}, 0},
		{"Acquire and Done", func() {
			permit, err := l.Acquire(ctx)
			if err != nil {
				t.Error(err)
			}
			permit.Done(nil)
		}, 0},
		{"Acquire and DoneWith", func() {
			permit, err := l.Acquire(ctx)
			defer permit.DoneWith(&err)
		}, 0},
		{"Acquire and Done of a tenant", func() {
			permit, err := fair.Acquire(ofTenant)
			if err != nil {
				t.Error(err)
			}
			permit.Done(nil)
		}, 0},
		{"Acquire and Done in shadow mode", func() {
			permit, err := shadow.Acquire(ctx)
			if err != nil {
				t.Error(err)
			}
			permit.Done(nil)
		}, 0},
		{"Acquire and Done with histograms", func() {
			permit, err := measured.Acquire(ctx)
			if err != nil {
				t.Error(err)
			}
			permit.Done(nil)
		}, 0},
		{"AcquireN and Done", func() {
			permit, err := l.AcquireN(ctx, 5)
			if err != nil {
				t.Error(err)
			}
			permit.Done(nil)
		}, 0},
		{"Do", func() {
			if err := l.Do(ctx, work); err != nil {
				t.Error(err)
			}
		}, 0},
		{"Acquire, refused", func() {
			if _, err := full.Acquire(ctx); err == nil {
				t.Error("admitted")
			}
		}, 1},
		{"TryAcquire, refused", func() {
			if _, ok := full.TryAcquire(t.Context()); ok {
				t.Error("admitted")
			}
		}, 0},
	} {
		for range 1000 { // the history fills up, the histogram finds its octaves
			path.run()
		}
		before := windows
		if got := testing.AllocsPerRun(1000, path.run); got != path.want {
			t.Errorf("%s: %v allocations: want %v", path.name, got, path.want)
		}
		if path.name != "Acquire, refused" && path.name != "TryAcquire, refused" && windows-before < 500 {
			t.Errorf("%s: only %d windows closed", path.name, windows-before)
		}
	}
	if s := l.Snapshot(); s.Raised < 1000 || len(l.History()) != 16 {
		t.Errorf("raised %d times: want the limit to have moved all along", s.Raised)
	}
}
