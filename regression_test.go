package weir_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// A switch from FIFO to Adaptive leaves those who wait alone.
func TestDisciplineSwitchServesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Initial: 1, Law: law.Fixed{}, Queue: weir.Queue{Size: 9}}
		l := newLimiter(t, c)
		held := hold(t, l, 1)
		first, second := ask(t.Context(), l, 1), ask(t.Context(), l, 1)
		c.Queue.Discipline = weir.Adaptive
		if err := l.Update(c); err != nil {
			t.Fatal(err)
		}
		held[0].Done(nil)
		admitted(t, first).Done(nil)
		admitted(t, second).Done(nil)
	})
}

// One call that moves the limit twice reports both moves.
func TestUpdateReportsEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		c := weir.Config{Initial: 10, Law: band, MinSamples: 1, OnEvent: j.note}
		l := newLimiter(t, c)
		p := hold(t, l, 1)[0]
		time.Sleep(500 * time.Millisecond)
		p.Done(nil)
		time.Sleep(time.Second)
		c.Law = law.Fixed{}
		if err := l.Update(c); err != nil { // the window is due: 10 to 7, then the law is replaced
			t.Fatal(err)
		}
		if len(l.History()) != len(j.events) {
			t.Errorf("history %v, events %v", l.History(), j.events)
		}
		j.gapless(t)
	})
}

// Two updates at a time leave one of the two configurations, not a mixture.
func TestConcurrentUpdatesAreWhole(t *testing.T) {
	l := newLimiter(t, weir.Config{})
	for range 20000 {
		var both sync.WaitGroup
		both.Go(func() { _ = l.Update(weir.Config{Name: "a", Max: 10}) })
		both.Go(func() { _ = l.Update(weir.Config{Name: "b", Max: 20}) })
		both.Wait()
		if s := l.Snapshot(); (s.Name == "a") != (s.Max == 10) {
			t.Fatalf("name %q with maximum %d", s.Name, s.Max)
		}
	}
}

// A nil context is a documented result everywhere.
func TestShutdownNilContext(t *testing.T) {
	var none context.Context
	if err := fixed(t, 1, weir.Queue{}).Shutdown(none); err != nil {
		t.Error(err)
	}
}

func TestWithPriorityNilContext(t *testing.T) {
	var none context.Context
	if p := weir.PriorityFrom(weir.WithPriority(none, weir.High)); p != weir.High {
		t.Error(p)
	}
}

// An idle limiter is shut down whatever the context.
func TestShutdownOfTheIdleSucceeds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		if err := fixed(t, 1, weir.Queue{}).Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// An update of the interval takes effect now, not after the old interval.
func TestUpdateOfTheIntervalActsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Initial: 10, Law: band, MinSamples: 1, Interval: time.Hour}
		l := newLimiter(t, c)
		c.Interval = time.Second
		if err := l.Update(c); err != nil {
			t.Fatal(err)
		}
		load(t.Context(), l, 1, 20*time.Second, always(500*time.Millisecond))
		if got := l.Snapshot().Limit; got >= 10 {
			t.Errorf("limit %d after 20 s of slow work", got)
		}
	})
}

