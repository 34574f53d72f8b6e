package weir_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
)

func setCap(t testing.TB, l *weir.Limiter, slots int) {
	t.Helper()
	if err := l.SetCap(slots); err != nil {
		t.Fatal(err)
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
		if _, ok := l.TryAcquire(t.Context()); ok {
			t.Error("admitted above a cap of 0")
		}
		if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrQueueFull) {
			t.Error(err)
		}
		if err := l.Update(weir.Config{
			Max: 7, Law: law.Fixed{}, Queue: weir.Queue{Size: 1, Timeout: time.Minute},
		}); err != nil {
			t.Fatal(err)
		}
		waits(t, waiting)
		setCap(t, l, 3)
		admitted(t, waiting).Done(nil)
		balanced(t, l)
	})
}

// A limit that was not reached says nothing about a higher one, so the law does not see the
// work that a cap holds back.
func TestLawHearsNothingOfTheCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hears{}
		l := newLimiter(t, weir.Config{
			Initial: 20, Law: h, MinSamples: 1, Interval: 100 * time.Millisecond,
			Queue: weir.Queue{Size: 5, Timeout: time.Minute},
		})
		setCap(t, l, 2)
		load(t.Context(), l, 30, 3*time.Second, always(10*time.Millisecond))
		if s := l.Snapshot(); s.Admitted < 550 || s.Admitted > 650 || s.RefusedTotal() == 0 || *h != (hears{}) {
			t.Errorf("after %d admitted and %d refused the law heard of %+v", s.Admitted, s.RefusedTotal(), *h)
		}
		setCap(t, l, 1000)
		load(t.Context(), l, 30, time.Second, always(10*time.Millisecond))
		if *h != (hears{true, true, true}) {
			t.Errorf("of the limit the law heard of %+v only", *h)
		}
	})
}

// A limiter that waits for its own cap does not hold up the others of its group.
func TestCapWithinAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := admit.NewGroup(4)
		a, b := member(t, g, "a"), member(t, g, "b")
		setCap(t, a, 1)
		held := hold(t, a, 1)
		waiting := ask(t.Context(), a, 1)
		others := hold(t, b, 3)
		behind := ask(t.Context(), b, 1)
		waits(t, behind)
		others[0].Done(nil)
		others[1] = admitted(t, behind)
		waits(t, waiting)
		held[0].Done(nil)
		admitted(t, waiting)
	})
}

func TestCapOutOfRange(t *testing.T) {
	l := fixed(t, 4, weir.Queue{})
	for _, slots := range []int{-1, 1_000_000_001} {
		if err := l.SetCap(slots); !errors.Is(err, weir.ErrConfig) {
			t.Errorf("%d: %v", slots, err)
		}
	}
	if s := l.Snapshot(); s.Limit != 4 {
		t.Errorf("%v", l)
	}
}
