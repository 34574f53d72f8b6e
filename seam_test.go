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
	"github.com/weir-go/weir/internal/seam"
	"github.com/weir-go/weir/law"
)

// inside is the internal access that the other packages of this module have to a limiter.
var inside = seam.Of[*weir.Limiter, weir.Config, weir.Snapshot, weir.Event]()

func TestSeamIsTyped(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("other types were accepted")
		}
	}()
	seam.Of[weir.Limiter, weir.Config, weir.Snapshot, weir.Event]()
}

func TestConfigIsCompleted(t *testing.T) {
	c, err := inside.Complete(weir.Config{})
	if err != nil || c.Name != "limiter" || c.Max != 100_000 || c.Law == nil {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := inside.New(weir.Config{Max: -1}, nil, admit.Allocation{}); err == nil {
		t.Error("a limiter with a negative Max")
	}
}

// storm makes goroutines pass through the limiter until the time is over, and returns the
// weight that passed.
func storm(t *testing.T, l *weir.Limiter, goroutines, weight int, during time.Duration) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	var passed atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for ctx.Err() == nil {
				if permit, err := l.AcquireN(context.WithoutCancel(ctx), weight); err == nil {
					passed.Add(int64(weight))
					permit.Done(nil)
				} else if errors.Is(err, weir.ErrRefused) {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	return passed.Load()
}

func pacedLimiter(t *testing.T, p admit.Pace, q weir.Queue) *weir.Limiter {
	t.Helper()
	l := newLimiter(t, weir.Config{Initial: 1000, Min: 1000, Queue: q})
	inside.SetPace(l, p)
	return l
}

// member returns a limiter of the group whose own limit is not in the way.
func member(t *testing.T, g *admit.Group, name string) *weir.Limiter {
	t.Helper()
	c := weir.Config{Name: name, Initial: 1000, Law: law.Fixed{}, Queue: weir.Queue{Size: 100, Timeout: time.Minute}}
	l, err := inside.New(c, g, admit.Allocation{Share: 1})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The total rate is the pace, however many ask, and however heavy their work is.
func TestPaceDoesNotDependOnTheNumberOfCallers(t *testing.T) {
	for _, goroutines := range []int{1, 10, 500} {
		for _, weight := range []int{1, 7} {
			synctest.Test(t, func(t *testing.T) {
				l := pacedLimiter(t, admit.Pace{Rate: 1000, Burst: 10}, weir.Queue{Size: 1000, Timeout: time.Minute})
				got := float64(storm(t, l, goroutines, weight, 10*time.Second))
				if most := 10_000.0 + 10 + float64(goroutines*weight) + 7; got < 9_900 || got > most {
					t.Errorf("%d goroutines, weight %d: %v passed in 10 s, want 10000 and what was queued at the end",
						goroutines, weight, got)
				}
			})
		}
	}
}

// Nothing else calls the limiter while one waiter waits: it wakes by itself when it is due.
func TestPacedWaiterWakesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 2}, weir.Queue{Size: 10, Timeout: time.Minute})
		began := time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := time.Since(began); got < 2*time.Second || got > 2010*time.Millisecond {
			t.Errorf("5 at 2/s, the first at once, took %v", got)
		}
	})
}

func TestSlowerPaceHoldsForThoseWhoWait(t *testing.T) {
	for name, c := range map[string]struct {
		next        admit.Pace
		least, most time.Duration
	}{
		"slower": {admit.Pace{Rate: 1}, 3500 * time.Millisecond, 4100 * time.Millisecond},
		"free":   {admit.Pace{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := pacedLimiter(t, admit.Pace{Rate: 10}, weir.Queue{Size: 10, Timeout: time.Minute})
				var all sync.WaitGroup
				for range 5 {
					all.Go(func() {
						_ = l.Do(t.Context(), func(context.Context) error { return nil })
					})
				}
				synctest.Wait()
				began := time.Now()
				inside.SetPace(l, c.next)
				all.Wait()
				if got := time.Since(began); got < c.least || got > c.most {
					t.Errorf("4 more took %v, want %v to %v", got, c.least, c.most)
				}
			})
		})
	}
}

