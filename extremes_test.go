package weir_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// The longest durations mean for ever.
func TestLongestQueueTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 1, Timeout: math.MaxInt64})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		held[0].Done(nil)
		admitted(t, waiting).Done(nil)
	})
}

func TestLongestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Initial: 1, Law: watching(&windows), MinSamples: 1, Interval: math.MaxInt64})
		for range 5 {
			_ = l.Do(t.Context(), func(context.Context) error { time.Sleep(time.Millisecond); return nil })
		}
		if len(windows) > 0 {
			t.Errorf("%d windows closed", len(windows))
		}
	})
}

func TestLongestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Initial: 1, Law: watching(&windows), MinSamples: 100, Window: math.MaxInt64})
		for range 5 {
			_ = l.Do(t.Context(), func(context.Context) error { time.Sleep(time.Second); return nil })
		}
		if len(windows) > 0 {
			t.Errorf("%d windows closed with too few samples", len(windows))
		}
	})
}

func TestFarthestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 1})
		held := hold(t, l, 1)
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(math.MaxInt64))
		defer cancel()
		waiting := ask(ctx, l, 1)
		held[0].Done(nil)
		admitted(t, waiting).Done(nil)
	})
}

// The drain rate stays finite however many completions one instant has.
func TestDrainRateStaysFinite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{})
		p := hold(t, l, 1)[0]
		time.Sleep(time.Second)
		p.Done(nil)
		for i := range 3000 {
			hold(t, l, 1)[0].Done(nil)
			if r := l.Snapshot().DrainRate; math.IsInf(r, 0) {
				t.Fatalf("%v after %d; as JSON: %v", r, i, l)
			}
			if !json.Valid([]byte(l.String())) {
				t.Fatal(l)
			}
		}
	})
}

// In a bubble the clock reads the year 2000, before the process began: a limiter measures
// there as usual.
func TestClockInBubbles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{MinSamples: 1, Law: script(func(w law.Window) law.Decision {
			windows = append(windows, w)
			return law.Decision{Limit: float64(w.Limit)}
		})})
		for range 2 {
			p := hold(t, l, 1)[0]
			time.Sleep(time.Second)
			p.Done(nil)
		}
		if w := windows[1]; w.Elapsed != time.Second || w.Peak != 1 {
			t.Errorf("elapsed %v, peak %d: want 1s and 1", w.Elapsed, w.Peak)
		}
	})
}
