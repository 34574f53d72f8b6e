package weir_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/law"
)

// The first burst only waits for the climb of the limit, however long the limiter was idle.
func TestFirstBurst(t *testing.T) {
	for _, idle := range []time.Duration{0, 700 * time.Millisecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			lim := weir.Must(weir.New(weir.Config{Queue: weir.Queue{Discipline: weir.Adaptive, Size: 1000}}))
			time.Sleep(idle)
			began := time.Now()
			together.Do(300, func(int) {
				if err := lim.Do(t.Context(), func(context.Context) error {
					time.Sleep(50 * time.Millisecond)
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
			if took := time.Since(began); took > 600*time.Millisecond {
				t.Errorf("after %v of idleness 300 calls of 50ms end within %v, want 600ms", idle, took)
			}
		})
	}
}

// A package's limiter is made before a test has a bubble, in which the clock is decades behind.
var (
	madeOutside = weir.Must(weir.New(weir.Config{
		Min: 3, Initial: 10, Law: band, MinSamples: 1,
		Queue: weir.Queue{Size: 9, Timeout: time.Second},
	}))
	shadowOutside = weir.Must(weir.New(weir.Config{Min: 3, Initial: 10, Law: band, MinSamples: 1, Shadow: true}))
)

func TestLimiterMadeOutsideOfABubble(t *testing.T) {
	for name, l := range map[string]*weir.Limiter{"live": madeOutside, "in shadow mode": shadowOutside} {
		for _, again := range []string{"", ", and in the next one"} {
			out := hold(t, l, 1)[0] // work that started there
			t.Run(name+again, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for range 20 {
						p := hold(t, l, 1)[0]
						time.Sleep(250 * time.Millisecond)
						p.Done(nil)
					}
					if s := l.Snapshot(); s.P95 < 240*time.Millisecond || s.P95 > 260*time.Millisecond || s.Limit != 3 {
						t.Errorf("p95 %v, limit %d: want 250ms, and 3, for that is above the target", s.P95, s.Limit)
					}
					if l == madeOutside {
						held := hold(t, l, 2)
						waiting := ask(t.Context(), l, 1)
						time.Sleep(time.Second)
						if a := now(t, waiting); a.After != time.Second {
							t.Errorf("%v after %v: want a queue timeout after 1s", a.Err, a.After)
						}
						held[0].Release()
						held[1].Release()
					}
				})
			})
			out.Done(nil)
			balanced(t, l)
			if age := l.Snapshot().Age; age != 0 {
				t.Errorf("age %v with nothing in flight", age)
			}
		}
	}
}

func TestCapMovesWhileItIsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 4, weir.Queue{Size: 10, Timeout: time.Minute})
		held := hold(t, l, 4)
		setCap(t, l, 2)
		first, second := ask(t.Context(), l, 1), ask(t.Context(), l, 2)
		held[0].Done(nil)
		held[1].Done(nil)
		waits(t, first)
		held[2].Done(nil)
		last := admitted(t, first)
		waits(t, second)
		if s := l.Snapshot(); s.Limit != 2 || s.InFlight != 2 {
			t.Errorf("%v", l)
		}
		setCap(t, l, 100)
		admitted(t, second).Done(nil)
		last.Done(nil)
		held[3].Done(nil)
		if s := l.Snapshot(); s.Limit != 4 {
			t.Errorf("the limit is %d again, want 4", s.Limit)
		}
		balanced(t, l)
		hold(t, l, 4)
	})
}

func TestCapOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Min: 3, Max: 5, Law: law.Fixed{}, Queue: weir.Queue{Size: 1, Timeout: time.Minute},
		})
		setCap(t, l, 0)
		waiting := ask(t.Context(), l, 3)
		waits(t, waiting)
		if _, err := l.TryAcquire(t.Context()); err == nil {
			t.Error("admitted above a cap of 0")
		}
		if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrQueueFull) {
			t.Error(err)
		}
		update(t, l, weir.Config{
			Max: 7, Law: law.Fixed{}, Queue: weir.Queue{Size: 1, Timeout: time.Minute},
		})
		waits(t, waiting)
		setCap(t, l, 3)
		admitted(t, waiting).Done(nil)
		balanced(t, l)
	})
}

func TestShutdownDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 5, Timeout: time.Minute})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		began, drained := time.Now(), make(chan error, 2)
		for range 2 {
			go func() { drained <- l.Shutdown(t.Context()) }()
		}
		synctest.Wait()
		l.Drain() // as Shutdown, but does not wait
		if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("%v: want newcomers refused", err)
		}
		time.Sleep(time.Second)
		held[0].Done(nil)
		p := admitted(t, waiting)
		synctest.Wait()
		if len(drained) > 0 {
			t.Error("shut down while work runs")
		}
		time.Sleep(time.Second)
		p.Done(nil)
		for range 2 {
			if err := <-drained; err != nil || time.Since(began) != 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		if err := l.Shutdown(t.Context()); err != nil {
			t.Errorf("a second time: %v", err)
		}
		balanced(t, l)
	})
}

func TestShutdownGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 5, Timeout: time.Minute})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		impatient := errors.New("impatient")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, impatient)
		defer cancel()
		began := time.Now()
		err := l.Shutdown(ctx)
		if !errors.Is(err, impatient) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if a := now(t, waiting); !errors.Is(a.Err, weir.ErrClosed) {
			t.Errorf("%v: want what waits refused", a.Err)
		}
		held[0].Done(nil)
		balanced(t, l)
		if err := l.Shutdown(ctx); err != nil {
			t.Errorf("%v: want it drained by now", err)
		}
	})
}

// An idle limiter is shut down whatever the context.
func TestShutdownOfTheIdleSucceeds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		must.Do(t, fixed(t, 1, weir.Queue{}).Shutdown(ctx))
	}
}

// load keeps the given number of goroutines at work for the given time, in a bubble. Each
// holds a permit for the result of latency, and asks for the next one at once.
func load(ctx context.Context, l *weir.Limiter, workers int, lasting time.Duration, latency func() time.Duration) {
	until := time.Now().Add(lasting)
	together.Do(workers, func(int) {
		for time.Now().Before(until) {
			err := l.Do(ctx, func(context.Context) error {
				time.Sleep(latency())
				return nil
			})
			if err != nil {
				time.Sleep(time.Millisecond)
			}
		}
	})
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// TestCollapse: a server must come back from a pause, although its work takes longer the more of it
// runs and all callers leave after 200 ms.
func TestCollapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := weir.Must(weir.New(weir.Config{Initial: 100}))
		var running, good atomic.Int64
		var paused atomic.Bool
		server := func(ctx context.Context) error {
			n := time.Duration(running.Add(1))
			defer running.Add(-1)
			work := 10 * time.Millisecond * max(1, n*n/100)
			if paused.Load() {
				work = time.Hour
			}
			select {
			case <-time.After(work):
				good.Add(1)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		send := func(during time.Duration) int64 { // 400 calls a second
			before := good.Load()
			for range during / (2500 * time.Microsecond) {
				ctx, leave := context.WithCancel(t.Context())
				time.AfterFunc(200*time.Millisecond, leave)
				go func() {
					if err := l.Do(ctx, server); err != nil && !errors.Is(err, weir.ErrRefused) && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}()
				time.Sleep(2500 * time.Microsecond)
			}
			return good.Load() - before
		}
		if n := send(10 * time.Second); n < 3950 {
			t.Fatalf("%d of 4000 calls before the pause", n)
		}
		paused.Store(true)
		send(2 * time.Second)
		paused.Store(false)
		send(10 * time.Second)
		if n := send(10 * time.Second); n < 3900 {
			t.Errorf("%d of 4000 calls after the pause, with a limit of %d", n, l.Snapshot().Limit)
		}
		time.Sleep(time.Second)
		balanced(t, l)
	})
}

// A service of quick calls gets bursts of slow ones. It has room for all of them, so only the first
// burst may lose some, while the limit climbs.
func TestSlowBurstsAfterQuickCalls(t *testing.T) {
	for _, work := range []struct {
		quick, slow time.Duration
		burst       int
	}{
		{time.Millisecond, 50 * time.Millisecond, 300},
		{time.Millisecond, 200 * time.Millisecond, 40},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := weir.Must(weir.New(weir.Config{Queue: weir.Queue{Discipline: weir.Adaptive}}))
			call := func(latency time.Duration) error {
				return l.Do(t.Context(), func(context.Context) error {
					time.Sleep(latency)
					return nil
				})
			}
			var served [6]atomic.Int64
			for i := range served {
				for range 20 {
					must.Do(t, call(work.quick))
				}
				together.Do(work.burst, func(int) {
					if call(work.slow) == nil {
						served[i].Add(1)
					}
				})
				time.Sleep(300 * time.Millisecond)
				n := served[i].Load()
				t.Logf("calls of %v, then %d of %v: served %d", work.quick, work.burst, work.slow, n)
				if i > 0 && n < int64(work.burst) {
					t.Errorf("served %d of %d in burst %d", n, work.burst, i+1)
				}
			}
		})
	}
}
