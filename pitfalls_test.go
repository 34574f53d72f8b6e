package weir_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// Each test covers a pitfall that other limiters fall into, which its comment describes.

// A panic in the handler leaks the permit.
func TestPanicLeaksNoPermit(t *testing.T) {
	l := fixed(t, 3, weir.Queue{})
	swallow := func(f func()) {
		defer func() { _ = recover() }()
		f()
	}
	for range 10 {
		swallow(func() { _ = l.Do(t.Context(), func(context.Context) error { panic("boom") }) })
		swallow(func() {
			permit, err := l.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer permit.DoneWith(nil)
			panic("boom")
		})
	}
	balanced(t, l)
	if s := l.Snapshot(); s.Failed != 20 {
		t.Errorf("%d failures: want 20", s.Failed)
	}
}

// A wake-up is lost, and waiters time out next to a free slot.
func TestNoLostWakeUp(t *testing.T) {
	for _, d := range []weir.Discipline{weir.FIFO, weir.Adaptive} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fixed(t, 2, weir.Queue{Size: 8, Timeout: time.Minute, Discipline: d})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var all sync.WaitGroup
				for i := range 10 {
					all.Go(func() {
						for range 50 {
							if err := l.Do(ctx, func(context.Context) error {
								time.Sleep(time.Duration(i+1) * time.Microsecond)
								return nil
							}); err != nil {
								t.Error(err)
							}
						}
					})
				}
				began := time.Now()
				all.Wait()
				// 50 rounds of 1 to 10 us on two slots; a lost wake-up shows as a minute
				if took := time.Since(began); took > 50*55*time.Microsecond {
					t.Errorf("took %v", took)
				}
				balanced(t, l)
			})
		})
	}
}

// A second Done frees somebody else's permit.
func TestSecondDoneFreesNothing(t *testing.T) {
	l := fixed(t, 2, weir.Queue{})
	permits := hold(t, l, 2)
	for range 3 {
		permits[0].Done(nil)
		permits[0].Release()
		permits[0].DoneWith(nil)
	}
	if s := l.Snapshot(); s.InFlight != 1 || s.Completed != 1 {
		t.Errorf("%d in flight, %d completed: want 1 and 1", s.InFlight, s.Completed)
	}
	hold(t, l, 1)
	if _, ok := l.TryAcquire(t.Context()); ok {
		t.Error("a third permit under a limit of 2")
	}
}

// The capacity of the queue is checked, then used.
func TestQueueIsNeverOverfull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 10, Timeout: time.Second})
		held := hold(t, l, 1)
		var full, timeout atomic.Int64
		var all sync.WaitGroup
		// All find the queue empty; only then may the first of them join it.
		ctx := gate{t.Context(), make(chan struct{})}
		for range 2000 {
			all.Go(func() {
				switch _, err := l.Acquire(ctx); {
				case errors.Is(err, weir.ErrQueueFull):
					full.Add(1)
				case errors.Is(err, weir.ErrQueueTimeout):
					timeout.Add(1)
				}
			})
		}
		synctest.Wait()
		if s := l.Snapshot(); s.Queued != 0 || s.RefusedTotal() != 0 {
			t.Fatalf("they did not stop at the gate: %v", l)
		}
		close(ctx.open)
		synctest.Wait()
		if s := l.Snapshot(); s.Queued != 10 {
			t.Errorf("%d queued: want 10", s.Queued)
		}
		all.Wait()
		if full.Load() != 1990 || timeout.Load() != 10 {
			t.Errorf("%d found the queue full, %d timed out: want 1990 and 10", full.Load(), timeout.Load())
		}
		held[0].Done(nil)
		balanced(t, l)
	})
}

// A gate is a context that blocks callers that read its priority, which a request does on its
// way into the queue.
type gate struct {
	context.Context //nolint:containedctx // it is a context

	open chan struct{}
}

func (g gate) Value(key any) any {
	<-g.open
	return g.Context.Value(key)
}

