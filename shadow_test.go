package weir_test

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func TestShadowAdmitsAllAndReports(t *testing.T) {
	var j journal
	l := newLimiter(t, weir.Config{Name: "s", Max: 2, Shadow: true, OnEvent: j.note})
	permits := hold(t, l, 5)
	permit, err := l.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := l.Snapshot()
	if !s.Shadow || s.InFlight != 6 || s.Admitted != 6 || s.WouldRefuse != 4 || s.RefusedTotal() != 0 || s.Limit != 2 {
		t.Error(l)
	}
	would := j.of(weir.WouldRefuse)
	if len(would) != 4 || len(j.events) != 4 {
		t.Fatalf("%d events of 4 that would have been refused", len(would))
	}
	if e := would[0]; e.Reason != weir.ReasonLimitReached || e.String() != "s: would refuse: limit reached" {
		t.Errorf("event %q", e)
	}
	j.gapless(t)
	for _, p := range permits {
		p.Done(nil)
	}
	permit.Done(nil)
	balanced(t, l)
}

func TestShadowCountsRoomInTheQueue(t *testing.T) {
	for _, c := range []struct {
		queue weir.Queue
		want  uint64
	}{
		{weir.Queue{}, 18},
		{weir.Queue{Size: 5}, 13},
		{weir.Queue{Discipline: weir.Adaptive}, 0},
		{weir.Queue{Discipline: weir.Adaptive, Size: 3}, 15},
	} {
		l := newLimiter(t, weir.Config{Max: 2, Shadow: true, Queue: c.queue})
		for range 20 {
			if _, err := l.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := l.Snapshot().WouldRefuse; got != c.want {
			t.Errorf("%+v: would refuse %d of 20: want %d", c.queue, got, c.want)
		}
	}
}

func TestShadowLawStillMovesTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Initial: 10, Law: band, MinSamples: 1, Shadow: true})
		slow(t, l, 2500*time.Millisecond)
		if got := l.Snapshot().Limit; got != 4 {
			t.Errorf("limit %d: want 4 after two cuts", got)
		}
	})
}

func TestShadowSwitchedOff(t *testing.T) {
	c := weir.Config{Max: 2, Law: law.Fixed{}, Shadow: true}
	l := newLimiter(t, c)
	permits := hold(t, l, 4)
	c.Shadow = false
	update(t, l, c)
	for i, p := range permits {
		if _, ok := l.TryAcquire(t.Context()); ok {
			t.Errorf("admitted with %d in flight under a limit of 2", 4-i)
		}
		if i == 2 {
			break
		}
		p.Done(nil)
	}
	permits[2].Done(nil)
	hold(t, l, 1)
}

// A limiter that enters shadow mode also admits its current waiters.
func TestShadowAdmitsWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Initial: 1, Law: law.Fixed{}, Queue: weir.Queue{Size: 1}}
		l := newLimiter(t, c)
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		c.Shadow = true
		if err := l.Update(c); err != nil {
			t.Fatal(err)
		}
		admitted(t, waiting).Done(nil)
		held[0].Done(nil)
	})
}

// A shadow limiter reports the answer of a live limiter.
func TestShadowReportsTooHeavy(t *testing.T) {
	var j journal
	l := newLimiter(t, weir.Config{
		Initial: 3, Law: law.Fixed{}, Queue: weir.Queue{Size: 50}, Shadow: true, OnEvent: j.note,
	})
	permit, err := l.AcquireN(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	permit.Done(nil)
	if w := j.of(weir.WouldRefuse); len(w) != 1 || w[0].Reason != weir.ReasonTooHeavy {
		t.Errorf("would refuse %v: want one that is too heavy", w)
	}
}

// A timeout of waiting work is reported when it would have happened.
func TestShadowReportsWhatWouldTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		l := newLimiter(t, weir.Config{
			Initial: 1, Law: law.Fixed{}, Queue: weir.Queue{Size: 2}, Shadow: true, OnEvent: j.note,
		})
		for range 4 { // one would run, two wait
			if _, err := l.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1001 * time.Millisecond)
		if _, err := l.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		var reasons []weir.Reason
		for _, e := range j.of(weir.WouldRefuse) {
			reasons = append(reasons, e.Reason)
		}
		want := []weir.Reason{weir.ReasonQueueFull, weir.ReasonQueueTimeout, weir.ReasonQueueTimeout}
		if !slices.Equal(reasons, want) || l.Snapshot().WouldRefuse != 3 {
			t.Errorf("would refuse for %v: want %v", reasons, want)
		}
		j.gapless(t)
	})
}

func TestShadowReportsWhatWouldNotWait(t *testing.T) {
	l := newLimiter(t, weir.Config{Initial: 1, Law: law.Fixed{}, Queue: weir.Queue{Size: 50}, Shadow: true})
	hold(t, l, 2) // the second would not have waited, so it would have been refused
	if n := l.Snapshot().WouldRefuse; n != 1 {
		t.Errorf("would refuse %d: want 1", n)
	}
}

func TestShadowDoesNotOverflow(t *testing.T) {
	l := newLimiter(t, weir.Config{Initial: 1, Law: law.Fixed{}, Shadow: true})
	const heavy = 1_000_000_000
	fit := min(3, math.MaxInt/heavy) // counts of 64 bits have room for more than 32 bits
	for range fit {
		if _, err := l.AcquireN(t.Context(), heavy); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.Snapshot().InFlight; n != fit*heavy {
		t.Errorf("%d in flight", n)
	}
}
