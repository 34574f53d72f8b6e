package weir_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func update(t testing.TB, l *weir.Limiter, c weir.Config) {
	t.Helper()
	if err := l.Update(c); err != nil {
		t.Fatal(err)
	}
}

func TestUpdateBoundsMoveTheLimit(t *testing.T) {
	l := newLimiter(t, weir.Config{Initial: 20})
	for _, step := range []struct{ low, high, want int }{
		{1, 10, 10}, {1, 100, 10}, {30, 100, 30}, {5, 100, 30}, {7, 7, 7},
	} {
		update(t, l, weir.Config{Min: step.low, Max: step.high})
		if s := l.Snapshot(); s.Limit != step.want || s.Min != step.low || s.Max != step.high {
			t.Errorf("limit %d within %d to %d: want %d within %d to %d",
				s.Limit, s.Min, s.Max, step.want, step.low, step.high)
		}
	}
	var got []string
	for _, c := range l.History() {
		got = append(got, c.String())
	}
	want := []string{
		"configuration changed: cut 20 to 10", "configuration changed: raised 10 to 30",
		"configuration changed: cut 30 to 7",
	}
	if !slices.Equal(got, want) {
		t.Errorf("history %q: want %q", got, want)
	}
}

func TestUpdateLowerLimitInterruptsNothing(t *testing.T) {
	l := fixed(t, 5, weir.Queue{})
	held := hold(t, l, 5)
	update(t, l, weir.Config{Max: 2, Law: law.Fixed{}})
	for i, p := range held {
		if _, ok := l.TryAcquire(t.Context()); ok {
			t.Fatalf("admitted with %d in flight", 5-i)
		}
		if s := l.Snapshot(); s.InFlight != 5-i || s.Limit != 2 {
			t.Fatal(l)
		}
		if p.Done(nil); i == 3 {
			break
		}
	}
	hold(t, l, 1)
}

func TestUpdateHigherLimitServesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Max: 1, Queue: weir.Queue{Size: 5}}
		l := newLimiter(t, c)
		hold(t, l, 1)
		first, second, third := ask(t.Context(), l, 1), ask(t.Context(), l, 1), ask(t.Context(), l, 1)
		c.Min, c.Max = 3, 10
		update(t, l, c)
		admitted(t, first)
		admitted(t, second)
		waits(t, third)
		l.Close()
	})
}

// slow keeps a limiter busy with work far above its target.
func slow(t *testing.T, l *weir.Limiter, lasting time.Duration) {
	load(t.Context(), l, 4, lasting, always(250*time.Millisecond))
}

func TestUpdateOfTheSameLawKeepsItsCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal
		c := weir.Config{Initial: 10, MinSamples: 1, Law: law.Band{Cooldown: 5 * time.Second}, OnEvent: j.note}
		l := newLimiter(t, c)
		slow(t, l, 1250*time.Millisecond)
		if got := l.Snapshot().Limit; got != 7 {
			t.Fatalf("limit %d after the first window: want 7", got)
		}
		c.Law = law.Band{Cooldown: 5 * time.Second, Factor: 0.5}
		update(t, l, c)
		slow(t, l, 4*time.Second)
		if got := l.Snapshot().Limit; got != 7 {
			t.Errorf("limit %d while it cools down: want 7", got)
		}
		slow(t, l, 3*time.Second)
		if got := l.Snapshot().Limit; got != 3 {
			t.Errorf("limit %d after it: want 3, by the new factor", got)
		}
		if n := len(j.of(weir.LawReplaced)); n != 0 {
			t.Errorf("%d laws replaced: want none", n)
		}
		j.gapless(t)
	})
}

func TestUpdateToAnotherLawIsAnEvent(t *testing.T) {
	var j journal
	c := weir.Config{Initial: 10, Law: law.Band{}, OnEvent: j.note}
	l := newLimiter(t, c)
	update(t, l, c)
	if len(j.events) != 0 || len(l.History()) != 0 {
		t.Errorf("an update that changes nothing is reported: %v", j.events)
	}
	c.Law = law.Fixed{}
	update(t, l, c)
	replaced := j.of(weir.LawReplaced)
	if len(replaced) != 1 || replaced[0].Change.From != 10 || replaced[0].Change.To != 10 {
		t.Fatalf("events %v: want one of a law replaced that leaves the limit at 10", j.events)
	}
	j.gapless(t)
	if l.Snapshot().Limit != 10 {
		t.Error("the limit moved")
	}
}

func TestUpdateComparesNoLaws(t *testing.T) {
	c := weir.Config{Law: script(func(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit)} })}
	l := newLimiter(t, c) // comparing functions panics
	update(t, l, c)
	update(t, l, c)
}

func TestUpdateToFixedPinsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Initial: 10, Law: band, MinSamples: 1})
		slow(t, l, 1250*time.Millisecond)
		update(t, l, weir.Config{Law: law.Fixed{}, MinSamples: 1})
		slow(t, l, 5*time.Second)
		if got := l.Snapshot().Limit; got != 7 {
			t.Errorf("limit %d: want it pinned at 7", got)
		}
		update(t, l, weir.Config{Law: law.Fixed{}, Min: 12, Max: 12, MinSamples: 1})
		slow(t, l, 5*time.Second)
		if got := l.Snapshot().Limit; got != 12 {
			t.Errorf("limit %d: want it pinned at 12", got)
		}
		update(t, l, weir.Config{Law: band, MinSamples: 1})
		slow(t, l, 1250*time.Millisecond)
		if got := l.Snapshot().Limit; got != 8 {
			t.Errorf("limit %d: want the law back at work, from 12", got)
		}
	})
}

func TestUpdateOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Max: 1, Queue: weir.Queue{Size: 2, Timeout: time.Minute}}
		l := newLimiter(t, c)
		held := hold(t, l, 1)
		refused := func() bool {
			c := ask(t.Context(), l, 1)
			return len(c) > 0 && errors.Is((<-c).err, weir.ErrQueueFull)
		}
		first, second := ask(t.Context(), l, 1), ask(t.Context(), l, 1)
		if !refused() {
			t.Error("a third waits in a queue of 2")
		}
		c.Queue.Size = 3
		update(t, l, c)
		if third := ask(t.Context(), l, 1); len(third) > 0 {
			t.Error("a queue made longer has no more room")
		}
		c.Queue.Size = 1
		update(t, l, c)
		if s := l.Snapshot(); s.Queued != 3 {
			t.Errorf("%d queued: want the three to stay", s.Queued)
		}
		if !refused() {
			t.Error("a queue made shorter takes more")
		}
		held[0].Done(nil)
		admitted(t, first).Done(nil)
		admitted(t, second)
		if !refused() {
			t.Error("a queue of 1 takes a second")
		}
		l.Close()
	})
}

func TestUpdateOfTheDisciplineKeepsWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Max: 1, Queue: weir.Queue{Size: 9, Timeout: time.Minute}}
		l := newLimiter(t, c)
		held := hold(t, l, 1)
		var waiting []<-chan answer
		for i := range 4 { // as many as the adaptive queue holds under a limit of 1
			waiting = append(waiting, ask(t.Context(), l, 1))
			c.Queue.Discipline = weir.Discipline((i + 1) % 2)
			update(t, l, c)
			if s := l.Snapshot(); s.Queued != i+1 || s.RefusedTotal() > 0 {
				t.Fatalf("after %d: %v", i+1, l)
			}
		}
		held[0].Done(nil)
		for range waiting {
			synctest.Wait()
			for _, w := range waiting {
				if len(w) > 0 {
					admitted(t, w).Done(nil)
				}
			}
		}
		if s := l.Snapshot(); s.Admitted != 5 {
			t.Error(l)
		}
		balanced(t, l)
	})
}

func TestUpdateInvalidIsRefusedWhole(t *testing.T) {
	l := newLimiter(t, weir.Config{Name: "search", Initial: 10, Max: 50})
	before := l.String()
	for name, c := range map[string]weir.Config{
		"weir: ": {Name: "other", Max: 5, Min: 6},
		"law: ":  {Name: "other", Max: 5, Law: law.Band{Factor: 2}},
	} {
		err := l.Update(c)
		if !errors.Is(err, weir.ErrConfig) && !errors.Is(err, law.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
	if after := l.String(); after != before {
		t.Errorf("changed from\n%s to\n%s", before, after)
	}
	if n := len(l.History()); n != 0 {
		t.Errorf("%d changes", n)
	}
}

// elsewhere is a law that does something when it starts.
type elsewhere struct{ does func() }

func (e elsewhere) Controller(b law.Bounds) (law.Controller, error) {
	e.does()
	return law.Fixed{}.Controller(b)
}

// A law may update any limiter but its own.
func TestUpdateFromALaw(t *testing.T) {
	l, other := newLimiter(t, weir.Config{}), newLimiter(t, weir.Config{})
	updated := make(chan bool)
	go func() {
		defer close(updated)
		update(t, l, weir.Config{Name: "l", Law: elsewhere{func() { update(t, other, weir.Config{Name: "other"}) }}})
	}()
	select {
	case <-updated:
	case <-time.After(10 * time.Second):
		t.Fatal("the updates wait for each other")
	}
	if l.Snapshot().Name != "l" || other.Snapshot().Name != "other" {
		t.Errorf("%v, %v", l, other)
	}
}

// A switch from FIFO to Adaptive leaves the waiters alone.
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
