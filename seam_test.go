package weir_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/seam"
	"github.com/weir-go/weir/internal/together"
)

// inside is the internal access that the other packages of this module have to a limiter.
var inside = seam.Of[*weir.Limiter, weir.Config, weir.Snapshot]()

func TestSeamIsTyped(t *testing.T) {
	limittest.Panics(t, map[string]func(){"other types": func() { seam.Of[weir.Limiter, weir.Config, weir.Snapshot]() }})
}

// storm makes goroutines pass through the limiter until the time is over, and returns the
// weight that passed.
func storm(t *testing.T, l *weir.Limiter, goroutines, weight int, during time.Duration) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	var passed atomic.Int64
	together.Do(goroutines, func(int) {
		for ctx.Err() == nil {
			if permit, err := l.AcquireN(context.WithoutCancel(ctx), weight); err == nil {
				passed.Add(int64(weight))
				permit.Done(nil)
			} else if errors.Is(err, weir.ErrRefused) {
				time.Sleep(time.Millisecond)
			}
		}
	})
	return passed.Load()
}

func pacedLimiter(t *testing.T, p admit.Pace, q weir.Queue) *weir.Limiter {
	t.Helper()
	l := newLimiter(t, weir.Config{Initial: 1000, Min: 1000, Queue: q})
	inside.SetPace(l, p)
	return l
}

// The total rate is the pace, however many ask, and however heavy their work is.
func TestPaceDoesNotDependOnTheNumberOfCallers(t *testing.T) {
	for _, goroutines := range []int{1, 10, 200} {
		for _, weight := range []int{1, 7} {
			synctest.Test(t, func(t *testing.T) {
				l := pacedLimiter(t, admit.Pace{Rate: 1000, Burst: 10}, weir.Queue{Size: 1000, Timeout: time.Minute})
				got := float64(storm(t, l, goroutines, weight, 4*time.Second))
				if most := 4_000.0 + 10 + float64(goroutines*weight) + 7; got < 3_900 || got > most {
					t.Errorf("%d goroutines, weight %d: %v passed in 4 s, want 4000 and what was queued at the end",
						goroutines, weight, got)
				}
			})
		}
	}
}

// pass lets work without a latency through the limiter, each on a goroutine of its own, and returns
// once all that has to wait does.
func pass(t *testing.T, l *weir.Limiter, n int) *sync.WaitGroup {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Wait()
	return &all
}

// Nothing else calls the limiter while one waiter waits: it wakes by itself when it is due.
func TestPacedWaiterWakesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 2}, weir.Queue{Size: 10, Timeout: time.Minute})
		began := time.Now()
		pass(t, l, 5).Wait()
		if got := time.Since(began); got < 2*time.Second || got > 2010*time.Millisecond {
			t.Errorf("5 at 2/s, the first at once, took %v", got)
		}
	})
}

// A waiter that could not be served in time is refused at once, also one that would be due just
// when its time in the queue is up.
func TestPaceRefusesWhatCannotWaitSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 1}, weir.Queue{Size: 100, Timeout: 5 * time.Second})
		var waiting []<-chan answer // one runs, four wait
		for range 5 {
			waiting = append(waiting, ask(t.Context(), l, 1))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if a := now(t, ask(ctx, l, 1)); !errors.Is(a.Err, weir.ErrDeadline) || a.After != 0 {
			t.Errorf("a deadline of 2 s behind 4 s of waiting: %v after %v", a.Err, a.After)
		}
		for range 15 {
			a := now(t, ask(t.Context(), l, 1))
			refused, ok := errors.AsType[*weir.RefusedError](a.Err)
			if !ok || refused.Reason != weir.ReasonPace || a.After != 0 {
				t.Fatalf("more than the 5 s of the queue: %v after %v", a.Err, a.After)
			}
			if refused.RetryAfter < 5*time.Second || refused.RetryAfter > 10*time.Second {
				t.Errorf("come back after %v, with 4 s of work waiting", refused.RetryAfter)
			}
		}
		time.Sleep(10 * time.Second)
		for _, c := range waiting {
			admitted(t, c).Done(nil)
		}
	})
}

// A new pace applies to waiting work too. Waiters start earlier if the pace rises, or if a waiter
// ahead of them leaves.
func TestTurnsComeForward(t *testing.T) {
	setPace := func(p admit.Pace) func(*weir.Limiter, context.CancelFunc) {
		return func(l *weir.Limiter, _ context.CancelFunc) { inside.SetPace(l, p) }
	}
	for name, c := range map[string]struct {
		rate        float64
		ahead       int // weight of the waiter ahead of four
		change      func(*weir.Limiter, context.CancelFunc)
		least, most time.Duration
	}{
		"slower": {10, 1, setPace(admit.Pace{Rate: 1}), 4500 * time.Millisecond, 5100 * time.Millisecond},
		"faster": {1, 1, setPace(admit.Pace{Rate: 100}), 0, 100 * time.Millisecond},
		"free":   {10, 1, setPace(admit.Pace{}), 0, 0},
		"leaves": {100, 900, func(_ *weir.Limiter, leave context.CancelFunc) { leave() }, 0, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := pacedLimiter(t, admit.Pace{Rate: c.rate}, weir.Queue{Size: 100, Timeout: time.Minute})
				hold(t, l, 1)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				ask(ctx, l, c.ahead)
				all := pass(t, l, 4)
				began := time.Now()
				c.change(l, leave)
				all.Wait()
				if got := time.Since(began); got < c.least || got > c.most {
					t.Errorf("it took %v, want %v to %v", got, c.least, c.most)
				}
			})
		})
	}
}

// RetryAfter counts waiting work by its weight, and the debt of started work to the pace.
func TestRetryAfterOfHeavyWorkUnderAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 10}, weir.Queue{Size: 3, Timeout: time.Minute})
		for range 4 { // the first starts at once
			ask(t.Context(), l, 50)
		}
		_, err := l.AcquireN(t.Context(), 50)
		refused, ok := errors.AsType[*weir.RefusedError](err)
		if !ok || refused.RetryAfter < 15*time.Second || refused.RetryAfter > 20*time.Second {
			t.Errorf("%v: want to come back when 150 that wait and 50 have started, at 10 a second", err)
		}
		l.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 10}, weir.Queue{})
		admitted(t, ask(t.Context(), l, 100)).Done(nil)
		_, err := l.Acquire(t.Context())
		refused, ok := errors.AsType[*weir.RefusedError](err)
		if !ok || refused.RetryAfter != 10*time.Second {
			t.Fatalf("%v: want to come back when the 100 are paid, at 10 a second", err)
		}
		time.Sleep(refused.RetryAfter)
		if _, err := l.Acquire(t.Context()); err != nil {
			t.Errorf("come back when told: %v", err)
		}
	})
}