// The heavy work whose time is up, but whose timer was not yet heard, leaves; the
// newcomer that finds this out is refused; the one between must be served.
func TestExpiredHeavyWorkWakesWhatIsBehind(t *testing.T) {
	n, err := admit.New(admit.Settings{
		Bounds: law.Bounds{Min: 1, Max: 2, Initial: 2}, Interval: time.Hour, Lookback: time.Hour, MinSamples: 1,
		QueueSize: 9, QueueTimeout: time.Second, Lanes: 1,
	}, law.Fixed{}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fx admit.Effects
	second := int64(time.Second)
	var first, next reply.Ticket
	n.Acquire(&first, 0, 2, 0, &fx) // teaches a drain rate of 1/s
	n.Done(first, second, window.Success, &fx)
	if v := n.Acquire(&next, 0, 1, second, &fx); v != reply.Admitted {
		t.Fatal(v)
	}
	heavy, light := &queue.Waiter{Weight: 2, Owner: deaf{}}, &queue.Waiter{Weight: 1, Owner: deaf{}}
	n.Join(heavy, second, &fx)
	n.Join(light, second+second/2, &fx)
	late := &queue.Waiter{Weight: 1, Owner: deaf{}, Deadline: 2*second + 1000}
	if v := n.Join(late, 2*second, &fx); v != reply.Deadline {
		t.Fatal(v)
	}
	n.Leave(heavy, reply.QueueTimeout, 2*second+10, &fx)
	if v, _ := light.Answer(); v != reply.Admitted {
		t.Errorf("%v, with %+v", v, n.State(2*second+20))
	}
}

type deaf struct{}

func (deaf) Wake()  {}
func (deaf) Nudge() {}

// One whose time is up takes no place in a full queue from a newcomer.
func TestExpiredTakesNoPlace(t *testing.T) {
	n, err := admit.New(admit.Settings{
		Bounds: law.Bounds{Min: 1, Max: 1, Initial: 1}, Interval: time.Hour, Lookback: time.Hour, MinSamples: 1,
		QueueSize: 1, QueueTimeout: time.Second, Lanes: 1,
	}, law.Fixed{}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var fx admit.Effects
	n.Acquire(new(reply.Ticket), 0, 1, 0, &fx)
	n.Join(&queue.Waiter{Weight: 1, Owner: deaf{}}, 0, &fx)
	if v := n.Acquire(new(reply.Ticket), 0, 1, int64(2*time.Second), &fx); v != reply.MustWait {
		t.Error(v)
	}
}

// A copy that was given back twice does not cost the limiter slots for good.
func TestCopyOfLightPermitStrandsNoSlots(t *testing.T) {
	l := fixed(t, 10, weir.Queue{})
	light := hold(t, l, 1)[0]
	heavy, err := l.AcquireN(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	twin := light
	light.Done(nil)
	twin.Done(nil)
	heavy.Done(nil)
	if n := l.Snapshot().InFlight; n != 0 {
		t.Errorf("%d in flight with nothing running", n)
	}
}

// A cancellation with a cause of the caller's own teaches nothing either.
func TestCancelCauseTeachesNothing(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	gone := errors.New("client gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	_ = l.Do(ctx, func(ctx context.Context) error {
		cancel(gone)
		return context.Cause(ctx)
	})
	if s := l.Snapshot(); s.Failed != 0 || s.Ignored != 1 {
		t.Errorf("%d failed, %d ignored", s.Failed, s.Ignored)
	}
}

// Updates that come more often than the interval do not keep windows from closing.
func TestFrequentUpdatesLetWindowsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Initial: 10, Law: band, MinSamples: 1}
		l := newLimiter(t, c)
		for range 40 {
			p := hold(t, l, 1)[0]
			time.Sleep(500 * time.Millisecond)
			p.Done(nil)
			if err := l.Update(c); err != nil {
				t.Fatal(err)
			}
		}
		if got := l.Snapshot().Limit; got >= 10 {
			t.Errorf("limit %d after 20 s of slow work", got)
		}
	})
}

// A Classify of the caller's own is shown the error that the work returned.
func TestClassifySeesTheErrorOfTheWork(t *testing.T) {
	var seen error
	l := newLimiter(t, weir.Config{Classify: func(err error) weir.Outcome {
		seen = err
		return weir.Success
	}})
	ctx, cancel := context.WithCancel(t.Context())
	returned := fmt.Errorf("partial answer: %w", context.Canceled)
	_ = l.Do(ctx, func(context.Context) error {
		cancel()
		return returned
	})
	if seen != returned {
		t.Errorf("Classify was shown %q: want %q", seen, returned)
	}
}

// One newcomer in a hurry does not empty the queue of those who have time.
func TestHurriedNewcomerLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := adaptive(t, 1)
		load(t.Context(), l, 1, time.Second, always(100*time.Millisecond))
		hold(t, l, 1)
		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 3 {
			ask(patient, l, 1)
		}
		hurried, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		ask(hurried, l, 1)
		if s := l.Snapshot(); s.Queued < 3 {
			t.Errorf("%d queued of three with a minute each, refused: %v", s.Queued, s.Refused)
		}
		l.Close()
	})
}
