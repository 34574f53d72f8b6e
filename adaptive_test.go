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

func adaptive(t *testing.T, limit int) *weir.Limiter {
	return fixed(t, limit, weir.Queue{Timeout: time.Minute, Discipline: weir.Adaptive})
}

// queueUp makes one caller after the other wait for a slot, each with its own deadline unless
// that is 0, and returns the list that records the order of service.
func queueUp(t *testing.T, l *weir.Limiter, given ...time.Duration) *[]int {
	order := new([]int)
	for i, d := range given {
		time.Sleep(time.Millisecond)
		ctx := t.Context()
		if d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, d)
			t.Cleanup(cancel)
		}
		go func() {
			err := l.Do(ctx, func(context.Context) error {
				*order = append(*order, i)
				return nil
			})
			if err != nil && !errors.Is(err, weir.ErrRefused) {
				t.Error(err)
			}
		}()
		synctest.Wait()
	}
	return order
}

func TestAdaptiveServesTheEarliestDeadlineFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 1)
		held := hold(t, l, 1)
		order := queueUp(t, l, 9*time.Second, 3*time.Second, 6*time.Second)
		time.Sleep(time.Millisecond)
		held[0].Done(nil)
		synctest.Wait()
		if want := []int{1, 2, 0}; !slices.Equal(*order, want) {
			t.Errorf("served %v: want %v", *order, want)
		}
		balanced(t, l)
	})
}

// A burst that drains in time is served whole and in order. Under twice its load the queue
// stays standing: served work has waited for at most the target, and the slot is never idle.
func TestAdaptiveShedsOnlyWhereAQueueStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const took = 10 * time.Millisecond
		l := fixed(t, 1, weir.Queue{Timeout: time.Second, Discipline: weir.Adaptive})
		var longest atomic.Int64
		for range 90 {
			go func() { _ = l.Do(t.Context(), func(context.Context) error { time.Sleep(took); return nil }) }()
		}
		time.Sleep(time.Second)
		if s := l.Snapshot(); s.Completed != 90 || s.Admitted != 90 {
			t.Errorf("%d of a burst of 90 were served", s.Completed)
		}
		for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(took / 2) {
			go func() {
				p, err := l.Acquire(t.Context())
				if err != nil {
					return
				}
				if time.Since(began) > 3*time.Second {
					longest.Store(max(longest.Load(), int64(p.Waited())))
				}
				time.Sleep(took)
				p.Done(nil)
			}()
		}
		if s := l.Snapshot(); s.Completed-90 < 990 {
			t.Errorf("%d served in 10s: want 1,000, as the slot is never idle", s.Completed-90)
		}
		if waited := time.Duration(longest.Load()); waited > 510*time.Millisecond {
			t.Errorf("work that had waited for %v was served: want at most the target of 500ms", waited)
		}
		time.Sleep(2 * time.Second)
		balanced(t, l)
	})
}

func TestAdaptiveGivesUpTheLowestPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 4, Timeout: time.Minute, Discipline: weir.Adaptive})
		hold(t, l, 1)
		low := ask(weir.WithPriority(t.Context(), weir.Low), l, 1)
		var high []<-chan answer
		for range 4 {
			high = append(high, ask(weir.WithPriority(t.Context(), weir.High), l, 1))
		}
		if a := now(t, low); !errors.Is(a.err, weir.ErrQueueFull) {
			t.Errorf("%v: want it to make room", a.err)
		}
		if a := now(t, ask(weir.WithPriority(t.Context(), weir.Low), l, 1)); !errors.Is(a.err, weir.ErrQueueFull) {
			t.Errorf("%v: want no room for a newcomer of the lowest priority", a.err)
		}
		for _, w := range high {
			waits(t, w)
		}
		l.Close()
	})
}

func TestAdaptiveSizeBoundsItFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 5, weir.Queue{Size: 3, Timeout: time.Minute, Discipline: weir.Adaptive})
		hold(t, l, 5)
		for range 10 {
			ask(t.Context(), l, 1)
		}
		if n := l.Snapshot().Queued; n != 3 {
			t.Errorf("%d queued: want 3", n)
		}
		l.Close()
	})
}

func TestAdaptiveTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Timeout: 20 * time.Millisecond, Discipline: weir.Adaptive})
		hold(t, l, 1)
		_, err := l.Acquire(t.Context())
		if !errors.Is(err, weir.ErrQueueTimeout) {
			t.Error(err)
		}
	})
}

// A standing queue sheds at half of the time in which work can still start, and its error names
// that time.
func TestStandingQueueSaysWhy(t *testing.T) {
	for _, c := range []struct {
		given, waits time.Duration
		want         error
	}{
		{0, 500 * time.Millisecond, weir.ErrQueueTimeout},
		{3 * time.Second, 500 * time.Millisecond, weir.ErrQueueTimeout}, // more than Queue.Timeout
		{600 * time.Millisecond, 290 * time.Millisecond, weir.ErrDeadline}, // of which the work takes 20 ms
	} {
		synctest.Test(t, func(t *testing.T) {
			lim := weir.Must(weir.New(weir.Config{
				Law: law.Fixed{}, Initial: 1, Queue: weir.Queue{Discipline: weir.Adaptive, Timeout: time.Second},
			}))
			var all sync.WaitGroup
			defer all.Wait()
			for n := range 400 {
				stands := n > 250 // the wait has been above the target for the interval
				all.Go(func() {
					ctx := t.Context()
					if c.given > 0 {
						var cancel func()
						ctx, cancel = context.WithTimeout(ctx, c.given)
						defer cancel()
					}
					began := time.Now()
					permit, err := lim.Acquire(ctx)
					waited := time.Since(began)
					if err == nil {
						time.Sleep(20 * time.Millisecond) // twice as much comes
						permit.Done(nil)
						return
					}
					if !errors.Is(err, c.want) || waited < c.waits || stands && waited > c.waits+50*time.Millisecond {
						t.Errorf("given %v: %v after %v, want %v after %v", c.given, err, waited, c.want, c.waits)
					}
				})
				time.Sleep(10 * time.Millisecond)
			}
			all.Wait()
			if lim.Snapshot().Refused == nil {
				t.Error("nothing was refused")
			}
		})
	}
}

// The first burst only waits for the climb of the limit, however long the limiter was idle.
func TestFirstBurst(t *testing.T) {
	for _, idle := range []time.Duration{0, 700 * time.Millisecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			lim := weir.Must(weir.New(weir.Config{Queue: weir.Queue{Discipline: weir.Adaptive, Size: 1000}}))
			time.Sleep(idle)
			began := time.Now()
			var all sync.WaitGroup
			for range 300 {
				all.Go(func() {
					if err := lim.Do(t.Context(), func(context.Context) error {
						time.Sleep(50 * time.Millisecond)
						return nil
					}); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if took := time.Since(began); took > 600*time.Millisecond {
				t.Errorf("after %v of idleness 300 calls of 50ms end within %v, want 600ms", idle, took)
			}
		})
	}
}
