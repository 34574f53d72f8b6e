package bulkhead_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/law"
)

// drive runs callers of a key until the time is over. Each piece of work takes the latency.
func drive(t *testing.T, s *bulkhead.Set, key string, callers int, lasting, latency time.Duration) {
	t.Helper()
	until := time.Now().Add(lasting)
	together.Do(callers, func(int) {
		for time.Now().Before(until) {
			if s.Do(t.Context(), key, work(latency)) != nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
}

func TestKeyOverBudgetLosesSlotsAndGetsThemBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		search := fixed(20, 0, 0)
		search.Config.OnEvent = j.Note
		search.Budget, search.Reserved = 100*time.Millisecond, 3
		s := newSet(t, bulkhead.Config{Max: 40, Default: fixed(20, 0, 0), ByKey: byKey{"search": search}})
		limit := func() int { return s.Snapshot().ByKey["search"].Limit }

		drive(t, s, "search", 20, 5*time.Second, 50*time.Millisecond)
		if n := limit(); n != 20 {
			t.Errorf("within its budget it has %d slots, want 20", n)
		}
		var all sync.WaitGroup
		all.Go(func() { drive(t, s, "search", 20, 15*time.Second, 150*time.Millisecond) })
		all.Go(func() { drive(t, s, "other", 20, 15*time.Second, 50*time.Millisecond) })
		all.Wait()
		if n := limit(); n != 3 {
			t.Errorf("over its budget it has %d slots, want its reserve, 3", n)
		}
		if n := s.Snapshot().ByKey["other"].Limit; n != 20 {
			t.Errorf("the other key has %d slots, want 20", n)
		}
		drive(t, s, "search", 20, 30*time.Second, 50*time.Millisecond)
		if n := limit(); n != 20 {
			t.Errorf("back within its budget it has %d slots, want 20", n)
		}

		changes := j.Of(weir.LimitChanged)
		var cut, raised []string
		for _, e := range changes {
			if e.Change.To < e.Change.From {
				cut = append(cut, e.String())
			} else {
				raised = append(raised, e.String())
			}
		}
		// 20 14 9 6 4 3, and 2 a window back
		if len(cut) != 5 || !strings.HasPrefix(cut[0], "search: limit changed: p95 15") ||
			!strings.HasSuffix(cut[0], "ms above 100ms: cut 20 to 14") {
			t.Errorf("%q", cut)
		}
		if len(raised) != 9 || !strings.HasSuffix(raised[8], "below 100ms: raised 19 to 20") {
			t.Errorf("%q", raised)
		}
	})
}

// TestTimeoutsCountAgainstABudget, although their latency is not measured.
func TestTimeoutsCountAgainstABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := fixed(10, 0, 0)
		k.Budget, k.Config.Timeout = time.Second, 20*time.Millisecond
		s := newSet(t, bulkhead.Config{Default: k})
		drive(t, s, "a", 10, 10*time.Second, time.Minute)
		if a := s.Snapshot().ByKey["a"]; a.Limit != 1 || a.Decision.String() != "timeout rate 100% above 5%" {
			t.Errorf("limit %d: %v", a.Limit, a.Decision)
		}
	})
}

func TestIdleKeyGetsItsSlotsBack(t *testing.T) {
	for _, every := range []time.Duration{time.Minute, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			k := fixed(10, 0, 0)
			k.Budget = 10 * time.Millisecond
			s := newSet(t, bulkhead.Config{Default: k})
			drive(t, s, "a", 10, 10*time.Second, 50*time.Millisecond)
			if n := s.Snapshot().ByKey["a"].Limit; n != 1 {
				t.Fatalf("limit %d", n)
			}
			for range 20 * time.Minute / every {
				time.Sleep(every)
				_ = s.Do(t.Context(), "a", func(context.Context) error { return nil })
			}
			if n := s.Snapshot().ByKey["a"].Limit; n != 10 {
				t.Errorf("a request each %v: limit %d, want 10", every, n)
			}
		})
	}
}

// TestUpdateOfACutKey checks that an update keeps the cut of a key without making it the key's
// entitlement, and that it sets a budget.
func TestUpdateOfACutKey(t *testing.T) {
	for name, own := range map[string]law.Law{"fixed": law.Fixed{}, "adaptive": law.Band{Target: time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := bulkhead.Compartment{
					Budget: 100 * time.Millisecond,
					Config: weir.Config{Initial: 10, Max: 10, Law: own},
				}
				s := newSet(t, bulkhead.Config{Default: k})
				drive(t, s, "a", 10, 2500*time.Millisecond, 150*time.Millisecond)
				if n := s.Snapshot().ByKey["a"].Limit; n != 4 {
					t.Fatalf("limit %d", n)
				}
				k.Budget = 200 * time.Millisecond
				update(t, s, bulkhead.Config{Default: k})
				if n := s.Snapshot().ByKey["a"].Limit; n != 4 {
					t.Errorf("limit %d after the update, want 4", n)
				}
				drive(t, s, "a", 10, 20*time.Second, 150*time.Millisecond)
				if n := s.Snapshot().ByKey["a"].Limit; n != 10 {
					t.Errorf("limit %d, want 10", n)
				}
				k.Budget = 0
				update(t, s, bulkhead.Config{Default: k})
			})
		})
	}
}