// A waiter that could not be served in time is refused at once.
func TestPaceRefusesWhatCannotWaitSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 1}, weir.Queue{Size: 100, Timeout: 5 * time.Second})
		for range 6 {
			go func() {
				_ = l.Do(context.WithoutCancel(t.Context()), func(context.Context) error { return nil })
			}()
		}
		synctest.Wait() // one ran, five wait
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := l.Acquire(ctx); !errors.Is(err, weir.ErrDeadline) {
			t.Errorf("a deadline of 2 s behind 5 s of waiting: %v", err)
		}
		_, err := l.Acquire(t.Context())
		var refused *weir.RefusedError
		if !errors.As(err, &refused) || refused.Reason != weir.ReasonPace {
			t.Fatalf("more than the 5 s of the queue: %v", err)
		}
		if refused.RetryAfter < 5*time.Second || refused.RetryAfter > 10*time.Second {
			t.Errorf("come back after %v, with 5 s of work waiting", refused.RetryAfter)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("refused after %v", took)
		}
		time.Sleep(10 * time.Second)
	})
}

func TestPaceRefusesAShare(t *testing.T) {
	l := pacedLimiter(t, admit.Pace{Refuse: 0.3}, weir.Queue{})
	refused := 0
	for range 1000 {
		permit, err := l.Acquire(t.Context())
		if errors.Is(err, weir.ErrOverload) {
			refused++
		}
		permit.Done(nil)
	}
	if refused < 299 || refused > 301 {
		t.Errorf("%d of 1000 refused, want 300", refused)
	}
	if s := l.Snapshot(); s.Refused[weir.ReasonOverload] != uint64(refused) {
		t.Errorf("counted %v", s.Refused)
	}
}

// A pace that rises, or a waiter ahead that leaves, brings forward the waiters behind.
func TestTurnsComeForward(t *testing.T) {
	for name, c := range map[string]struct {
		weight int // of the waiter ahead
		change func(*weir.Limiter, context.CancelFunc)
	}{
		"faster": {1, func(l *weir.Limiter, _ context.CancelFunc) { inside.SetPace(l, admit.Pace{Rate: 100}) }},
		"leaves": {900, func(_ *weir.Limiter, leave context.CancelFunc) { leave() }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rate := 1.0
				if name == "leaves" {
					rate = 100
				}
				l := pacedLimiter(t, admit.Pace{Rate: rate}, weir.Queue{Size: 100, Timeout: time.Minute})
				first, _ := l.Acquire(t.Context()) // owes one
				defer first.Release()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				go func() {
					ahead, _ := l.AcquireN(ctx, c.weight)
					ahead.Release()
				}()
				synctest.Wait()
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() {
						if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				began := time.Now()
				c.change(l, leave)
				all.Wait()
				if got := time.Since(began); got > 1300*time.Millisecond {
					t.Errorf("20 at 100/s took %v", got)
				}
			})
		})
	}
}

// A limit that was not reached says nothing about a higher one, so the law does not see the
// work that a pace holds back.
func TestLawHearsNothingOfThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hears{}
		l := newLimiter(t, weir.Config{
			Initial: 1000, Law: h, MinSamples: 1, Interval: 100 * time.Millisecond,
			Queue: weir.Queue{Size: 5, Timeout: time.Minute},
		})
		inside.SetPace(l, admit.Pace{Rate: 100, Refuse: 0.1})
		storm(t, l, 20, 1, 3*time.Second)
		if l.Snapshot().Admitted < 250 || *h != (hears{}) {
			t.Errorf("after %d admitted the law heard of %+v", l.Snapshot().Admitted, *h)
		}
	})
}

