package weir_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// refuseTimes makes a limiter without a free slot refuse n pieces of work.
func refuseTimes(t testing.TB, l *weir.Limiter, n int) {
	t.Helper()
	for range n {
		if _, err := l.TryAcquire(t.Context()); err == nil {
			t.Fatal("admitted")
		}
	}
}

// drained returns the current events of a channel.
func drained(events <-chan weir.Event) (all []weir.Event) {
	for {
		select {
		case e, open := <-events:
			if !open {
				return all
			}
			all = append(all, e)
		default:
			return all
		}
	}
}

func TestEventsOfARunningLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Name: "search", Max: 1, Law: law.Fixed{}})
		hold(t, l, 1)
		refuseTimes(t, l, 3) // there is no reader
		events, stop := l.Events(8)
		defer stop()
		refuseTimes(t, l, 2)
		update(t, l, weir.Config{Name: "find", Max: 2, Law: law.Fixed{Limit: 2}})
		hold(t, l, 1)
		refuseTimes(t, l, 1)
		l.Close()
		refuseTimes(t, l, 1)
		want := []weir.Event{
			{Limiter: "search", Kind: weir.Refused, Reason: weir.ReasonLimitReached},
			{Limiter: "search", Kind: weir.Refused, Reason: weir.ReasonLimitReached},
			{Limiter: "find", Kind: weir.LawReplaced},
			{Limiter: "find", Kind: weir.Refused, Reason: weir.ReasonLimitReached},
			{Limiter: "find", Kind: weir.Refused, Reason: weir.ReasonClosed},
		}
		got := drained(events)
		for i, e := range got {
			if i >= len(want) || e.Limiter != want[i].Limiter || e.Kind != want[i].Kind ||
				e.Reason != want[i].Reason || e.Seq != uint64(i+1) || e.Lost != 0 || e.At.IsZero() {
				t.Errorf("event %d: %+v", i, e)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d events: want %d", len(got), len(want))
		}
	})
}

func TestSlowReaderLosesTheOldestAndIsTold(t *testing.T) {
	l := newLimiter(t, weir.Config{Max: 1, Law: law.Fixed{}})
	hold(t, l, 1)
	for size, buffer := range map[int]int{-5: 1, 0: 1, 1: 1, 4: 4, math.MaxInt: 65_536} {
		events, stop := l.Events(size)
		if cap(events) != buffer {
			t.Fatalf("size %d: a buffer of %d", size, cap(events))
		}
		refuseTimes(t, l, 10)
		stop()
		stop()
		refuseTimes(t, l, 1) // too late
		kept := min(buffer, 10)
		var lost, last uint64
		n := 0
		for e := range events { // closed
			n++
			lost += e.Lost
			last = e.Seq
		}
		if n != kept || lost != uint64(10-kept) || last%10 != 0 {
			t.Errorf("size %d: %d events, %d lost, the last is %d", size, n, lost, last)
		}
	}
}

func TestEventsBesidesAHook(t *testing.T) {
	var j limittest.Journal
	l := newLimiter(t, weir.Config{Max: 1, Law: law.Fixed{}, OnEvent: j.Note})
	hold(t, l, 1)
	one, stopOne := l.Events(8)
	two, stopTwo := l.Events(8)
	refuseTimes(t, l, 1)
	update(t, l, l.Config())
	stopOne()
	refuseTimes(t, l, 1)
	stopTwo()
	refuseTimes(t, l, 1)
	refusals := func(events []weir.Event) (n int) {
		for _, e := range events {
			if e.Kind == weir.Refused {
				n++
			}
		}
		return n
	}
	if a, b, c := refusals(drained(one)), refusals(drained(two)), refusals(j.Events); a != 1 || b != 2 || c != 3 {
		t.Errorf("heard of %d, %d, and %d by the hook: want 1, 2 and 3", a, b, c)
	}
	c := l.Config()
	c.OnEvent = nil
	update(t, l, c)
	if _, stop := l.Events(1); l.Config().OnEvent != nil {
		t.Error("a subscription is no hook")
	} else {
		stop()
	}
}

func TestEventsReachReadersThoughTheHookPanics(t *testing.T) {
	l := newLimiter(t, weir.Config{Max: 1, Law: law.Fixed{}, OnEvent: func(weir.Event) { panic("odd") }})
	hold(t, l, 1)
	events, stop := l.Events(1)
	defer stop()
	func() {
		defer func() { _ = recover() }()
		l.TryAcquire(t.Context())
	}()
	if got := drained(events); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// One call may cause several events: here two in a queue would have been refused.
func TestAHookThatPanicsGetsTheOtherEventsOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := 0
		l := newLimiter(t, weir.Config{
			Initial: 1, Law: law.Fixed{}, Queue: weir.Queue{Size: 2}, Shadow: true,
			OnEvent: func(weir.Event) { heard++; panic("odd") },
		})
		events, stop := l.Events(10)
		defer stop()
		for range 3 {
			if _, err := l.Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(1001 * time.Millisecond)
		var panicked any
		func() {
			defer func() { panicked = recover() }()
			_, _ = l.Acquire(t.Context())
		}()
		if got := len(drained(events)); panicked != "odd" || heard != 2 || got != 2 {
			t.Errorf("panicked with %v, %d calls of the hook, %d events: want 2 and 2", panicked, heard, got)
		}
	})
}

// Here the window ends as work arrives, and the work is refused by the new limit.
func TestAHookThatPanicsGetsTheRefusalAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		l := newLimiter(t, weir.Config{
			Initial: 3, Law: script(func(w law.Window) law.Decision {
				next := w.Limit
				if w.Samples > 0 {
					next = 2
				}
				return law.Decision{Limit: float64(next), Next: law.Plan{Interval: time.Second, MinSamples: 1}}
			}),
			OnEvent: func(e weir.Event) { j.Note(e); panic(e.Kind) },
		})
		hold(t, l, 2)
		p, _ := l.TryAcquire(t.Context())
		time.Sleep(10 * time.Millisecond)
		p.Done(nil)
		time.Sleep(2 * time.Second)
		panicked, _ := limittest.Unwind(func() { _, _ = l.TryAcquire(t.Context()) })
		if panicked == nil || len(j.Of(weir.LimitChanged)) != 1 || len(j.Of(weir.Refused)) != 1 {
			t.Errorf("panicked with %v, heard %v: want a change and a refusal", panicked, j.Events)
		}
	})
}
