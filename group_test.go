package weir_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func newGroup(t testing.TB, slots int) *weir.Group {
	t.Helper()
	g, err := weir.NewGroup(slots)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// member returns a limiter of the group whose own limit is not in the way.
func member(t testing.TB, g *weir.Group, name string, s weir.Stake) *weir.Limiter {
	t.Helper()
	l, err := g.New(memberConfig(name), s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func memberConfig(name string) weir.Config {
	return weir.Config{Name: name, Initial: 1000, Law: law.Fixed{}, Queue: weir.Queue{Size: 100, Timeout: time.Minute}}
}

func TestGroupConfigIsChecked(t *testing.T) {
	g := newGroup(t, 10)
	l := member(t, g, "a", weir.Stake{Reserved: 6})
	_, tooSmall := weir.NewGroup(0)
	_, tooLarge := weir.NewGroup(1_000_000_001)
	added := func(c weir.Config, s weir.Stake) error { _, err := g.New(c, s); return err }
	small := weir.Config{Max: 3}
	for want, err := range map[string]error{
		"its cap is 0: want 1 to 1000000000":                        tooSmall,
		"its cap is 1000000001: want 1 to 1000000000":               tooLarge,
		"Reserved is 5: want at most 4":                             added(weir.Config{}, weir.Stake{Reserved: 5}),
		"Reserved is -1: want 0 to Max":                             added(weir.Config{}, weir.Stake{Reserved: -1}),
		"Reserved is 4: want 0 to Max, which is 3":                  added(small, weir.Stake{Reserved: 4}),
		"Reserved is 9223372036854775807: want 0 to ":               added(small, weir.Stake{Reserved: math.MaxInt}),
		"Share is -1: want 0 (the default, 1) or":                   added(weir.Config{}, weir.Stake{Share: -1}),
		"Share is NaN: want":                                        added(weir.Config{}, weir.Stake{Share: math.NaN()}),
		"Share is +Inf: want":                                       added(weir.Config{}, weir.Stake{Share: math.Inf(1)}),
		"Share is 0.0001: want 0 (the default, 1) or 0.001 to 1000": added(weir.Config{}, weir.Stake{Share: 0.0001}),
		"Min is -1: want":                                           added(weir.Config{Min: -1}, weir.Stake{}),
		"its cap is 5: want at least 6":                             g.Resize(5),
		"its cap is -1: want 1 to 1000000000":                       g.Resize(-1),
		"Reserved is 11: want at most 10":                           g.Update(l, weir.Config{}, weir.Stake{Reserved: 11}),
		"Share is -2: want":                                         g.Update(l, weir.Config{}, weir.Stake{Share: -2}),
		"Reserved is 6: want at most Max":                           l.Update(weir.Config{Max: 5}),
		`limiter "limiter" is not in the group`:                     g.Update(newLimiter(t, weir.Config{}), weir.Config{}, weir.Stake{}),
		`limiter "other" is not in the group`:                       newGroup(t, 1).Remove(member(t, g, "other", weir.Stake{})),
	} {
		if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if s := l.Snapshot(); s.Reserved != 6 || s.Share != 1 || s.Max != 100_000 {
		t.Errorf("a refused update left %v", l)
	}
}

func TestGroupGivesBackWhatWasBorrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 10)
		search, checkout := member(t, g, "search", weir.Stake{}), member(t, g, "checkout", weir.Stake{Reserved: 2, Share: 3})
		borrowed := hold(t, search, 8)
		more := ask(t.Context(), search, 1)
		own := hold(t, checkout, 2)
		back := ask(t.Context(), checkout, 1)
		waits(t, back)
		time.Sleep(time.Second)

		s := g.Snapshot()
		if s.Max != 10 || s.InFlight != 10 || s.Reserved != 2 || s.Lent != 8 || s.Limiters != 2 || len(s.Members) != 2 {
			t.Errorf("%+v", s)
		}
		want := weir.Member{Name: "checkout", InFlight: 2, Queued: 1, Reserved: 2, Share: 3, Entitled: 8}
		if s.Members[0] != want {
			t.Errorf("%+v, want %+v", s.Members[0], want)
		}
		if m := search.Snapshot(); m.Entitled != 2 || m.Borrowed != 6 || m.Share != 1 {
			t.Errorf("%v", search)
		}
		borrowed[0].Done(nil)
		admitted(t, back).Done(nil)
		admitted(t, more).Done(nil)
		if m := checkout.Snapshot(); m.GroupWait == 0 || m.QueueWait != 0 {
			t.Errorf("waited %v for the group and %v for the limit", m.GroupWait, m.QueueWait)
		}
		for _, p := range append(borrowed, own...) {
			p.Done(nil)
		}
		balanced(t, search)
		balanced(t, checkout)
	})
}

func TestGroupWithoutQueueRefuses(t *testing.T) {
	g := newGroup(t, 2)
	a := member(t, g, "a", weir.Stake{})
	b, err := g.New(weir.Config{}, weir.Stake{})
	if err != nil {
		t.Fatal(err)
	}
	hold(t, a, 2)
	if _, err := b.Acquire(t.Context()); !errors.Is(err, weir.ErrLimitReached) {
		t.Errorf("got %v", err)
	}
	if _, err := b.AcquireN(t.Context(), 3); !errors.Is(err, weir.ErrTooHeavy) {
		t.Errorf("heavier than the cap: %v", err)
	}
}

func TestGroupUpdateKeepsWhatWasLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 100)
		c := weir.Config{Name: "a", Law: law.Band{Target: 100 * time.Millisecond}}
		l := weir.Must(g.New(c, weir.Stake{Reserved: 20, Share: 2}))
		load(t.Context(), l, 30, 5*time.Second, always(20*time.Millisecond))
		before := l.Snapshot()
		if before.Limit <= 20 {
			t.Fatalf("nothing was learned: %v", l)
		}
		c.Timeout = time.Second
		if err := l.Update(c); err != nil {
			t.Fatal(err)
		}
		if s := l.Snapshot(); s.Reserved != 20 || s.Share != 2 || s.Limit != before.Limit {
			t.Errorf("after the limiter's update: %v", l)
		}
		if err := g.Update(l, c, weir.Stake{Share: 3}); err != nil {
			t.Fatal(err)
		}
		if s := l.Snapshot(); s.Reserved != 0 || s.Share != 3 || s.Limit != before.Limit || s.Samples != before.Samples {
			t.Errorf("after the group's update: %v", l)
		}
	})
}

// An adaptive limiter that is held back by the group alone learns nothing of higher limits.
func TestGroupDoesNotRaiseLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Initial: 10, Law: law.Band{Target: time.Second}, Queue: weir.Queue{Size: 100}}
		alone, grouped := newLimiter(t, c), weir.Must(newGroup(t, 5).New(c, weir.Stake{}))
		for _, l := range []*weir.Limiter{alone, grouped} {
			load(t.Context(), l, 20, 5*time.Second, always(20*time.Millisecond))
		}
		if limit := alone.Snapshot().Limit; limit <= 10 {
			t.Errorf("alone: limit %d, want it raised", limit)
		}
		if limit := grouped.Snapshot().Limit; limit != 10 {
			t.Errorf("in the group: limit %d, want 10", limit)
		}
	})
}

func TestGroupRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 4)
		a, b := member(t, g, "a", weir.Stake{Reserved: 3}), member(t, g, "b", weir.Stake{})
		permit := hold(t, a, 1)[0]
		hold(t, b, 1)
		waiting := ask(t.Context(), b, 1)
		if err := g.Remove(a); !errors.Is(err, weir.ErrBusy) || errors.Is(err, weir.ErrConfig) {
			t.Errorf("in use: %v", err)
		}
		permit.Done(nil)
		waits(t, waiting)
		if err := g.Remove(a); err != nil {
			t.Fatal(err)
		}
		admitted(t, waiting)
		if _, err := a.Acquire(t.Context()); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("a removed limiter: %v", err)
		}
		for _, err := range []error{g.Remove(a), a.Update(weir.Config{}), g.Update(a, weir.Config{}, weir.Stake{})} {
			if !errors.Is(err, weir.ErrConfig) {
				t.Errorf("a removed limiter: %v", err)
			}
		}
		if s := g.Snapshot(); s.Limiters != 1 || s.Reserved != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Many callers, with updates, resizes and removals mixed in: the cap holds at every
// moment, and in the end all is back.
func TestGroupUnderStress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, keys = 8, 5
		g := newGroup(t, slots)
		limiters := make([]*weir.Limiter, keys)
		for i := range limiters {
			limiters[i] = member(t, g, fmt.Sprint(i), weir.Stake{Reserved: i % 2, Share: float64(1 + i)})
		}
		var all sync.WaitGroup
		for caller := range 60 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(caller)))
				for range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(500))*time.Millisecond)
					permit, err := limiters[r.IntN(keys)].AcquireN(ctx, 1+r.IntN(3))
					if err == nil {
						if n := g.Snapshot().InFlight; n > slots {
							t.Errorf("%d in flight", n)
						}
						time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
						permit.Done(nil)
					}
					cancel()
				}
			})
		}
		all.Go(func() {
			spare := member(t, g, "spare", weir.Stake{})
			for i := range 40 {
				time.Sleep(5 * time.Millisecond)
				err := errors.Join(
					g.Resize(slots-i%3),
					g.Update(limiters[i%keys], memberConfig("changed"), weir.Stake{Reserved: i % 2}),
					g.Remove(spare))
				if err != nil {
					t.Error(err)
				}
				spare = member(t, g, "spare", weir.Stake{Share: 5})
			}
			if err := g.Resize(slots); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		for _, l := range limiters {
			balanced(t, l)
		}
		if s := g.Snapshot(); s.InFlight != 0 || s.Lent != 0 || len(s.Members) != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestGroupDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := member(t, newGroup(t, 10), "a", weir.Stake{Reserved: 1})
	pass := func() {
		if permit, ok := l.TryAcquire(); ok {
			permit.Done(nil)
		}
	}
	pass()
	if n := testing.AllocsPerRun(1000, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