// The default law looks at a few pieces of work at a time, among which the slowest is the p95. A
// budget goes by as many as other laws look at.
func TestBudgetBesideTheDefaultLaw(t *testing.T) {
	for slow, cut := range map[int]bool{3: false, 30: true} { // in a hundred
		synctest.Test(t, func(t *testing.T) {
			s := newSet(t, bulkhead.Config{Default: bulkhead.Compartment{Budget: 100 * time.Millisecond}})
			until := time.Now().Add(time.Minute)
			together.Do(3, func(caller int) {
				random := rand.New(rand.NewPCG(uint64(caller), 1))
				for time.Now().Before(until) {
					latency := 50 * time.Millisecond
					if random.IntN(100) < slow {
						latency *= 4
					}
					_ = s.Do(t.Context(), "a", work(latency))
					time.Sleep(time.Millisecond)
				}
			})
			if a := s.Snapshot().ByKey["a"]; a.Cut > 0 != cut {
				t.Errorf("%d%% are slow: a limit of %d after %d cuts", slow, a.Limit, a.Cut)
			}
		})
	}
}

// Work that is heavier than a fixed limit has no room, whether or not the budget has cut that.
func TestWorkAboveAFixedLimitWithABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := bulkhead.Compartment{
			Budget: 100 * time.Millisecond,
			Config: weir.Config{Initial: 12, Law: law.Fixed{Limit: 10}},
		}
		s := newSet(t, bulkhead.Config{Default: k})
		drive(t, s, "a", 10, 2500*time.Millisecond, 150*time.Millisecond)
		if n := s.Snapshot().ByKey["a"].Limit; n != 4 {
			t.Fatalf("limit %d", n)
		}
		if err := s.DoN(t.Context(), "a", 10, work(0)); err != nil {
			t.Errorf("as heavy as the limit: %v", err)
		}
		if err := s.DoN(t.Context(), "a", 11, work(0)); !errors.Is(err, weir.ErrTooHeavy) {
			t.Errorf("heavier than the limit: %v", err)
		}
	})
}

// A cap of 0 lets nothing start: work without a queue is refused, and work with one waits.
func TestMaxOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Max: 4, ByKey: byKey{"waits": open(2, 1), "refused": fixed(5, 0, 0)}})
		running := hold(t, s, "waits", 1)
		setMax(t, s, 0)
		if _, err := s.Acquire(t.Context(), "refused"); !errors.Is(err, weir.ErrLimitReached) {
			t.Error(err)
		}
		if _, err := s.TryAcquire(t.Context(), "waits"); err == nil {
			t.Error("admitted above a cap of 0")
		}
		waiting := ask(t.Context(), s, "waits")
		giveBack(running)
		waits(t, waiting)
		if k := s.Snapshot().ByKey["waits"]; k.Reserved != 0 || k.Entitled != 0 {
			t.Errorf("%+v", k)
		}
		setMax(t, s, 4)
		if k := s.Snapshot().ByKey["waits"]; k.Reserved != 2 {
			t.Errorf("%d reserved, want 2 again", k.Reserved)
		}
		giveBack([]weir.Permit{admitted(t, waiting)})
		balanced(t, s)
	})
}

func TestReservesYieldToMax(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 20, ByKey: byKey{"a": open(8, 1), "b": open(4, 1), "c": open(0, 1)}})
	for _, c := range []struct{ slots, a, b int }{
		{12, 8, 4}, {11, 7, 3}, {3, 2, 1}, {6, 4, 2}, {2, 1, 0}, {0, 0, 0}, {1, 0, 0}, {100, 8, 4},
	} {
		setMax(t, s, c.slots)
		snap := s.Snapshot()
		if a, b := snap.ByKey["a"].Reserved, snap.ByKey["b"].Reserved; snap.Max != c.slots || a != c.a || b != c.b {
			t.Errorf("of %d slots %d and %d are reserved, want %d and %d", c.slots, a, b, c.a, c.b)
		}
	}
	setMax(t, s, 5)
	for _, c := range []struct{ max, slots, a, c int }{{13, 5, 0, 4}, {4, 4, 1, 3}, {13, 5, 0, 4}} {
		reserve := min(12, c.max-1)
		update(t, s, bulkhead.Config{Max: c.max, ByKey: byKey{"a": open(1, 1), "c": open(reserve, 1)}})
		snap := s.Snapshot()
		if a, other := snap.ByKey["a"].Reserved, snap.ByKey["c"].Reserved; snap.Max != c.slots || a != c.a || other != c.c {
			t.Errorf("after an update to %d, %d and %d of %d slots are reserved, want %d and %d of %d", c.max, a, other, snap.Max, c.a, c.c, c.slots)
		}
	}
	setMax(t, s, 13)
	if snap := s.Snapshot(); snap.Max != 13 || snap.ByKey["a"].Reserved != 1 || snap.ByKey["c"].Reserved != 12 {
		t.Errorf("%+v", snap)
	}
}

func TestMaxOutOfRange(t *testing.T) {
	s, none := newSet(t, bulkhead.Config{Max: 4}), newSet(t, bulkhead.Config{})
	for want, err := range map[string]error{
		"weir: invalid configuration: bulkhead: SetMax of -1: want 0 to 1000000000":                              s.SetMax(-1),
		"weir: invalid configuration: bulkhead: SetMax of 1000000001: want 0 to 1000000000":                      s.SetMax(1_000_000_001),
		"weir: invalid configuration: bulkhead: SetMax of a set without a cap: make one with Config.Max above 0": none.SetMax(1),
	} {
		if !errors.Is(err, weir.ErrConfig) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if snap := s.Snapshot(); snap.Max != 4 {
		t.Errorf("the cap is %d", snap.Max)
	}
}

func TestCapDoesNotAllocate(t *testing.T) {
	race.Skip(t, "the race detector allocates")
	s := newSet(t, bulkhead.Config{Max: 10, ByKey: byKey{"a": open(1, 1)}})
	pass := func() {
		if permit, err := s.TryAcquire(context.Background(), "a"); err == nil {
			permit.Done(nil)
		}
	}
	pass()
	if n := testing.AllocsPerRun(1000, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
