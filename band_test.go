package weir_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// These tests run law.Band with a target of 100 ms and a band of 90 to 110 ms.

func bandOf100ms(t *testing.T, initial int) *weir.Limiter {
	t.Helper()
	return newLimiter(t, weir.Config{
		Name: "band", Min: 1, Max: 10, Initial: initial,
		Law:        law.Band{Target: 100 * time.Millisecond, Tolerance: 0.1, Factor: 0.7},
		MinSamples: 5,
		Queue:      weir.Queue{Size: 100, Timeout: time.Minute},
	})
}

// background keeps 20 callers at work on the limiter for the given time, and returns once the
// clock is between two intervals.
func background(t *testing.T, l *weir.Limiter, lasting time.Duration, latency func() time.Duration) (wait func()) {
	var all sync.WaitGroup
	all.Go(func() { load(t.Context(), l, 20, lasting, latency) })
	time.Sleep(500 * time.Millisecond)
	return all.Wait
}

func TestRisesWhenLatencyIsLow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bandOf100ms(t, 2)
		wait := background(t, l, 12*time.Second, always(40*time.Millisecond))
		got := limits(l, 11, time.Second)
		if want := []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10}; !slices.Equal(got, want) {
			t.Errorf("limits %v: want %v", got, want)
		}
		wait()
		if s := l.Snapshot(); s.Raised != 8 || s.Cut != 0 {
			t.Errorf("raised %d times and cut %d times: want 8 and 0", s.Raised, s.Cut)
		}
		balanced(t, l)
	})
}

func TestFallsFastWhenLatencyIsHigh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bandOf100ms(t, 10)
		wait := background(t, l, 16*time.Second, always(500*time.Millisecond))
		got := limits(l, 4, time.Second)
		if want := []int{10, 7, 4, 2}; !slices.Equal(got, want) {
			t.Errorf("limits %v: want %v", got, want)
		}
		wait()
		if got := l.Snapshot().Limit; got != 1 {
			t.Errorf("limit %d in the end: want 1, the minimum", got)
		}
		change := l.History()[0].String()
		if !strings.HasPrefix(change, "p95 ") || !strings.HasSuffix(change, "ms above 110ms: cut 10 to 7") {
			t.Errorf("first change: %q", change)
		}
	})
}

func TestHoldsWithinTheBand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bandOf100ms(t, 5)
		var n atomic.Int64
		wait := background(t, l, 30*time.Second, func() time.Duration {
			return time.Duration(95+n.Add(7)%11) * time.Millisecond // 95 to 105 ms
		})
		wait()
		if changes := l.History(); len(changes) > 0 {
			t.Errorf("the limit moved: %v", changes)
		}
	})
}

func TestNeverExceedsTheHardCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 3, weir.Queue{Size: 50, Timeout: time.Minute})
		var running, most, served atomic.Int64
		began := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				err := l.Do(t.Context(), func(context.Context) error {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(10 * time.Millisecond)
					running.Add(-1)
					return nil
				})
				if err == nil {
					served.Add(1)
				}
			})
		}
		all.Wait()
		if most.Load() != 3 || served.Load() != 50 {
			t.Errorf("at most %d at once and %d served: want 3 and 50", most.Load(), served.Load())
		}
		if took := time.Since(began); took != 170*time.Millisecond {
			t.Errorf("took %v: want 17 rounds of 10ms", took)
		}
		balanced(t, l)
	})
}

func TestQueueTimeoutAndQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 1, Timeout: 20 * time.Millisecond})
		began := time.Now()
		var all sync.WaitGroup
		job := func(want error, after time.Duration) {
			ran := false
			all.Go(func() {
				err := l.Do(t.Context(), func(context.Context) error {
					ran = true
					time.Sleep(100 * time.Millisecond)
					return nil
				})
				if !errors.Is(err, want) || ran != (want == nil) || time.Since(began) != after {
					t.Errorf("%v after %v, ran: %v; want %v after %v", err, time.Since(began), ran, want, after)
				}
			})
			synctest.Wait()
		}
		job(nil, 100*time.Millisecond)
		job(weir.ErrQueueTimeout, 20*time.Millisecond)
		job(weir.ErrQueueFull, 0)
		all.Wait()
		s := l.Snapshot()
		if s.Admitted != 1 || s.Refused[weir.ReasonQueueTimeout] != 1 || s.Refused[weir.ReasonQueueFull] != 1 {
			t.Errorf("admitted %d, refused %v: want one each", s.Admitted, s.Refused)
		}
		balanced(t, l)
	})
}

func TestRecoversWithTheDownstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bandOf100ms(t, 10)
		var fast atomic.Bool
		wait := background(t, l, 30*time.Second, func() time.Duration {
			if fast.Load() {
				return 40 * time.Millisecond
			}
			return 500 * time.Millisecond
		})
		time.Sleep(5 * time.Second)
		low := l.Snapshot().Limit
		fast.Store(true)
		recovery := limits(l, 20, time.Second)
		wait()
		if low > 2 {
			t.Errorf("limit %d after 5 s of slow work: want 2 or less", low)
		}
		if last := recovery[len(recovery)-1]; last != 10 || !slices.IsSorted(recovery[1:]) {
			t.Errorf("limits %v after the recovery: want a steady rise to 10", recovery)
		}
		for i := 2; i < len(recovery); i++ {
			if recovery[i] > recovery[i-1]+1 {
				t.Errorf("limits %v: want one step at a time", recovery)
			}
		}
	})
}
