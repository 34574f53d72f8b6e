package weir_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/law"
)

// hearsDeadlines returns a limiter of one slot whose law leaves out deadlines below 10 ms, and the
// median that the law saw last.
func hearsDeadlines() (lim *weir.Limiter, heard *time.Duration) {
	heard = new(time.Duration)
	return weir.Must(weir.New(weir.Config{
		Min: 1, Max: 1, Queue: weir.Queue{Size: 0}, Interval: time.Second, MinSamples: 1,
		Law: script(func(w law.Window) law.Decision {
			*heard = w.Deadline
			return law.Decision{Limit: 1, Next: law.Plan{MinDeadline: 10 * time.Millisecond}}
		}),
	})), heard
}

// deadlineHeard is the median that the law sees after arrivals at a full limiter, with the
// given number of arrivals for each context.
func deadlineHeard(t *testing.T, arrivals map[context.Context]int) time.Duration {
	t.Helper()
	lim, heard := hearsDeadlines()
	decide := func() {
		permit, ok := lim.TryAcquire(t.Context())
		if !ok {
			t.Fatal("the limiter is full")
		}
		_, _ = lim.TryAcquire(t.Context()) // the limit is reached
		time.Sleep(time.Second)
		permit.Done(nil)
	}
	decide()
	for range 4 { // the first round only shows that there are deadlines
		for ctx, n := range arrivals {
			for range n {
				if permit, err := lim.Acquire(ctx); err == nil {
					permit.Release()
				}
			}
		}
		decide()
	}
	return *heard
}

func TestDeadlinesReachTheLaw(t *testing.T) {
	within := func(t *testing.T, left time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), left)
		t.Cleanup(cancel)
		return ctx
	}
	const soon, late = time.Minute, time.Hour
	for name, c := range map[string]struct {
		arrivals func(*testing.T) map[context.Context]int
		want     time.Duration // 0 for no deadline
	}{
		"all": {func(t *testing.T) map[context.Context]int {
			return map[context.Context]int{within(t, soon): 30}
		}, soon},
		"most": {func(t *testing.T) map[context.Context]int {
			return map[context.Context]int{within(t, soon): 20, t.Context(): 8}
		}, soon},
		"few": {func(t *testing.T) map[context.Context]int {
			return map[context.Context]int{within(t, soon): 10, t.Context(): 20}
		}, 0},
		"most are late": {func(t *testing.T) map[context.Context]int {
			return map[context.Context]int{within(t, soon): 10, within(t, late): 20}
		}, late},
		"strangers": {func(t *testing.T) map[context.Context]int {
			return map[context.Context]int{deadline.Stranger(within(t, soon)): 20, within(t, late): 10}
		}, 0},
		"years": {func(t *testing.T) map[context.Context]int {
			return map[context.Context]int{within(t, 200*365*24*time.Hour): 30}
		}, 200 * 365 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := deadlineHeard(t, c.arrivals(t))
				if off := (heard - c.want).Abs(); off > max(10*time.Second, c.want/1000) {
					t.Errorf("the law hears of %v, want about %v", heard, c.want)
				}
			})
		})
	}
}

// Deadlines below the law's minimum are left out: all of these, so that only work without a
// deadline remains.
func TestShortDeadlinesAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, heard := hearsDeadlines()
		*heard = -1
		for range 4 {
			held, _ := lim.TryAcquire(t.Context())
			for i := range 100 {
				left := time.Millisecond
				if i%10 >= 6 {
					left = time.Hour
				}
				ctx, cancel := context.WithTimeout(t.Context(), left)
				if i%10 > 6 {
					ctx = t.Context()
				}
				_, _ = lim.TryAcquire(ctx)
				cancel()
			}
			time.Sleep(time.Second)
			held.Done(nil)
		}
		if *heard != 0 {
			t.Errorf("the law hears of %v, want none", *heard)
		}
	})
}

// BenchmarkDeadline prints the cost of a deadline in the context, at a limit that was
// reached.
func BenchmarkDeadline(b *testing.B) {
	lim := weir.Must(weir.New(weir.Config{Min: 1, Max: 1, Law: law.Fixed{}}))
	held, _ := lim.TryAcquire(b.Context())
	_, _ = lim.TryAcquire(b.Context())
	held.Done(nil)
	dated, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	for i, ctx := range []context.Context{b.Context(), dated} {
		b.Run([]string{"none", "an hour"}[i], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if permit, err := lim.Acquire(ctx); err == nil {
					permit.Done(nil)
				}
			}
		})
	}
}