// A window in which everything was dropped never closes.
func TestWindowWithoutSamplesCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Initial: 1, Law: watching(&windows), Window: 3 * time.Second})
		held := hold(t, l, 1)
		for range 100 { // ten seconds in which all is refused
			time.Sleep(100 * time.Millisecond)
			if _, ok := l.TryAcquire(t.Context()); ok {
				t.Fatal("admitted above the limit")
			}
		}
		if len(windows) < 3 {
			t.Fatalf("%d windows closed in 10 s: want one a second or after the look-back of 3 s", len(windows))
		}
		if w := windows[0]; w.Samples != 0 || w.Refused == 0 || w.Saturated < 0.99 {
			t.Errorf("the law was shown %+v", w)
		}
		held[0].Done(nil)
	})
	synctest.Test(t, func(t *testing.T) { // and a law can act on it
		l := newLimiter(t, weir.Config{Initial: 10, Law: law.Band{MaxErrorRate: 0.1}})
		for range 10 {
			for range 10 {
				permit, ok := l.TryAcquire(t.Context())
				if ok {
					permit.Done(context.DeadlineExceeded)
				}
			}
			time.Sleep(250 * time.Millisecond)
		}
		if got := l.Snapshot().Limit; got >= 10 {
			t.Errorf("limit %d although all work timed out", got)
		}
	})
}

// A callback runs in the middle of an update, and another one interleaves.
func TestHooksSeeWholeUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Max: 100, Initial: 50})
		var seen []weir.Event
		c := weir.Config{Max: 30}
		c.OnEvent = func(e weir.Event) {
			seen = append(seen, e)
			if s := l.Snapshot(); s.Limit != 30 || s.Max != 30 {
				t.Errorf("limit %d and maximum %d within the update to 30", s.Limit, s.Max)
			}
			c.Max, c.OnEvent = 10, func(e weir.Event) { seen = append(seen, e) }
			if err := l.Update(c); err != nil {
				t.Error(err)
			}
		}
		if err := l.Update(c); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, e := range seen {
			got = append(got, e.Change.From, e.Change.To, int(e.Seq))
		}
		if want := []int{50, 30, 1, 30, 10, 2}; !slices.Equal(got, want) {
			t.Errorf("from, to and number of the events: %v: want %v", got, want)
		}
	})
}

// Latencies are truncated to milliseconds, so fast services never adapt.
func TestFastWorkIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Initial: 4, Law: law.Band{Target: 200 * time.Microsecond}, MinSamples: 5})
		load(t.Context(), l, 4, 1100*time.Millisecond, always(450*time.Microsecond))
		s := l.Snapshot()
		if s.Limit != 2 {
			t.Errorf("limit %d: want it cut from 4 to 2", s.Limit)
		}
		for name, d := range map[string]time.Duration{"p50": s.P50, "p95": s.P95, "mean": s.Mean, "EWMA": s.EWMA} {
			if d < 432*time.Microsecond || d > 468*time.Microsecond {
				t.Errorf("%s %v: want 450us within 4%%", name, d)
			}
		}
	})
}

// After a pause, a burst is judged by the measurements before it.
func TestPauseEmptiesTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Initial: 4, Law: watching(&windows), Window: 5 * time.Second, MinSamples: 5})
		load(t.Context(), l, 4, 900*time.Millisecond, always(300*time.Millisecond))
		time.Sleep(10 * time.Second)
		if s := l.Snapshot(); s.Samples != 0 {
			t.Errorf("%d samples in the snapshot after the pause: want 0", s.Samples)
		}
		resumed := len(windows)
		load(t.Context(), l, 4, 2*time.Second, always(10*time.Millisecond))
		if len(windows) == resumed {
			t.Fatal("no window closed")
		}
		for _, w := range windows[resumed:] {
			if p := w.Quantile(1); w.Samples > 0 && p > 11*time.Millisecond {
				t.Errorf("the slowest of %d samples took %v: want 10ms, for the others are stale", w.Samples, p)
			}
			if w.Elapsed > 5*time.Second {
				t.Errorf("window of %v", w.Elapsed)
			}
		}
	})
}