// In shadow mode a pace holds nothing back, counts the refusals of a live one, and leaves no
// debt behind.
func TestPaceInShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Initial: 1000, Min: 1000, Shadow: true, Queue: weir.Queue{Size: 10, Timeout: time.Second}}
		l := newLimiter(t, c)
		inside.SetPace(l, admit.Pace{Rate: 10})
		for range 1000 {
			permit, err := l.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			permit.Done(nil)
		}
		if got := l.Snapshot().WouldRefuse; got < 980 || got > 990 {
			t.Errorf("%d of 1000 would have been refused, with room for one and 10 that wait", got)
		}
		c.Shadow = false
		if err := l.Update(c); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1200 * time.Millisecond)
		if _, err := l.Acquire(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A share of refused work does not say how fast the rest drains.
func TestRefusingAShareLeavesDeadlinesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Initial: 1, Min: 1, Max: 1, Queue: weir.Queue{Size: 100, Timeout: time.Minute}})
		inside.SetPace(l, admit.Pace{Refuse: 0.001})
		work := func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil }
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _ = l.Do(t.Context(), work) })
		}
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := l.Do(ctx, work); !errors.Is(err, weir.ErrDeadline) || time.Since(began) != 0 {
			t.Errorf("3 s of work ahead of 1 s: %v after %v", err, time.Since(began))
		}
		all.Wait()
	})
}

// RetryAfter counts waiting work by its weight.
func TestRetryAfterOfHeavyWorkUnderAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 10}, weir.Queue{Size: 3, Timeout: time.Minute})
		for range 4 { // the first starts at once, and owes its weight
			go func() {
				if permit, err := l.AcquireN(t.Context(), 50); err == nil {
					permit.Done(nil)
				}
			}()
			synctest.Wait()
		}
		_, err := l.AcquireN(t.Context(), 50)
		var refused *weir.RefusedError
		if !errors.As(err, &refused) || refused.RetryAfter < 15*time.Second || refused.RetryAfter > 20*time.Second {
			t.Errorf("%v: want to come back when 150 that wait and 50 have started, at 10 a second", err)
		}
		l.Close()
	})
}

// A waiter that would be due just when its time in the queue is up would not be served then,
// so it is refused: under a steady pace every waiter is served.
func TestNobodyWaitsForAPaceInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 1}, weir.Queue{Size: 100, Timeout: 5 * time.Second})
		served := make(chan int, 20)
		for i := range 20 {
			go func() {
				began := time.Now()
				permit, err := l.Acquire(t.Context())
				permit.Done(err)
				switch took := time.Since(began); {
				case err == nil:
					served <- i
				case took > 0:
					t.Errorf("%d waited %v: %v", i, took, err)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		if len(served) != 5 {
			t.Errorf("%d were served within 5 s at 1 a second, want 5", len(served))
		}
	})
}

// Light work that is refused behind heavy work gets the time when the debt of the heavy work
// is paid.
func TestRetryAfterCountsWhatThePaceIsOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := pacedLimiter(t, admit.Pace{Rate: 10}, weir.Queue{})
		heavy, err := l.AcquireN(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		heavy.Done(nil)
		_, err = l.Acquire(t.Context())
		var refused *weir.RefusedError
		if !errors.As(err, &refused) || refused.RetryAfter != 10*time.Second {
			t.Fatalf("%v: want to come back when the 100 are paid, at 10 a second", err)
		}
		time.Sleep(refused.RetryAfter)
		light, err := l.Acquire(t.Context())
		light.Done(err)
		if err != nil {
			t.Errorf("come back when told: %v", err)
		}
	})
}

// A limiter that waits for its pace does not hold up the others of its group.
func TestPaceWithinAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admit.NewGroup(10)
		paced, free := member(t, g, "paced"), member(t, g, "free")
		inside.SetPace(paced, admit.Pace{Rate: 100, Burst: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 50 {
			for _, l := range []*weir.Limiter{paced, free} {
				all.Go(func() {
					for ctx.Err() == nil {
						_ = l.Do(context.WithoutCancel(ctx), func(context.Context) error {
							time.Sleep(10 * time.Millisecond)
							return nil
						})
					}
				})
			}
		}
		all.Wait()
		if n := paced.Snapshot().Completed; n < 495 || n > 560 {
			t.Errorf("%d at a pace of 100/s in 5 s, and 50 that waited", n)
		}
		if n := free.Snapshot().Completed; n < 4400 {
			t.Errorf("%d beside it in 5 s, want the 9 slots it leaves used: 4500", n)
		}
	})
}
