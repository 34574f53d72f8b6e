package bulkhead_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

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
