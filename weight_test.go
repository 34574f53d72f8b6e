package weir_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func TestWeightCountsInSlots(t *testing.T) {
	l := fixed(t, 10, weir.Queue{})
	heavy, err := l.AcquireN(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	light := hold(t, l, 3)
	if s := l.Snapshot(); s.InFlight != 10 || s.Admitted != 4 {
		t.Errorf("%d in flight, %d admitted: want 10 and 4", s.InFlight, s.Admitted)
	}
	if _, ok := l.TryAcquire(t.Context()); ok {
		t.Error("admitted above the limit")
	}
	heavy.Done(nil)
	if n := l.Snapshot().InFlight; n != 3 {
		t.Errorf("%d in flight: want 3", n)
	}
	for _, p := range light {
		p.Done(nil)
	}
	balanced(t, l)
}

func TestWeightOutOfRange(t *testing.T) {
	l := fixed(t, 10, weir.Queue{Size: 1})
	for _, weight := range []int{0, -1, math.MinInt, 1_000_000_001, math.MaxInt} {
		_, err := l.AcquireN(t.Context(), weight)
		if !errors.Is(err, weir.ErrConfig) || errors.Is(err, weir.ErrRefused) ||
			!strings.Contains(err.Error(), "weight") {
			t.Errorf("weight %d: %v", weight, err)
		}
	}
	if s := l.Snapshot(); s.RefusedTotal() != 0 || s.Admitted != 0 {
		t.Errorf("a mistake was counted: %v", l)
	}
}

func TestWeightAboveTheLimitIsRefusedAtOnce(t *testing.T) {
	l := newLimiter(t, weir.Config{Initial: 3, Max: 10, Queue: weir.Queue{Size: 5}})
	for _, weight := range []int{4, 10, 11, 1_000_000_000} {
		_, err := l.AcquireN(t.Context(), weight)
		if !errors.Is(err, weir.ErrTooHeavy) {
			t.Errorf("weight %d: %v", weight, err)
		}
	}
	if s := l.Snapshot(); s.Refused[weir.ReasonTooHeavy] != 4 {
		t.Errorf("%v refused: want 4", s.Refused)
	}
}

func TestWeightIsServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 4, weir.Queue{Size: 5, Timeout: time.Minute})
		held := hold(t, l, 4)
		heavy := ask(t.Context(), l, 3)
		light := ask(t.Context(), l, 1)

		held[0].Done(nil)
		held[1].Done(nil)
		waits(t, heavy)
		waits(t, light) // it would fit, but was not first
		if _, ok := l.TryAcquire(t.Context()); ok {
			t.Error("a newcomer went ahead of what waits")
		}
		held[2].Done(nil)
		p := admitted(t, heavy)
		waits(t, light)
		held[3].Done(nil)
		admitted(t, light).Done(nil)
		p.Done(nil)
		balanced(t, l)
	})
}

func TestWeightThatLeavesMakesRoom(t *testing.T) {
	for name, leave := range map[string]func(cancel context.CancelFunc){
		"cancelled": func(cancel context.CancelFunc) { cancel() },
		"timed out": func(context.CancelFunc) { time.Sleep(600 * time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fixed(t, 4, weir.Queue{Size: 5, Timeout: time.Second})
				hold(t, l, 2)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				heavy := ask(ctx, l, 3)
				time.Sleep(500 * time.Millisecond)
				light := ask(t.Context(), l, 2)
				waits(t, light)
				leave(cancel)
				admitted(t, light).Done(nil)
				if a := now(t, heavy); a.err == nil {
					t.Error("admitted")
				}
			})
		})
	}
}

func TestWeightAboveALimitThatFell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Max: 5, Law: law.Fixed{}, Queue: weir.Queue{Size: 5, Timeout: time.Minute}}
		l := newLimiter(t, c)
		held := hold(t, l, 5)
		heavy := ask(t.Context(), l, 4)
		light := ask(t.Context(), l, 1)
		c.Max = 3
		if err := l.Update(c); err != nil {
			t.Fatal(err)
		}
		if a := now(t, heavy); !errors.Is(a.err, weir.ErrTooHeavy) {
			t.Errorf("%v: want it refused, for it would block the queue for ever", a.err)
		}
		for i, p := range held {
			if i < 3 {
				waits(t, light)
			}
			p.Done(nil)
		}
		admitted(t, light).Done(nil)
		balanced(t, l)
	})
}
