package weir_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func TestEventOfARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		l := newLimiter(t, weir.Config{
			Name: "search", Max: 1, Law: law.Fixed{}, OnEvent: j.note,
			Queue: weir.Queue{Size: 1, Timeout: time.Second},
		})
		hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		_, err := l.Acquire(t.Context())
		_, _ = l.TryAcquire(t.Context())
		time.Sleep(time.Second)
		now(t, waiting)
		_, _ = l.AcquireN(t.Context(), 2)
		l.Close()
		_, _ = l.TryAcquire(t.Context())

		var want *weir.RefusedError
		if !errors.As(err, &want) {
			t.Fatal(err)
		}
		reasons := []weir.Reason{
			weir.ReasonQueueFull, weir.ReasonLimitReached, weir.ReasonQueueTimeout, weir.ReasonTooHeavy,
			weir.ReasonClosed,
		}
		for i, e := range j.events {
			if e.Kind != weir.Refused || e.Reason != reasons[i] || e.Limiter != "search" || e.Seq != uint64(i+1) ||
				e.At.IsZero() {
				t.Errorf("event %d: %+v", i, e)
			}
		}
		if len(j.events) != 5 || j.events[0].String() != "search: refused: queue full" ||
			j.events[0].RetryAfter != want.RetryAfter {
			t.Errorf("%v", j.events)
		}
	})
}

func TestEventOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		l := newLimiter(t, weir.Config{Initial: 10, Law: band, MinSamples: 1, OnEvent: j.note})
		load(t.Context(), l, 1, 3500*time.Millisecond, always(250*time.Millisecond))
		history := l.History()
		changes := j.of(weir.LimitChanged)
		if len(history) == 0 || len(changes) != len(history) || len(j.events) != len(history) {
			t.Fatalf("%d changes in the history, %d events", len(history), len(j.events))
		}
		for i, c := range history {
			e := changes[i]
			if e.Seq != uint64(i+1) || e.Change.From != c.From || e.Change.To != c.To || !e.At.Equal(c.At) ||
				!e.Change.At.Equal(c.At) ||
				e.Change.String() != c.String() || e.String() != "limiter: limit changed: "+c.String() {
				t.Errorf("event %+v, history %+v", e, c)
			}
		}
	})
}

func TestEventNumbersHaveNoGaps(t *testing.T) {
	var j journal
	c := weir.Config{
		Initial: 4, MinSamples: 1, Interval: time.Microsecond, OnEvent: j.note,
		Queue: weir.Queue{Size: 2, Timeout: 50 * time.Microsecond},
		Law: script(func(w law.Window) law.Decision {
			return law.Decision{Limit: float64(2 + w.Samples%4)}
		}),
	}
	l := newLimiter(t, c)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for n := range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(100))*time.Microsecond)
				switch r.IntN(4) {
				case 0:
					if p, ok := l.TryAcquire(t.Context()); ok {
						p.Done(nil)
					}
				case 1:
					if p, err := l.AcquireN(ctx, 1+r.IntN(4)); err == nil {
						p.Done(nil)
					}
				default:
					_ = l.Do(ctx, func(ctx context.Context) error { return ctx.Err() })
				}
				if n%50 == 0 {
					_ = l.Update(c)
				}
				cancel()
			}
		})
	}
	all.Wait()
	j.gapless(t)
	s := l.Snapshot()
	if n := len(j.of(weir.Refused)); uint64(n) != s.RefusedTotal() {
		t.Errorf("%d events of %d refusals", n, s.RefusedTotal())
	}
	if n := len(j.of(weir.LimitChanged)); n == 0 {
		t.Error("the limit never changed")
	}
	balanced(t, l)
}

func TestSlowHookBlocksNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := newLimiter(t, weir.Config{
			Max: 1, Law: law.Fixed{}, Queue: weir.Queue{Size: 1, Timeout: time.Minute},
			OnEvent: func(weir.Event) { <-release },
		})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		refused := ask(t.Context(), l, 1) // its hook hangs
		waits(t, refused)
		held[0].Done(nil)
		p := admitted(t, waiting)
		if s := l.Snapshot(); s.InFlight != 1 || s.Refused[weir.ReasonQueueFull] != 1 {
			t.Error(l)
		}
		p.Done(nil)
		hold(t, l, 1)[0].Done(nil)
		close(release)
		if a := now(t, refused); !errors.Is(a.err, weir.ErrQueueFull) {
			t.Error(a.err)
		}
	})
}

func TestSlowHookDelaysNoWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		grow := func(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit + 1)} }
		l := newLimiter(t, weir.Config{
			Max: 3, Initial: 1, Law: script(grow), MinSamples: 1, Queue: weir.Queue{Size: 5, Timeout: time.Minute},
			OnEvent: func(weir.Event) { <-release },
		})
		held := hold(t, l, 2) // the law begins with one more
		first, second := ask(t.Context(), l, 1), ask(t.Context(), l, 1)
		time.Sleep(time.Second)
		done := make(chan struct{})
		go func() { held[0].Done(nil); close(done) }() // the limit rises, two slots are free, the hook hangs
		admitted(t, first)
		admitted(t, second)
		select {
		case <-done:
			t.Error("the hook was not called")
		default:
		}
		close(release)
		<-done
	})
}

func TestHookMayUseTheLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *weir.Limiter
		calls := 0
		l = newLimiter(t, weir.Config{Initial: 10, Law: band, MinSamples: 1, OnEvent: func(e weir.Event) {
			calls++
			if s := l.Snapshot(); s.Limit < 1 {
				t.Error(s)
			}
			_, _ = l.History(), l.String()
			if permit, err := l.Acquire(context.Background()); err == nil {
				permit.Done(nil)
			}
			if e.Kind == weir.Refused && e.Seq < 100 {
				_, _ = l.AcquireN(context.Background(), 500) // is refused, and calls the hook again
			}
		}})
		slow(t, l, 2500*time.Millisecond)
		_, _ = l.AcquireN(t.Context(), 500)
		if calls < 90 {
			t.Errorf("%d calls", calls)
		}
		balanced(t, l)
	})
}

func TestKindsHaveNames(t *testing.T) {
	for kind, want := range map[weir.Kind]string{
		weir.LimitChanged: "limit changed", weir.LawReplaced: "law replaced", weir.Refused: "refused",
		weir.WouldRefuse: "would refuse", 99: "Kind(99)",
	} {
		if kind.String() != want {
			t.Errorf("%q: want %q", kind, want)
		}
	}
	if got := (weir.Event{Limiter: "a", Kind: 99}).String(); got != "a: Kind(99)" {
		t.Error(got)
	}
}
